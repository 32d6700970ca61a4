"""The providers that are known by name: which variable holds their key, where they listen, what they serve cheaply.

All but Anthropic speak OpenAI's /chat/completions. Prices and sizes are in models.json, not here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

_USER = re.compile(r"(?<=://)[^/?#]*@")


def shown_address(url: str) -> str:
    """The address as it may be told: without a name and password in it."""
    return _USER.sub("", url)


@dataclass(frozen=True, slots=True)
class Provider:
    """`key_names` in the order they are tried; `default_model` is the cheapest one that answers about code well.

    `extras` are parameters that keep reasoning off, so that the answer's budget goes to the answer, and those that this
    provider alone has. An adapter leaves out what a model then refuses."""

    name: str
    title: str
    key_names: tuple[str, ...]
    base_url: str
    default_model: str
    kind: Literal["anthropic", "openai"] = "openai"
    extras: Mapping[str, object] = field(default_factory=dict)
    has_cache_key: bool = False


THINKING_OFF = {"thinking": {"type": "disabled"}}

ANTHROPIC = Provider(
    "anthropic", "Anthropic", ("ANTHROPIC_API_KEY",), "https://api.anthropic.com", "claude-haiku-5-5", "anthropic"
)
OPENAI = Provider(
    "openai",
    "OpenAI",
    ("OPENAI_API_KEY",),
    "https://api.openai.com/v1",
    "gpt-6-luna",
    extras={"reasoning_effort": "none"},  # with tools, /chat/completions takes no other from GPT-5.6 on
    has_cache_key=True,
)

PROVIDERS: tuple[Provider, ...] = (  # in the order in which keys in the environment are tried
    ANTHROPIC,
    Provider(
        "deepseek",
        "DeepSeek",
        ("DEEPSEEK_API_KEY",),
        "https://api.deepseek.com",
        "deepseek-v4-flash",
        extras=THINKING_OFF,
    ),
    OPENAI,
    Provider(
        "gemini",
        "Gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "gemini-3.1-flash-lite",
    ),
    Provider(
        "openrouter",
        "OpenRouter",
        ("OPENROUTER_API_KEY",),
        "https://openrouter.ai/api/v1",
        "deepseek/deepseek-v4-flash",
        extras={"reasoning": {"enabled": False}},
    ),
    Provider(
        "groq",
        "Groq",
        ("GROQ_API_KEY",),
        "https://api.groq.com/openai/v1",
        "openai/gpt-oss-120b",
        extras={"reasoning_effort": "low"},
    ),
    Provider("mistral", "Mistral", ("MISTRAL_API_KEY",), "https://api.mistral.ai/v1", "mistral-small-latest"),
    Provider("xai", "xAI", ("XAI_API_KEY",), "https://api.x.ai/v1", "grok-build-0.1"),
    Provider(
        "moonshot",
        "Moonshot",
        ("MOONSHOT_API_KEY",),
        "https://api.moonshot.ai/v1",
        "kimi-k2.6",
        extras=THINKING_OFF,
        has_cache_key=True,
    ),
    Provider("zai", "Z.ai", ("ZAI_API_KEY",), "https://api.z.ai/api/paas/v4", "glm-5.3-flash", extras=THINKING_OFF),
    Provider(
        "cerebras",
        "Cerebras",
        ("CEREBRAS_API_KEY",),
        "https://api.cerebras.ai/v1",
        "gpt-oss-120b",
        extras={"reasoning_effort": "low"},
    ),
    Provider(
        "dashscope",
        "DashScope",
        ("DASHSCOPE_API_KEY",),
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "qwen3.8-flash",
        extras={"enable_thinking": False},
    ),
)

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


def provider_at(base_url: str) -> Provider | None:
    """The known provider that listens at `base_url`'s host, None for any other host."""
    host = _host(base_url)
    return next((provider for provider in PROVIDERS if _host(provider.base_url) == host), None)


def provider_named(name: str) -> Provider | None:
    """The known provider of that name."""
    return next((provider for provider in PROVIDERS if provider.name == name), None)


def is_loopback(base_url: str) -> bool:
    return _host(base_url) in LOOPBACK_HOSTS


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
