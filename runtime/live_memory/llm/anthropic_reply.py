"""A streamed reply of the Messages API as it grows: its events in, prose, tool calls, thoughts and usage out.

No SDK is imported here: events are read by the names of the protocol.
"""

from __future__ import annotations

import json
from typing import Any

from live_memory.llm.base import StopReason, Usage
from live_memory.llm.meter import CHARS_OF_CALL, count_of
from live_memory.llm.reply import Json, StreamedReply
from live_memory.text.surrogates import whole_characters
from live_memory.window.messages import ToolCall

STOP_REASONS: dict[str, StopReason] = {
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


class MessagesReply(StreamedReply):
    """A reply of the Messages API."""

    def __init__(self, max_output_tokens: int) -> None:
        super().__init__(max_output_tokens)
        self._has_stopped = False
        self._stop = ""
        self.usage = Usage()
        self._blocks: dict[int, Json] = {}

    @property
    def has_ended(self) -> bool:
        return self._has_stopped or self.is_full

    def _grown(self, event: Any) -> str:
        match event.type:
            case "message_start":
                self.has_started = True
                self._count(event.message.usage)
            case "content_block_start":
                self._meter.unseen(CHARS_OF_CALL)
                self._blocks[event.index] = event.content_block.to_dict() | {"json": ""}
                return event.content_block.text if event.content_block.type == "text" else ""
            case "content_block_delta":
                return self._appended(self._blocks[event.index], event.delta)
            case "message_delta":
                self._stop = event.delta.stop_reason or self._stop
                self._count(event.usage)
            case "message_stop":
                self._has_stopped = True
        return ""

    def stop_reason(self) -> StopReason:
        return "max_tokens" if self.is_full else STOP_REASONS.get(self._stop, "end")

    def text(self) -> str:
        return whole_characters("".join(b["text"] for b in self._blocks.values() if b["type"] == "text"))

    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(
                whole_characters(block["id"]),
                whole_characters(block["name"]),
                whole_characters(block["json"] or json.dumps(block.get("input") or {})),
            )
            for block in self._blocks.values()
            if block["type"] == "tool_use"
        )

    def thoughts(self) -> tuple[Json, ...]:
        kept = (block for block in self._blocks.values() if block["type"] in ("thinking", "redacted_thinking"))
        return tuple({key: value for key, value in block.items() if key != "json"} for block in kept)

    def _appended(self, block: Json, delta: Any) -> str:
        """Append `delta` to its block; the prose in it."""
        match delta.type:
            case "text_delta":
                piece = self._meter.prose(delta.text)
                block["text"] += piece
                return piece
            case "input_json_delta":
                self._meter.unseen(len(delta.partial_json))
                block["json"] += delta.partial_json
            case "thinking_delta":
                self._meter.unseen(len(delta.thinking))
                block["thinking"] += delta.thinking
            case "signature_delta":
                block["signature"] = delta.signature
        return ""

    def _count(self, counted: Any) -> None:
        """A later count replaces an earlier one: both are running totals of this reply."""
        usage = self.usage
        self.usage = Usage(
            input_tokens=_newer(counted, "input_tokens", usage.input_tokens),
            output_tokens=_newer(counted, "output_tokens", usage.output_tokens),
            cache_read_tokens=_newer(counted, "cache_read_input_tokens", usage.cache_read_tokens),
            cache_write_tokens=_newer(counted, "cache_creation_input_tokens", usage.cache_write_tokens),
            cache_write_1h_tokens=_newer(
                getattr(counted, "cache_creation", None), "ephemeral_1h_input_tokens", usage.cache_write_1h_tokens
            ),
        )


def _newer(counted: Any, name: str, earlier: int) -> int:
    value = getattr(counted, name, None)
    return earlier if value is None else count_of(value)
