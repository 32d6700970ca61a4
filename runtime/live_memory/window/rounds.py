"""The tool rounds of the question in flight, kept within the room that the window leaves. Pure.

A round is never taken out: a call without its result is an error at every provider. What a tool brought back is
replaced by one line, oldest round first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from live_memory.text.fencing import fenced
from live_memory.text.tokens import estimate_tokens, truncate_to_tokens
from live_memory.window.messages import Block, Text, ToolCall, ToolResult, Turn
from live_memory.window.window import TURN_OVERHEAD_TOKENS

TAG = "tool_response"  # as chat templates that have no turn for it write one
FENCE_TOKENS = estimate_tokens(fenced(TAG, ""))
STUB_MAX_TOKENS = 60  # results shorter than this stay: a stub would be no smaller
TARGET_RATIO = 0.5  # of the room, once it is short: each stub changes the prompt and costs the provider's cache


@dataclass(frozen=True, slots=True)
class Round:
    """What the model said and asked for, and what it was given for it. `turns` is both as prompts carry them: what a tool
    brought back stands in a fence, for not every provider keeps it apart from what is said."""

    said: Turn
    given: Turn
    turns: tuple[Turn, Turn] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        blocks = tuple(_fenced(block) for block in self.given.blocks)
        object.__setattr__(self, "turns", (self.said, replace(self.given, blocks=blocks)))


def turns_tokens(turns: Sequence[Turn]) -> int:
    """The estimated size of `turns` in a prompt."""
    return sum(TURN_OVERHEAD_TOKENS + sum(block_tokens(block) for block in turn.blocks) for turn in turns)


def block_tokens(block: Block) -> int:
    if isinstance(block, ToolCall):
        return estimate_tokens(block.name) + estimate_tokens(block.arguments_json) + TURN_OVERHEAD_TOKENS
    return estimate_tokens(block.text) + (TURN_OVERHEAD_TOKENS if isinstance(block, ToolResult) else 0)


def fit_rounds(rounds: Sequence[Round], room_tokens: int) -> tuple[Round, ...]:
    """`rounds` unchanged while they fit `room_tokens`; else with the oldest results as stubs until half of the room is
    free, and, where the last round alone is too large, with its results cut to equal shares."""
    sizes = [turns_tokens(each.turns) for each in rounds]
    if not rounds or sum(sizes) <= room_tokens:
        return tuple(rounds)
    fitted = list(rounds)
    target_tokens = int(room_tokens * TARGET_RATIO)
    for index, each in enumerate(fitted[:-1]):
        if sum(sizes) <= target_tokens:
            break
        fitted[index] = _stubbed(each)
        sizes[index] = turns_tokens(fitted[index].turns)
    if sum(sizes) > room_tokens:
        fitted[-1] = _cut(fitted[-1], room_tokens - sum(sizes[:-1]))
    return tuple(fitted)


def cut_text(text: str, max_tokens: int) -> str:
    """`text`, or its beginning with a line that says how much is missing."""
    tokens = estimate_tokens(text)
    if tokens <= max_tokens:
        return text
    note = f"\n[cut here: about {tokens - max_tokens} more tokens did not fit; ask for a smaller part]"
    return truncate_to_tokens(text, max(0, max_tokens - estimate_tokens(note))) + note


def _fenced(block: Block) -> Block:
    """A tool's result between tags; a refusal is a sentence of ours, and stands by itself."""
    if not isinstance(block, ToolResult) or block.is_error:
        return block
    return replace(block, text=fenced(TAG, block.text))


def _stubbed(each: Round) -> Round:
    names = {block.id: block.name for block in each.said.blocks if isinstance(block, ToolCall)}
    blocks = tuple(_stub(block, names) if isinstance(block, ToolResult) else block for block in each.given.blocks)
    return replace(each, given=replace(each.given, blocks=blocks))


def _stub(result: ToolResult, names: dict[str, str]) -> ToolResult:
    tokens = estimate_tokens(result.text)
    if tokens <= STUB_MAX_TOKENS:
        return result
    name = names.get(result.call_id, "tool")
    line = f"[{name}: about {tokens} tokens, dropped to make room; call it again if you still need it]"
    return replace(result, text=line)


def _cut(each: Round, room_tokens: int) -> Round:
    results = [block for block in each.given.blocks if isinstance(block, ToolResult)]
    if not results:
        return each
    others = turns_tokens((each.said,)) + sum(
        block_tokens(block) for block in each.given.blocks if isinstance(block, Text)
    )
    overhead = TURN_OVERHEAD_TOKENS + (TURN_OVERHEAD_TOKENS + FENCE_TOKENS) * len(results)
    share = max(STUB_MAX_TOKENS, (room_tokens - others - overhead) // len(results))
    blocks = tuple(
        replace(block, text=cut_text(block.text, share)) if isinstance(block, ToolResult) else block
        for block in each.given.blocks
    )
    return replace(each, given=replace(each.given, blocks=blocks))
