"""Where the cache breakpoints go: a law over random conversations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from live_memory.llm.breakpoints import (
    LOOKBACK_BLOCKS,
    MAX_BREAKPOINTS,
    Blocks,
    message_breakpoints,
    system_breakpoints,
)

ROUNDS = st.lists(st.integers(2, 60), max_size=6)


def is_within_reach(mark: int, entries: set[int]) -> bool:
    return any(mark - LOOKBACK_BLOCKS <= entry <= mark for entry in entries)


@given(st.integers(0, 200), st.integers(0, 200), st.integers(1, 5), ROUNDS)
def test_every_request_finds_the_entry_of_the_one_before_it(
    earlier: int, growth: int, question: int, rounds: list[int]
) -> None:
    history = earlier + growth
    entries = {earlier - 1}  # what the question before wrote at its history's end
    before, total = history, history + question
    for blocks in [0, *rounds]:
        before, total = (total, total + blocks) if blocks else (before, total)
        found = Blocks(total, history, earlier if earlier < history else 0, before)
        marks = message_breakpoints(found)
        assert len(marks) + len(system_breakpoints(2, len(marks))) <= MAX_BREAKPOINTS
        assert total - 1 in marks
        assert history == 0 or history - 1 in marks
        if earlier:
            assert any(is_within_reach(mark, entries) for mark in marks)
        if blocks:
            assert any(is_within_reach(mark, {before - 1}) for mark in marks)
        entries |= set(marks)


def test_the_system_s_last_part_always_keeps_a_breakpoint() -> None:
    assert [system_breakpoints(2, used) for used in range(4)] == [(0, 1), (0, 1), (0, 1), (1,)]
    assert system_breakpoints(1, 2) == (0,)
    assert system_breakpoints(0, 3) == ()
