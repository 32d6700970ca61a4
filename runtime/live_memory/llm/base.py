"""The model port: one neutral request and reply, and the errors every adapter translates its own into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from live_memory.errors import ModelError
from live_memory.window.messages import Prompt, ToolCall

StopReason: TypeAlias = Literal["end", "tool_calls", "max_tokens", "refusal"]
# What a request is made for, and charged to.
Purpose: TypeAlias = Literal["question", "compaction", "keep-warm", "capture", "dream"]
OF_A_WINDOW: tuple[Purpose, ...] = ("question", "keep-warm")  # what continues a window's prompt
CacheLifetime: TypeAlias = Literal["5m", "1h"]  # how long after its last use a provider keeps what it was told to cache


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests. The prompt's size is `input_tokens + cache_read_tokens + cache_write_tokens`:
    `input_tokens` counts only what was neither read from nor written to the provider's cache. Of the written ones,
    `cache_write_1h_tokens` were written for an hour."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cache_write_1h_tokens + other.cache_write_1h_tokens,
        )


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One request. `cache_key` names the workspace for providers that route by it (`prompt_cache_key`);
    `cache_lifetime` is for what later questions begin with, where the provider lets one choose. `json_schema` is the shape
    of the JSON object that the reply must be, where it must; a provider that cannot force it is told by the prompt alone."""

    prompt: Prompt
    max_output_tokens: int
    timeout_s: float
    cache_key: str = ""
    cache_lifetime: CacheLifetime = "5m"
    purpose: Purpose = "question"
    json_schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """The model's whole reply."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    stop_reason: StopReason


class Model(Protocol):
    """A model at a provider. `complete` streams: `on_text` gets every piece of prose as it arrives, so that a partial
    answer exists whenever the caller stops waiting (by cancelling the task). Raises ModelError's children."""

    @property
    def provider(self) -> str: ...

    @property
    def name(self) -> str: ...

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion: ...

    async def prepare(self) -> None:
        """Do ahead what the first request would wait for (importing an SDK takes seconds), off the event loop."""
        ...

    async def close(self) -> None: ...


class BadKey(ModelError):
    """The provider refused the key or the token."""


class UnknownModel(ModelError):
    """The provider does not serve this model to this key."""


class PromptTooLong(ModelError):
    """The request is larger than the model's context. `limit_tokens` is that context, where the provider named it."""

    def __init__(self, message: str, *, limit_tokens: int | None = None) -> None:
        super().__init__(message)
        self.limit_tokens = limit_tokens


class Unavailable(ModelError):
    """The provider cannot answer now (429, 5xx, 529, a dropped connection): worth trying again.

    `retry_after_s` is the provider's own wish, None when it named none."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class BadReply(ModelError):
    """The reply broke off or made no sense."""


class BadRequest(ModelError):
    """The provider rejected the request for another reason than the above."""
