"""The tool calls of one question: run side by side, each distinct one once, and bounded in time and size."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from live_memory.agent.explorers import Explorers, Threads
from live_memory.errors import ToolRefusal
from live_memory.explore.base import FileStamp
from live_memory.text.redaction import Redaction
from live_memory.window.messages import ToolCall, ToolResult
from live_memory.window.rounds import cut_text

logger = logging.getLogger(__name__)

MIN_RESULT_TOKENS = 500

CallKey: TypeAlias = "tuple[str, str]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool call brought: its text, or the refusal."""

    text: str
    is_error: bool = False


@dataclass(slots=True)
class Toolbelt:
    """The tools bound to a tree, with a memory for one question: `files` are the stamps of what was shown, by path."""

    explorers: Explorers
    threads: Threads
    root: Path
    redaction: Redaction = field(default_factory=Redaction)
    files: dict[str, FileStamp] = field(default_factory=dict)
    calls: int = 0
    names: set[str] = field(default_factory=set)
    _memory: dict[CallKey, Outcome] = field(default_factory=dict)

    async def run(self, calls: Sequence[ToolCall], timeout_s: float, room_tokens: int) -> tuple[ToolResult, ...]:
        """A result for each call, in order, together within `room_tokens` where that is no less than they need to make sense."""
        self.calls += len(calls)
        self.names.update(call.name for call in calls)
        keys = [call_key(call) for call in calls]
        unknown = [key for key in dict.fromkeys(keys) if key not in self._memory]
        outcomes = await asyncio.gather(*(self._outcome(name, arguments, timeout_s) for name, arguments in unknown))
        self._memory.update(zip(unknown, outcomes, strict=True))
        share_tokens = max(MIN_RESULT_TOKENS, room_tokens // len(calls))
        return tuple(
            ToolResult(call.id, cut_text(self._memory[key].text, share_tokens), self._memory[key].is_error)
            for call, key in zip(calls, keys, strict=True)
        )

    async def _outcome(self, name: str, arguments_json: str, timeout_s: float) -> Outcome:
        try:
            output = await self.threads.run(
                timeout_s, self.explorers.run_tool, self.root, name, arguments_json, self.redaction
            )
        except ToolRefusal as refusal:
            return Outcome(str(refusal), is_error=True)
        except TimeoutError:
            logger.info("tool timed out name=%s timeout_s=%.1f", name, timeout_s)
            return Outcome("Not finished in the time that is left: answer from what you have.", is_error=True)
        self.files.update((stamp.path, stamp) for stamp in output.files)
        return Outcome(output.text or "(nothing)")


def call_key(call: ToolCall) -> CallKey:
    """Equal for calls that ask for the same: order and spacing of the arguments do not count."""
    try:
        return (call.name, json.dumps(json.loads(call.arguments_json), sort_keys=True))
    except (ValueError, RecursionError):
        return (call.name, call.arguments_json)
