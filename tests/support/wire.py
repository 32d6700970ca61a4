"""The bytes that the two protocols stream, built from what a reply should say."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


def messages_stream(
    pieces: tuple[str, ...] = (),
    *,
    calls: tuple[tuple[str, str, str], ...] = (),
    stop: str = "end_turn",
    usage: Json | None = None,
    output_tokens: int = 7,
    thoughts: str = "",
) -> tuple[bytes, ...]:
    """A Messages stream, an event an item. `calls` are (id, name, arguments as the model wrote them)."""
    counted = {"input_tokens": 11, "output_tokens": 1} | (usage or {})
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": counted}
    events: list[Json] = [{"type": "message_start", "message": message}]
    index = 0
    if thoughts:
        deltas = ({"type": "thinking_delta", "thinking": thoughts}, {"type": "signature_delta", "signature": "signed"})
        events += _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        index += 1
    if pieces:
        events += _block(index, {"type": "text", "text": ""}, tuple({"type": "text_delta", "text": p} for p in pieces))
        index += 1
    for call_id, name, arguments in calls:
        halves = (arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :])
        deltas = tuple({"type": "input_json_delta", "partial_json": half} for half in halves)  # type: ignore[assignment]
        events += _block(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, deltas)
        index += 1
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": output_tokens}})
    events.append({"type": "message_stop"})
    return tuple(messages_event(event) for event in events)


def messages_event(event: Json) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def chat_stream(
    pieces: tuple[str, ...] = (),
    *,
    calls: tuple[Json, ...] = (),
    finish: str = "stop",
    usage: Json | None = None,
) -> tuple[bytes, ...]:
    """A /chat/completions stream, a chunk an item. `calls` are tool-call fragments as they go over the wire."""
    deltas: list[Json] = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces)]
    deltas += [{"tool_calls": [fragment]} for fragment in calls]
    chunks = [_chat_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    chunks.append(_chat_chunk([{"index": 0, "delta": {}, "finish_reason": finish}]))
    counted = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18} | (usage or {})
    chunks.append(_chat_chunk([], counted))
    return (*chunks, b"data: [DONE]\n\n")


def _chat_chunk(choices: list[Json], usage: Json | None = None) -> bytes:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    return f"data: {json.dumps(chunk | {'usage': usage})}\n\n".encode()


def _block(index: int, start: Json, deltas: tuple[Json, ...]) -> list[Json]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]
