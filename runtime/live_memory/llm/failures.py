"""What a provider's refusal means: its status and words as one of base.py's errors, in a sentence that says what to do.

Both adapters hand their SDK's errors over as a Refusal; nothing here knows an SDK. Keys never reach a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from live_memory.errors import ModelError
from live_memory.llm.base import BadKey, BadReply, BadRequest, PromptTooLong, Unavailable, UnknownModel
from live_memory.llm.choice import Choice
from live_memory.llm.providers import shown_address
from live_memory.text.secrets import redact

MAX_QUOTED_CHARS = 300
KEY_SHAPE = re.compile(r"\b(?:(?:sk|gsk|xai|csk)[-_]|AIza)[-_A-Za-z0-9*.…]{6,}")
TOO_LONG = re.compile(
    r"prompt is too long|context.?length|context_size|maximum context|context window|input token count|"
    r"too many (?:input )?tokens|reduce the length|request too large|exceeds? the (?:available )?context",
    re.IGNORECASE,
)
LIMIT_TOKENS = re.compile(
    r"(?:maximum context length is|context (?:length|size) (?:of|is)?|limit of|>|up to|n_ctx\D{0,6})\s*\(?([\d,]{4,})",
    re.IGNORECASE,
)
NO_CREDIT = re.compile(
    r"insufficient.?(?:quota|balance|credit)|credit balance|exceeded your current quota", re.IGNORECASE
)
BAD_KEY = re.compile(r"api.?key (?:not valid|is invalid|expired)|API_KEY_INVALID|invalid.{0,10}api.?key", re.IGNORECASE)
NO_MODEL = re.compile(r"model[^.]{0,80}(?:not|no).{0,12}(?:found|exist|supported|available|valid)|model_not_found|"
                      r"no such model|unknown model|invalid model", re.IGNORECASE)  # fmt: skip

RATE_KINDS = frozenset({"rate_limit_error", "rate_limit_exceeded"})
WORTH_RETRYING = frozenset({408, 409, 425, 429, 529, *range(500, 600)})
KEY_KINDS = frozenset({"authentication_error", "permission_error", "invalid_api_key", "PERMISSION_DENIED"})
TRANSIENT_KINDS = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error", "server_error"})


class MalformedReply(Exception):  # what came is named, as in base.py
    """A piece of a stream that is none of the protocol's; it never leaves an adapter."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What an error reply said. `status` is 0 when none was sent, as for an error inside a stream that had begun well."""

    status: int
    kind: str = ""
    message: str = ""
    retry_after_s: float | None = None
    limit_tokens: int | None = None

    @property
    def words(self) -> str:
        return f"{self.kind} {self.message}"

    def is_of(self, kinds: frozenset[str]) -> bool:
        """Whether one of the names it goes by is among `kinds`."""
        return not kinds.isdisjoint(self.kind.split())


def failure(refusal: Refusal, choice: Choice) -> ModelError:
    """The error that `refusal` stands for: who must act decides its class."""
    return (
        _about_the_key(refusal, choice)
        or _about_the_size(refusal, choice)
        or _about_the_moment(refusal, choice)
        or _about_the_request(refusal, choice)
    )


def _about_the_key(refusal: Refusal, choice: Choice) -> BadKey | None:
    if refusal.status == HTTPStatus.PAYMENT_REQUIRED or NO_CREDIT.search(refusal.words):
        return BadKey(f"The account behind {_key(choice)} has no credit left at {_host(choice)}; top it up.")
    is_refused = refusal.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) or refusal.is_of(KEY_KINDS)
    if is_refused or (refusal.status not in WORTH_RETRYING and BAD_KEY.search(refusal.words)):
        return BadKey(_bad_key_sentence(choice))
    return None


def _about_the_size(refusal: Refusal, choice: Choice) -> PromptTooLong | None:
    is_said = refusal.status != HTTPStatus.TOO_MANY_REQUESTS and TOO_LONG.search(refusal.words)
    if refusal.status != HTTPStatus.REQUEST_ENTITY_TOO_LARGE and not is_said:
        return None
    limit = refusal.limit_tokens or _limit_in(refusal.message)
    said = quoted(refusal.message, choice)
    return PromptTooLong(f"The prompt is larger than {choice.model} takes{said}", limit_tokens=limit)


