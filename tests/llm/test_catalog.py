"""Finding a model's card by the many names it goes by."""

from __future__ import annotations

import pytest

from live_memory.configuration import PROVIDER_KEY_NAMES
from live_memory.llm.catalog import UNKNOWN_CONTEXT_TOKENS, model_card, usable_context_tokens
from live_memory.llm.providers import PROVIDERS


@pytest.mark.parametrize(
    ("provider", "model", "card"),
    [
        ("anthropic", "claude-haiku-5-5", "anthropic/claude-haiku-5-5"),
        ("anthropic", "claude-haiku-5-5-20261001", "anthropic/claude-haiku-5-5"),
        ("anthropic", "anthropic/claude-haiku-4.5", "anthropic/claude-haiku-4-5"),
        ("openai", "gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini"),
        ("openai", "gpt-5.4-mini", "openai/gpt-5.4-mini"),
        ("mistral", "mistral-medium-latest", "mistral/mistral-medium"),
        ("openrouter", "google/gemini-3.1-flash-lite:free", "gemini/gemini-3.1-flash-lite"),
        ("openrouter", "x-ai/grok-4.3", "xai/grok-4.3"),
        ("gemini", "models/gemini-3.1-flash-lite", "gemini/gemini-3.1-flash-lite"),
        ("groq", "openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"),
        ("custom", "deepseek-v4-flash", "deepseek/deepseek-v4-flash"),
        ("custom", "Claude-Haiku-5-5", "anthropic/claude-haiku-5-5"),
    ],
)
def test_a_model_is_found_by_prefix_date_latest_and_dot(provider: str, model: str, card: str) -> None:
    found = model_card(provider, model)
    assert found is not None
    assert f"{found.provider}/{found.name}" == card


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("custom", "smollm2"),
        ("anthropic", "claude-haiku-9"),
        ("openai", "claude-haiku-5-5"),
        ("anthropic", ""),
        ("", ""),
    ],
)
def test_a_model_that_nobody_knows_has_no_card(provider: str, model: str) -> None:
    assert model_card(provider, model) is None


@pytest.mark.parametrize("provider", [provider for provider in PROVIDERS if provider.name != "openrouter"], ids=str)
def test_every_default_model_has_a_card_at_its_own_provider(provider: object) -> None:
    assert any(
        (card := model_card(known.name, known.default_model)) and card.provider == known.name
        for known in PROVIDERS
        if known == provider
    )


def test_the_prompt_may_fill_the_context_less_the_answer() -> None:
    card = model_card("anthropic", "claude-haiku-4-5")
    assert usable_context_tokens(card, 4096) == 200_000 - 4096


def test_the_prompt_stays_below_a_dearer_tier() -> None:
    assert usable_context_tokens(model_card("anthropic", "claude-haiku-5-5"), 4096) == 100_000
    assert usable_context_tokens(model_card("openai", "gpt-6-luna"), 4096) == 272_000


def test_an_unknown_model_gets_a_window_that_most_can_serve() -> None:
    assert usable_context_tokens(None, 2048) == UNKNOWN_CONTEXT_TOKENS - 2048


def test_every_key_that_a_provider_is_tried_with_is_read_from_the_environment() -> None:
    assert {name for provider in PROVIDERS for name in provider.key_names} <= set(PROVIDER_KEY_NAMES)
