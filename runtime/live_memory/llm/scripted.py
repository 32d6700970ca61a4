"""A model that answers from a script: what tests, `make serve` and `provider=scripted` talk to instead of a provider.

It behaves as a provider with a perfect prompt cache would: its usage counts what a request shares with any earlier
one as read from the cache. It never waits, unless a reply says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from live_memory.llm.base import Completion, CompletionRequest, StopReason, Usage
from live_memory.window.messages import Block, Prompt, Text, ToolCall

CHARS_PER_TOKEN = 4
CANNED_ANSWER = (
    "This is the scripted model, which reads no code: it is here to try the plumbing. Set a provider to get answers."
)


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One reply. `pieces` are streamed one by one; with `error` it is raised after them. `hold`, where given, is awaited
    between the pieces and the end: an event never set is a model that hangs. `usage` None is counted."""

    pieces: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason | None = None
    usage: Usage | None = None
    error: Exception | None = None
    hold: asyncio.Event | None = None


Step: TypeAlias = "str | ToolCall | Exception | ScriptedReply | Callable[[CompletionRequest], ScriptedReply | str]"


@dataclass(slots=True)
class ScriptedModel:
    """Answers with `script`, step by step, and with CANNED_ANSWER once it is used up. `requests` keeps every request.

    A step is a text, one tool call, an error, a ScriptedReply, or a callable that makes one from the request.
    """

    script: Iterable[Step] = ()
    name: str = "scripted-1"
    provider: str = "scripted"
    requests: list[CompletionRequest] = field(default_factory=list)
    is_closed: bool = False
    _steps: list[Step] = field(init=False)
    _sent: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._steps = list(self.script)

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        self.requests.append(request)
        reply = self._next_reply(request)
        usage = reply.usage or self._counted(request, reply)
        await asyncio.sleep(0)  # a provider never answers within one step of the loop
        for piece in reply.pieces:
            on_text(piece)
            await asyncio.sleep(0)
        if reply.hold is not None:
            await reply.hold.wait()
        if reply.error is not None:
            raise reply.error
        stop = reply.stop_reason or ("tool_calls" if reply.tool_calls else "end")
        return Completion("".join(reply.pieces), reply.tool_calls, usage, stop)

    def wire(self, request: CompletionRequest) -> dict[str, object]:
        """What stands for the bytes of `request`, for the trace."""
        prompt = request.prompt
        return {
            "tools": [{"name": tool.name, "description": tool.description} for tool in prompt.tools],
            "system": list(prompt.system),
            "messages": [
                {"role": turn.role, "content": [_block_text(block) for block in turn.blocks]} for turn in prompt.turns
            ],
        }

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        self.is_closed = True

    def _next_reply(self, request: CompletionRequest) -> ScriptedReply:
        step: Step = self._steps.pop(0) if self._steps else CANNED_ANSWER
        if callable(step):
            step = step(request)
        if isinstance(step, str):
            return ScriptedReply((step,))
        if isinstance(step, ToolCall):
            return ScriptedReply(tool_calls=(step,))
        if isinstance(step, Exception):
            return ScriptedReply(error=step)
        return step

    def _counted(self, request: CompletionRequest, reply: ScriptedReply) -> Usage:
        sent = rendered(request.prompt)
        most_chars = max((shared_chars(sent, earlier) for earlier in self._sent), default=0)
        self._sent.append(sent)
        written = "".join(reply.pieces) + "".join(call.name + call.arguments_json for call in reply.tool_calls)
        cached = most_chars // CHARS_PER_TOKEN
        return Usage(
            input_tokens=-(-len(sent) // CHARS_PER_TOKEN) - cached,
            output_tokens=-(-len(written) // CHARS_PER_TOKEN),
            cache_read_tokens=cached,
        )


def rendered(prompt: Prompt) -> str:
    """Every byte of a prompt in the order a provider reads it, as one text; roles and block borders are not marked, so
    that what is appended to a turn keeps the prefix."""
    tools = "".join(f"{tool.name}{tool.description}{dict(tool.input_schema)}" for tool in prompt.tools)
    turns = "".join(_block_text(block) for turn in prompt.turns for block in turn.blocks)
    return tools + "".join(prompt.system) + turns


def _block_text(block: Block) -> str:
    if isinstance(block, ToolCall):
        return block.name + block.arguments_json
    return block.text if isinstance(block, Text) else block.call_id + block.text


def shared_chars(one: str, other: str) -> int:
    """The length of the common prefix, by halving: prompts are long, and they mostly agree."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
