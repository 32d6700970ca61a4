"""Where Anthropic's cache breakpoints go. Pure arithmetic over the numbers of content blocks.

A breakpoint writes what stands before it, and reads the longest entry that ends at most 20 blocks before it
(platform.claude.com, "Prompt caching"). A request may have four; the system prompt has one or two of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MAX_BREAKPOINTS = 4
LOOKBACK_BLOCKS = 20
DENSEST_RATIO = 1.5  # how far a tokenizer may be above the estimate: a mark is left out only where it is surely in vain


@dataclass(frozen=True, slots=True)
class Blocks:
    """A request's content blocks, counted from the first message: how many there are in all, how many belong to the
    history, how many an earlier request with this history ended at (0: none), and how many stood before the newest
    tool round (0: no round yet)."""

    total: int
    history: int
    earlier_history: int = 0
    before_round: int = 0


def message_breakpoints(blocks: Blocks) -> tuple[int, ...]:
    """The indices of the blocks to mark, ascending: the end, the history's end, and what keeps both within reach of the
    entry they continue. At most three; three leave the system prompt a single one (`system_breakpoints`)."""
    marks = {blocks.total, blocks.history}
    if blocks.total - blocks.before_round > LOOKBACK_BLOCKS:
        marks.add(blocks.before_round)
    elif blocks.history - blocks.earlier_history > LOOKBACK_BLOCKS:
        marks.add(blocks.earlier_history)
    return tuple(sorted(mark - 1 for mark in marks if mark > 0))


def system_breakpoints(parts: int, message_marks: int) -> tuple[int, ...]:
    """Which of the system prompt's `parts` to mark: the last ones, as many as are left."""
    left = min(parts, MAX_BREAKPOINTS - message_marks, 2)
    return tuple(range(parts - left, parts))


def cacheable_from(sizes_tokens: Iterable[int], min_tokens: int) -> int:
    """The index of the first part at whose end the prefix is long enough to be cached (their number when none is).

    `sizes_tokens` are estimates; no more of them are taken than needed. A breakpoint before it would write nothing."""
    needed_tokens, count = min_tokens / DENSEST_RATIO, 0
    for count, tokens in enumerate(sizes_tokens, 1):
        needed_tokens -= tokens
        if needed_tokens <= 0:
            return count - 1
    return count