def _about_the_moment(refusal: Refusal, choice: Choice) -> Unavailable | None:
    if refusal.status not in WORTH_RETRYING and not refusal.is_of(TRANSIENT_KINDS):
        return None
    sentence = _unavailable_sentence(refusal, choice) + quoted(refusal.message, choice)
    return Unavailable(sentence, retry_after_s=refusal.retry_after_s)


def _about_the_request(refusal: Refusal, choice: Choice) -> UnknownModel | BadRequest:
    is_missing = refusal.status == HTTPStatus.NOT_FOUND
    if NO_MODEL.search(refusal.words) or (is_missing and "model" in refusal.words.lower()):
        return UnknownModel(
            f"{_host(choice)} does not serve the model {choice.model!r} to this key; name another one with "
            "`live-memory config set model=…`."
        )
    if is_missing:
        return BadRequest(f"{shown_address(choice.base_url)} has no such endpoint (404); check the setting base_url.")
    return BadRequest(f"{_host(choice)} rejected the request{quoted(refusal.message, choice)}")


def no_connection(choice: Choice) -> Unavailable:
    """The connection could not be made."""
    return Unavailable(f"{_host(choice)} cannot be reached; check the network, the proxy, or the setting base_url.")


def no_package(choice: Choice) -> ModelError:
    """The provider's SDK is not installed, or broken."""
    return ModelError(
        f"The Python package {choice.kind} cannot be imported; `live-memory doctor` says what is missing."
    )


def broken_off(choice: Choice) -> Unavailable:
    """The reply ended before it was whole."""
    return Unavailable(f"The reply of {_host(choice)} broke off before its end.")


def out_of_time(choice: Choice, timeout_s: float) -> Unavailable:
    """The reply was not whole in time."""
    return Unavailable(f"{choice.model} at {_host(choice)} did not finish within {timeout_s:g} s.")


def nonsense(choice: Choice) -> BadReply:
    """The reply was not what the protocol says."""
    return BadReply(
        f"{shown_address(choice.base_url)} sent a reply that makes no sense; check that the setting base_url names a server that "
        f"speaks {'the Messages protocol' if choice.kind == 'anthropic' else 'OpenAI’s /chat/completions'}."
    )


def quoted(message: str, choice: Choice) -> str:
    """The provider's own words as a tail for a sentence, without anything that looks like a key."""
    text = " ".join(message.split())
    if choice.api_key:
        text = text.replace(choice.api_key, "(key)")
    text = redact(KEY_SHAPE.sub("(key)", text))
    return f": {text[:MAX_QUOTED_CHARS].rstrip('.')}." if text else "."


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The seconds that a reply's headers ask to wait, None when they name none (or nonsense)."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        wish = headers.get("retry-after") or ""
        if not wish or wish.replace(".", "", 1).isdigit():
            return float(wish) if wish else None
        now = parsedate_to_datetime(headers.get("date") or "")
        return max(0.0, (parsedate_to_datetime(wish) - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _unavailable_sentence(refusal: Refusal, choice: Choice) -> str:
    if refusal.status == HTTPStatus.TOO_MANY_REQUESTS or refusal.is_of(RATE_KINDS):
        if choice.auth == "subscription":
            return (
                "The Claude subscription's limit is reached, or it does not serve "
                f"{choice.model} outside Claude Code (Haiku models work; a key of your own has no such limits)"
            )
        return f"{_host(choice)} limits the rate of requests now"
    status = f" ({refusal.status})" if refusal.status else ""
    return f"{_host(choice)} cannot answer now{status}"


def _bad_key_sentence(choice: Choice) -> str:
    if choice.auth == "subscription":
        return (
            "Anthropic refused the Claude subscription token; start Claude Code to renew it, or set ANTHROPIC_API_KEY."
        )
    if choice.auth == "none":
        return f"{_host(choice)} wants a key; set one with `live-memory config set api_key=…`."
    return f"{_host(choice)} refused the key in {choice.key_source}; set a valid one there, or remove it."


def _key(choice: Choice) -> str:
    return f"the key in {choice.key_source}" if choice.key_source else "this provider"


def _host(choice: Choice) -> str:
    return shown_address(choice.base_url).partition("://")[2].partition("/")[0] or choice.provider


def _limit_in(message: str) -> int | None:
    found = LIMIT_TOKENS.search(message)
    return int(found[1].replace(",", "")) if found else None
