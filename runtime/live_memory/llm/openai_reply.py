"""A streamed reply of /chat/completions as it grows: its chunks in, prose, tool calls and usage out.

No SDK is imported here: chunks are read by the names of the protocol, and of the dialects that providers speak.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from live_memory.llm.base import StopReason, Usage
from live_memory.llm.meter import CHARS_OF_CALL, count_of
from live_memory.llm.reply import Json, StreamedReply
from live_memory.text.surrogates import whole_characters
from live_memory.window.messages import ToolCall

STOP_REASONS: dict[str, StopReason] = {"length": "max_tokens", "content_filter": "refusal"}


@dataclass(frozen=True, slots=True)
class Echo:
    """What goes back with a tool call: fields of the call itself (Gemini's signed thoughts) and of its message."""

    of_call: Json = field(default_factory=dict)
    of_message: Json = field(default_factory=dict)


class ChatReply(StreamedReply):
    """A reply of /chat/completions."""

    def __init__(self, max_output_tokens: int) -> None:
        super().__init__(max_output_tokens)
        self._has_refused = False
        self._finish = ""
        self.usage: Usage | None = None
        self._pieces: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[Json] = []

    @property
    def has_ended(self) -> bool:
        return bool(self._finish) or self.is_full

    def stop_reason(self) -> StopReason:
        if self._has_refused:
            return "refusal"
        if self.is_full:
            return "max_tokens"
        return STOP_REASONS.get(self._finish, "tool_calls" if self._calls else "end")

    def text(self) -> str:
        return whole_characters("".join(self._pieces))

    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(*map(whole_characters, (call["id"] or f"call_{n}", call["name"], call["arguments"] or "{}")))
            for n, call in enumerate(self._calls, start=1)
        )

    def echoes(self) -> list[Echo]:
        reasoning = {"reasoning_content": "".join(self._reasoning)} if self._reasoning else {}
        return [Echo(call["extra"], reasoning) for call in self._calls]

    def _grown(self, chunk: Any) -> str:
        if chunk.usage:
            self.usage = _usage(chunk.usage)
        if not chunk.choices:
            return ""
        self.has_started = True
        choice = chunk.choices[0]
        self._finish = choice.finish_reason or self._finish
        delta = choice.delta
        if delta is None:
            return ""
        if reasoning := (delta.model_extra or {}).get("reasoning_content"):
            self._meter.unseen(len(reasoning))
            self._reasoning.append(reasoning)
        for fragment in delta.tool_calls or ():
            self._take_call(fragment)
        self._has_refused = self._has_refused or bool(delta.refusal)
        piece: str = self._meter.prose((delta.content or "") + (delta.refusal or ""))
        self._pieces.append(piece)
        return piece

    def _take_call(self, fragment: Any) -> None:
        """A fragment continues the call of its index, unless it brings another id (Gemini numbers all calls 0)."""
        call = next((known for known in reversed(self._calls) if known["index"] == fragment.index), None)
        if call is None or (fragment.id and call["id"] and fragment.id != call["id"]):
            call = {"index": fragment.index, "id": "", "name": "", "arguments": "", "extra": {}}
            self._meter.unseen(CHARS_OF_CALL)
            self._calls.append(call)
        call["id"] = call["id"] or fragment.id or ""
        call["extra"] |= fragment.model_extra or {}
        if fragment.function:
            call["name"] = call["name"] or fragment.function.name or ""
            arguments = fragment.function.arguments or ""
            self._meter.unseen(len(arguments))
            call["arguments"] += arguments


def _usage(counted: Any) -> Usage:
    """OpenAI counts cached tokens inside prompt_tokens; DeepSeek and Moonshot name them in fields of their own."""
    details = counted.prompt_tokens_details
    extra = counted.model_extra or {}
    cached = count_of(
        (details and details.cached_tokens) or extra.get("prompt_cache_hit_tokens") or extra.get("cached_tokens")
    )
    written = count_of(details and details.cache_write_tokens)
    return Usage(
        input_tokens=max(0, count_of(counted.prompt_tokens) - cached - written),
        output_tokens=count_of(counted.completion_tokens),
        cache_read_tokens=cached,
        cache_write_tokens=written,
    )
