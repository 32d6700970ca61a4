"""Who answers: the settings first, then the keys in the environment, then Claude Code's subscription, then passages.

A key goes only where it belongs: to its provider, to the address the environment names beside it, or to this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias

from live_memory.clock import Clock, SystemClock
from live_memory.configuration import Configuration
from live_memory.errors import ConfigError
from live_memory.llm.base import BadKey, Model
from live_memory.llm.catalog import has_model
from live_memory.llm.providers import ANTHROPIC, OPENAI, PROVIDERS, Provider, is_loopback, provider_at, shown_address
from live_memory.llm.scripted import ScriptedModel
from live_memory.llm.subscription import TOKEN_PREFIX, Subscription, read_subscription

Auth: TypeAlias = Literal["key", "bearer", "subscription", "none"]

KEY_SETTING = "the setting api_key"
BEARER_VARIABLE = "ANTHROPIC_AUTH_TOKEN"
BASE_URL_VARIABLES = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}
CUSTOM = "custom"  # the provider's name at an address that no known provider has


@dataclass(frozen=True, slots=True)
class Choice:
    """Who answers and why, in words. `provider` is a name of providers.py or `custom`; `key_source` names the variable
    or the setting that holds the key; `read_token` yields the subscription token as it is at that moment."""

    kind: Literal["anthropic", "openai", "passages", "scripted"]
    why: str
    provider: str = ""
    model: str = ""
    base_url: str = ""
    auth: Auth = "none"
    api_key: str = field(default="", repr=False)
    key_source: str = ""
    read_token: Callable[[], str] | None = field(default=None, repr=False, compare=False)

    @property
    def is_metered(self) -> bool:
        """Whether its calls are billed by the token (a subscription's are not)."""
        return self.kind in ("anthropic", "openai") and self.auth != "subscription"


@dataclass(frozen=True, slots=True)
class Credential:
    """A key, how it is sent, and where it was found; empty where there is none."""

    auth: Auth = "none"
    key: str = field(default="", repr=False)
    source: str = ""


def choose(configuration: Configuration, *, now_s: float) -> Choice:
    """The provider for this configuration; ConfigError when the settings name one that cannot be reached as set."""
    settings = configuration.settings
    if settings.base_url and not settings.base_url.startswith(("http://", "https://")):
        raise ConfigError(
            f"The setting base_url cannot be {shown_address(settings.base_url)!r}: it starts with http:// or https://."
        )
    match settings.provider or _implied_kind(configuration):
        case "passages":
            return Choice("passages", "the setting provider is passages")
        case "scripted":
            return Choice("scripted", "the setting provider is scripted", "scripted", "scripted-1")
        case "anthropic":
            return _set_anthropic(configuration, now_s)
        case "openai":
            return _set_openai(configuration)
    return _found(configuration, now_s)


def connect(choice: Choice) -> Model:
    """The model of `choice`; its SDK is imported by its first request. ConfigError for passages, which has no model."""
    if choice.kind == "anthropic":
        from live_memory.llm.anthropic import AnthropicModel

        return AnthropicModel(choice)
    if choice.kind == "openai":
        from live_memory.llm.openai import OpenAIModel

        return OpenAIModel(choice)
    if choice.kind == "scripted":
        return ScriptedModel()
    raise ConfigError(f"No model answers, because {choice.why}.")


def _implied_kind(configuration: Configuration) -> Literal["", "anthropic", "openai"]:
    """What an address or a key among the settings says about the provider; empty when there is neither."""
    settings = configuration.settings
    if not settings.base_url and not settings.api_key:
        return ""
    known = provider_at(settings.base_url)
    speaks_messages = (known and known.kind == "anthropic") or "/anthropic" in settings.base_url
    names_claude = settings.api_key.startswith("sk-ant-") or settings.model.startswith("claude")
    return "anthropic" if speaks_messages or (names_claude and not known) else "openai"


def _set_anthropic(configuration: Configuration, now_s: float) -> Choice:
    settings = configuration.settings
    base_url = _address(configuration, ANTHROPIC)
    credential = _anthropic_credential(configuration, base_url)
    subscription = _subscription(configuration, now_s)
    if credential.auth == "none" and base_url == ANTHROPIC.base_url:
        if not subscription.token:
            raise ConfigError(
                f"provider=anthropic needs a key: set {ANTHROPIC.key_names[0]}, or run "
                f"`live-memory config set api_key=…` ({subscription.why})."
            )
        return _on_subscription(configuration, subscription, "provider is anthropic, no key is set: ")
    why = f"the settings name Anthropic's protocol, {_key_words(credential)}"
    return _choice(ANTHROPIC, credential, base_url, settings.model, why)


def _set_openai(configuration: Configuration) -> Choice:
    settings = configuration.settings
    if settings.base_url:
        provider = provider_at(settings.base_url) or replace(
            OPENAI, name=CUSTOM, title=shown_address(settings.base_url)
        )
    elif settings.api_key:
        provider = OPENAI
    else:
        with_key = [p for p in _with_keys(configuration) if p.kind == "openai"]
        provider = _serving(with_key, settings.model) or OPENAI
        if OPENAI in with_key and provider.kind == "openai" and not has_model(provider.name, settings.model):
            provider = OPENAI
    base_url = _address(configuration, provider)
    credential = _credential(configuration, provider, base_url)
    if credential.auth == "none" and base_url == provider.base_url:
        raise ConfigError(
            f"provider=openai needs a key for {provider.title}: set {provider.key_names[0]}, or run `live-memory config "
            "set api_key=…`; a server without keys needs base_url."
        )
    if not settings.model and base_url != provider.base_url:
        raise ConfigError(
            f"base_url={shown_address(base_url)} needs a model's name too: run `live-memory config set model=…`."
        )
    why = f"the settings name {provider.title}, {_key_words(credential)}"
    return _choice(provider, credential, base_url, settings.model, why)


def _found(configuration: Configuration, now_s: float) -> Choice:
    """By what is at hand: a key in the environment, else the subscription, else passages."""
    settings = configuration.settings
    if provider := _serving(_with_keys(configuration), settings.model):
        base_url = _address(configuration, provider)
        credential = _credential(configuration, provider, base_url)
        return _choice(provider, credential, base_url, settings.model, f"{credential.source} is in the environment")
    subscription = _subscription(configuration, now_s)
    if subscription.token:
        return _on_subscription(configuration, subscription, "no provider's key is set: ")
    return Choice("passages", f"no provider's key is set and {subscription.why}")


def _choice(provider: Provider, credential: Credential, base_url: str, model: str, why: str) -> Choice:
    name = provider.name
    if base_url != provider.base_url:
        name = found.name if (found := provider_at(base_url)) else name if provider.kind == "anthropic" else CUSTOM
    return Choice(
        kind=provider.kind,
        why=why,
        provider=name,
        model=model or provider.default_model,
        base_url=base_url,
        auth=credential.auth,
        api_key=credential.key,
        key_source=credential.source,
    )


def _address(configuration: Configuration, provider: Provider) -> str:
    """The setting's address, else the environment's for this provider, else the provider's own."""
    variable = BASE_URL_VARIABLES.get(provider.name, "")
    address = configuration.settings.base_url or configuration.provider_keys.get(variable) or provider.base_url
    return address.rstrip("/")


def _credential(configuration: Configuration, provider: Provider, base_url: str) -> Credential:
    if provider.kind == "anthropic":
        return _anthropic_credential(configuration, base_url)
    if key := configuration.settings.api_key:
        return Credential("key", key, KEY_SETTING)
    if not _may_send_environment_key(configuration, provider, base_url):
        return Credential()
    keys = configuration.provider_keys
    return next((Credential("key", keys[name], name) for name in provider.key_names if name in keys), Credential())


def _anthropic_credential(configuration: Configuration, base_url: str) -> Credential:
    keys = configuration.provider_keys
    if key := configuration.settings.api_key:
        return Credential("subscription" if key.startswith(TOKEN_PREFIX) else "key", key, KEY_SETTING)
    if not _may_send_environment_key(configuration, ANTHROPIC, base_url):
        return Credential()
    if key := keys.get(ANTHROPIC.key_names[0], ""):
        return Credential("key", key, ANTHROPIC.key_names[0])
    if token := keys.get(BEARER_VARIABLE, ""):
        return Credential("bearer", token, BEARER_VARIABLE)
    return Credential()


def _may_send_environment_key(configuration: Configuration, provider: Provider, base_url: str) -> bool:
    if not configuration.settings.base_url:
        return True  # the provider's own address, or the one the environment names beside the key
    return is_loopback(base_url) or provider_at(base_url) == provider


def _with_keys(configuration: Configuration) -> list[Provider]:
    keys = configuration.provider_keys
    return [
        provider
        for provider in PROVIDERS
        if any(name in keys for name in provider.key_names) or (provider is ANTHROPIC and BEARER_VARIABLE in keys)
    ]


def _serving(providers: list[Provider], model: str) -> Provider | None:
    """The first provider that is known to serve `model`, else the first."""
    if model:
        known = (provider for provider in providers if has_model(provider.name, model))
        gateways = (provider for provider in providers if provider.name == "openrouter" and "/" in model)
        if provider := next(known, None) or next(gateways, None):
            return provider
    return providers[0] if providers else None


def _subscription(configuration: Configuration, now_s: float) -> Subscription:
    if configuration.settings.oauth == "off":
        return Subscription("", "the subscription is not used (oauth=off)")
    return read_subscription(configuration.provider_keys, configuration.home, now_s)


def _on_subscription(configuration: Configuration, subscription: Subscription, reason: str) -> Choice:
    return Choice(
        kind="anthropic",
        why=f"{reason}{subscription.why} is used",
        provider=ANTHROPIC.name,
        model=configuration.settings.model or ANTHROPIC.default_model,
        base_url=ANTHROPIC.base_url,  # never another address: the token belongs to Anthropic alone
        auth="subscription",
        key_source="the Claude subscription",
        read_token=partial(_current_token, configuration, SystemClock()),
    )


def _current_token(configuration: Configuration, clock: Clock) -> str:
    subscription = _subscription(configuration, clock.wall_s())
    if not subscription.token:
        raise BadKey(f"No answer on the subscription: {subscription.why}.")
    return subscription.token


def _key_words(credential: Credential) -> str:
    return f"with the key in {credential.source}" if credential.auth != "none" else "without a key"
