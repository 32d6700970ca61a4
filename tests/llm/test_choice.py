"""Who answers, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.prompts import DUMMY_KEY

from live_memory.configuration import Configuration
from live_memory.errors import ConfigError
from live_memory.llm.base import BadKey
from live_memory.llm.choice import Choice, choose, connect
from live_memory.settings import Settings

NOW_S = 1_800_000_000.0


def chosen(home: Path, keys: dict[str, str] | None = None, **settings: str) -> Choice:
    return choose(Configuration(Settings(**settings), {}, keys or {}, home), now_s=NOW_S)  # type: ignore[arg-type]  # all are texts


def log_in(home: Path, *, expires_s: float = NOW_S + 3600, token: str = "sk-ant-oat01-dummy") -> Path:
    file = home / ".claude" / ".credentials.json"
    file.parent.mkdir(exist_ok=True)
    login = {
        "accessToken": token,
        "refreshToken": "never-read",
        "expiresAt": expires_s * 1000,
        "scopes": ["user:inference"],
    }
    file.write_text(json.dumps({"claudeAiOauth": login}), encoding="utf-8")
    return file


def test_with_nothing_at_hand_passages_answer_and_say_what_is_missing(tmp_path: Path) -> None:
    choice = chosen(tmp_path)
    assert choice.kind == "passages"
    assert choice.why == "no provider's key is set and Claude Code is not logged in with a subscription"
    assert not choice.is_metered
    with pytest.raises(ConfigError, match="No model answers, because no provider's key is set"):
        connect(choice)


@pytest.mark.parametrize(
    ("keys", "provider", "base_url", "model"),
    [
        (["ANTHROPIC_API_KEY"], "anthropic", "https://api.anthropic.com", "claude-haiku-5-5"),
        (["DEEPSEEK_API_KEY"], "deepseek", "https://api.deepseek.com", "deepseek-v4-flash"),
        (["OPENAI_API_KEY"], "openai", "https://api.openai.com/v1", "gpt-6-luna"),
        (["GEMINI_API_KEY"], "gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3.1-flash-lite"),
        (["GOOGLE_API_KEY"], "gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3.1-flash-lite"),
        (["OPENROUTER_API_KEY"], "openrouter", "https://openrouter.ai/api/v1", "deepseek/deepseek-v4-flash"),
        (["GROQ_API_KEY"], "groq", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"),
        (["MISTRAL_API_KEY"], "mistral", "https://api.mistral.ai/v1", "mistral-small-latest"),
        (["XAI_API_KEY"], "xai", "https://api.x.ai/v1", "grok-build-0.1"),
        (["MOONSHOT_API_KEY"], "moonshot", "https://api.moonshot.ai/v1", "kimi-k2.6"),
        (["ZAI_API_KEY"], "zai", "https://api.z.ai/api/paas/v4", "glm-5.3-flash"),
        (["CEREBRAS_API_KEY"], "cerebras", "https://api.cerebras.ai/v1", "gpt-oss-120b"),
        (["DASHSCOPE_API_KEY"], "dashscope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen3.8-flash"),
        (["OPENAI_API_KEY", "DEEPSEEK_API_KEY"], "deepseek", "https://api.deepseek.com", "deepseek-v4-flash"),
    ],
)  # fmt: skip
def test_a_key_in_the_environment_picks_its_provider(
    tmp_path: Path, keys: list[str], provider: str, base_url: str, model: str
) -> None:
    choice = chosen(tmp_path, dict.fromkeys(keys, DUMMY_KEY))
    assert (choice.provider, choice.base_url, choice.model) == (provider, base_url, model)
    assert (choice.auth, choice.api_key, choice.is_metered) == ("key", DUMMY_KEY, True)
    assert choice.why == f"{choice.key_source} is in the environment"
    assert choice.kind == ("anthropic" if provider == "anthropic" else "openai")
    assert connect(choice).name == model


def test_the_printed_choice_shows_no_key(tmp_path: Path) -> None:
    assert DUMMY_KEY not in repr(chosen(tmp_path, {"OPENAI_API_KEY": DUMMY_KEY}))


def test_a_bearer_token_and_the_environment_s_addresses_are_honoured(tmp_path: Path) -> None:
    gateway = chosen(tmp_path, {"ANTHROPIC_AUTH_TOKEN": "tok", "ANTHROPIC_BASE_URL": "https://gateway.test/"})
    assert (gateway.auth, gateway.api_key, gateway.base_url) == ("bearer", "tok", "https://gateway.test")
    assert gateway.provider == "anthropic"
    proxied = chosen(tmp_path, {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://proxy.test/v1"}, model="m")
    assert (proxied.provider, proxied.base_url, proxied.api_key) == ("custom", "https://proxy.test/v1", "k")


def test_a_model_s_name_picks_the_key_of_who_serves_it(tmp_path: Path) -> None:
    keys = dict.fromkeys(["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"], DUMMY_KEY)
    assert chosen(tmp_path, keys, model="gpt-6-luna").provider == "openai"
    assert chosen(tmp_path, keys, model="qwen/qwen4-coder").provider == "openrouter"
    assert chosen(tmp_path, keys, model="claude-haiku-5-5").provider == "anthropic"
    assert chosen(tmp_path, keys, model="something-new").provider == "anthropic"


def test_a_local_server_needs_an_address_and_a_model_but_no_key(tmp_path: Path) -> None:
    choice = chosen(tmp_path, provider="openai", base_url="http://127.0.0.1:8080/v1", model="qwen3")
    assert (choice.kind, choice.provider, choice.auth, choice.model) == ("openai", "custom", "none", "qwen3")
    assert chosen(tmp_path, base_url="http://127.0.0.1:8080/v1", model="qwen3") == choice
    with pytest.raises(ConfigError, match="needs a model's name too"):
        chosen(tmp_path, provider="openai", base_url="http://127.0.0.1:8080/v1")


def test_a_key_goes_only_where_it_belongs(tmp_path: Path) -> None:
    keys = {"OPENAI_API_KEY": "open", "DEEPSEEK_API_KEY": "deep", "ANTHROPIC_API_KEY": "anth"}
    sent_to = {
        "https://stranger.test/v1": "",
        "https://api.deepseek.com/v1": "deep",
        "http://localhost:4000/v1": "open",
        "https://api.openai.com/v1": "open",
        "https://stranger.test/anthropic": "",
        "https://api.anthropic.com": "anth",
    }
    assert {url: chosen(tmp_path, keys, base_url=url, model="m").api_key for url in sent_to} == sent_to
    assert chosen(tmp_path, keys, base_url="https://stranger.test/v1", model="m", api_key="own").api_key == "own"


@pytest.mark.parametrize(
    ("settings", "kind", "provider"),
    [
        ({"api_key": "sk-ant-api03-x"}, "anthropic", "anthropic"),
        ({"api_key": "sk-x"}, "openai", "openai"),
        ({"api_key": "x", "model": "claude-haiku-5-5"}, "anthropic", "anthropic"),
        ({"api_key": "x", "base_url": "https://api.z.ai/api/anthropic"}, "anthropic", "zai"),
        ({"api_key": "x", "base_url": "https://openrouter.ai/api/v1", "model": "claude-x"}, "openai", "openrouter"),
    ],
)
def test_a_key_or_an_address_among_the_settings_says_which_protocol(
    tmp_path: Path, settings: dict[str, Any], kind: str, provider: str
) -> None:
    choice = chosen(tmp_path, {"DEEPSEEK_API_KEY": "deep"}, **settings)
    assert (choice.kind, choice.provider, choice.key_source) == (kind, provider, "the setting api_key")


def test_provider_openai_takes_any_compatible_key_but_prefers_openai_s_own(tmp_path: Path) -> None:
    keys = {"DEEPSEEK_API_KEY": "deep", "OPENAI_API_KEY": "open", "ANTHROPIC_API_KEY": "anth"}
    assert chosen(tmp_path, keys, provider="openai").provider == "openai"
    assert chosen(tmp_path, keys, provider="openai", model="deepseek-v4-pro").provider == "deepseek"
    assert chosen(tmp_path, {"DEEPSEEK_API_KEY": "deep"}, provider="openai").provider == "deepseek"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"provider": "anthropic"}, "needs a key: set ANTHROPIC_API_KEY"),
        ({"provider": "openai"}, "needs a key for OpenAI: set OPENAI_API_KEY"),
        (
            {"provider": "openai", "base_url": "https://api.groq.com/openai/v1"},
            "needs a key for Groq: set GROQ_API_KEY",
        ),
        ({"base_url": "api.example.test"}, "starts with http:// or https://"),
    ],
)
def test_a_provider_that_cannot_be_reached_as_set_is_a_sentence(
    tmp_path: Path, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        chosen(tmp_path, **settings)


def test_passages_and_the_scripted_model_are_there_for_the_asking(tmp_path: Path) -> None:
    keys = {"ANTHROPIC_API_KEY": DUMMY_KEY}
    assert chosen(tmp_path, keys, provider="passages").kind == "passages"
    scripted = chosen(tmp_path, keys, provider="scripted")
    assert (scripted.kind, scripted.is_metered, connect(scripted).provider) == ("scripted", False, "scripted")


def test_the_subscription_answers_where_no_key_is_at_hand(tmp_path: Path) -> None:
    log_in(tmp_path)
    choice = chosen(tmp_path)
    assert (choice.kind, choice.auth, choice.model) == ("anthropic", "subscription", "claude-haiku-5-5")
    assert choice.why == "no provider's key is set: Claude Code's subscription token is used"
    assert not choice.is_metered
    assert chosen(tmp_path, {"GROQ_API_KEY": "k"}).provider == "groq"
    assert chosen(tmp_path, provider="anthropic").auth == "subscription"


def test_the_subscription_s_token_is_kept_nowhere_and_goes_to_anthropic_alone(tmp_path: Path) -> None:
    log_in(tmp_path)
    choice = chosen(tmp_path, {"ANTHROPIC_BASE_URL": "https://gateway.test"})
    assert choice.base_url == "https://api.anthropic.com"
    assert choice.api_key == ""
    assert chosen(tmp_path, provider="anthropic", base_url="https://gateway.test").auth == "none"


def test_the_token_is_the_one_of_the_moment_it_is_used(tmp_path: Path) -> None:
    far_s = 4_000_000_000.0  # read against the machine's own clock
    log_in(tmp_path, expires_s=far_s)
    choice = chosen(tmp_path)
    assert choice.read_token is not None
    file = log_in(tmp_path, expires_s=far_s, token="sk-ant-oat01-renewed")
    assert choice.read_token() == "sk-ant-oat01-renewed"
    file.unlink()
    with pytest.raises(BadKey, match="Claude Code is not logged in"):
        choice.read_token()


def test_oauth_off_never_reads_the_token(tmp_path: Path) -> None:
    log_in(tmp_path)
    choice = chosen(tmp_path, {"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-x"}, oauth="off")
    assert (choice.kind, choice.why) == (
        "passages",
        "no provider's key is set and the subscription is not used (oauth=off)",
    )


def test_an_expired_subscription_leaves_passages_and_says_so(tmp_path: Path) -> None:
    log_in(tmp_path, expires_s=NOW_S - 1)
    assert "has expired (Claude Code renews it when it runs)" in chosen(tmp_path).why


def test_a_password_in_an_address_is_in_no_word_about_it(tmp_path: Path) -> None:
    password = "hunter" + "2Pass9"
    address = f"//user:{password}@example.test/v1"
    assert password not in chosen(tmp_path, provider="openai", model="m", base_url=f"http:{address}").why
    for scheme in ("http", "ftp"):
        with pytest.raises(ConfigError) as caught:
            chosen(tmp_path, provider="openai", base_url=f"{scheme}:{address}")
        assert "example.test" in str(caught.value)
        assert password not in str(caught.value)
