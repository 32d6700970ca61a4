"""What an error reply's headers and words mean, apart from any SDK."""

from __future__ import annotations

import pytest
from support.prompts import anthropic_choice, openai_choice

from live_memory.llm.base import BadKey, PromptTooLong, Unavailable, UnknownModel
from live_memory.llm.choice import Choice
from live_memory.llm.failures import Refusal, broken_off, failure, no_connection, nonsense, out_of_time, retry_after_s


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Tue, 01 Dec 2026 10:00:30 GMT", "date": "Tue, 01 Dec 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "Tue, 01 Dec 2026 09:00:00 GMT", "date": "Tue, 01 Dec 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Tue, 01 Dec 2026 10:00:30 GMT"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_a_wish_to_wait_is_read_as_seconds_milliseconds_or_a_date(
    headers: dict[str, str], expected_s: float | None
) -> None:
    assert retry_after_s(headers) == expected_s


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (Refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), BadKey),
        (Refusal(429, "insufficient_quota", "You exceeded your current quota"), BadKey),
        (Refusal(402, "", "Insufficient Balance"), BadKey),
        (Refusal(400, "exceed_context_size_error", "the request exceeds the available context size"), PromptTooLong),
        (Refusal(400, "context_length_exceeded", "maximum context length is 128000 tokens"), PromptTooLong),
        (Refusal(429, "rate_limit_error", "context length quota"), Unavailable),
        (Refusal(404, "model_not_found", "The model `x` does not exist"), UnknownModel),
        (Refusal(400, "invalid_request_error", "Model Not Exist"), UnknownModel),
        (Refusal(0, "overloaded_error", "Overloaded"), Unavailable),
    ],
)
def test_each_provider_s_way_to_say_it_becomes_the_same_error(refusal: Refusal, expected: type[Exception]) -> None:
    assert type(failure(refusal, openai_choice("https://example.test/v1"))) is expected


def test_a_limit_in_the_words_or_in_the_reply_is_kept() -> None:
    choice = anthropic_choice("https://example.test")
    said = failure(Refusal(400, "", "prompt is too long: 213,000 tokens > 200,000 maximum"), choice)
    named = failure(Refusal(400, "exceed_context_size_error", "too large", limit_tokens=8192), choice)
    assert isinstance(said, PromptTooLong)
    assert isinstance(named, PromptTooLong)
    assert (said.limit_tokens, named.limit_tokens) == (200000, 8192)


def test_a_limited_subscription_is_told_apart_from_a_limited_key() -> None:
    choice = Choice("anthropic", "a test", "anthropic", "claude-opus-5", "https://api.anthropic.com", "subscription")
    assert "does not serve claude-opus-5 outside Claude Code" in str(failure(Refusal(429, "rate_limit_error"), choice))
    assert "start Claude Code to renew it" in str(failure(Refusal(401, "authentication_error"), choice))


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_password_in_the_address_and_a_key_in_the_words_reach_no_sentence(status: int) -> None:
    password, key = "hunter" + "2Pass9", "gh" + "p_" + "a1B2c3D4e5F6g7H8" * 2
    choice = openai_choice(f"https://user:{password}@example.test/v1")
    for words in ("Not found.", f"The header was Authorization: Bearer {key}"):
        said = str(failure(Refusal(status, "", words), choice))
        assert password not in said
        assert key not in said
    for error in (no_connection(choice), broken_off(choice), nonsense(choice), out_of_time(choice, 1.0)):
        assert password not in str(error)
        assert "example.test" in str(error)
