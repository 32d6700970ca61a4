"""What leaves a full window, in which order, and that it then fits below the floor."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from live_memory.window.budget import Budget
from live_memory.window.compaction import Dropped, Room, compacted, is_over, plan_compaction, prompt_tokens
from live_memory.window.files import FileContext, Observation
from live_memory.window.window import Delta, Exchange, History, Window

ROOM = Room(Budget(10_000), 1000, 500)


def file(path: str, tokens: int = 1000, used_at_s: float = 0.0, **fields: object) -> FileContext:
    return replace(FileContext(path, f"sha {path}", 1, 1, 0.0, "tee", "fresh", "abc " * tokens, used_at_s), **fields)  # type: ignore[arg-type]


def exchange(number: int, tokens: int = 1000) -> Exchange:
    return Exchange(number, f"question {number}", "abc " * tokens)


def window(files: list[FileContext], exchanges: list[Exchange] | None = None) -> Window:
    return Window("", files={f.path: f for f in files}, history=History.of(exchanges or ())).refrozen()


def dropped(full: Window, room: Room = ROOM) -> Dropped:
    plan = plan_compaction(full, room)
    assert plan is not None
    return plan


def test_nothing_leaves_below_the_threshold() -> None:
    assert plan_compaction(window([file("a"), file("b")]), ROOM) is None


def test_the_least_recently_used_texts_go_first_and_no_more_than_needed() -> None:
    full = window([file(f"{n}.py", used_at_s=9 - n) for n in range(8)], [exchange(1)])
    plan = dropped(full)
    assert [each.path for each in plan.texts] == ["7.py", "6.py", "5.py", "4.py", "3.py"]
    assert (plan.names, plan.exchanges) == ((), ())
    assert prompt_tokens(compacted(full, plan, ""), ROOM) <= ROOM.budget.floor_tokens


def test_reference_files_go_after_observed_ones() -> None:
    full = window([file("docs.md", 3000, origin="preload"), *(file(f"{n}.py", used_at_s=5) for n in range(6))])
    assert "docs.md" not in {each.path for each in dropped(full).texts}


def test_exchanges_go_last_and_oldest_first() -> None:
    full = window([file("a.py", 500)], [exchange(n) for n in range(1, 9)])
    plan = dropped(full)
    assert [each.path for each in plan.texts] == ["a.py"]
    assert plan.names == ("a.py",)
    assert [each.id for each in plan.exchanges] == [1, 2, 3, 4]
    after = compacted(full, plan, "")
    assert [each.id for each in after.history.exchanges] == [5, 6, 7, 8]
    assert after.left_out == 4


def test_deltas_count_and_go_where_the_block_says_what_they_said() -> None:
    held = file("a.py", 1000)
    deltas = [Delta(n, "changed " * 400, ("a.py",)) for n in range(1, 12)]
    full = replace(window([held]), history=History.of([*deltas, exchange(99, 100)]))
    plan = dropped(full)
    assert plan == Dropped()
    assert [each.id for each in compacted(full, plan, "").history.entries] == [99]


def test_what_was_observed_since_the_last_question_counts_and_is_taken_over() -> None:
    seen = [Observation(f"{n}.py", f"sha {n}", 1, 1, float(n), text="abc " * 2000) for n in range(15)]
    full = replace(Window(""), pending={each.path: each for each in seen})
    plan = dropped(full)
    assert [each.path for each in plan.texts] == [f"{n}.py" for n in range(13)]
    after = compacted(full, plan, "")
    assert {path for path, held in after.files.items() if held.content} == {"13.py", "14.py"}
    assert after.pending == {}


def test_a_file_that_changed_while_the_summary_was_written_keeps_its_text() -> None:
    full = window([file(f"{n}.py", used_at_s=n) for n in range(9)])
    plan = dropped(full)
    newer = Observation("0.py", "another sha", 1, 1, 50.0, text="new text")
    after = compacted(full.with_observation(newer), plan, "ledger")
    assert after.files["0.py"].content == "new text"
    assert after.files["1.py"].content is None
    assert after.frozen.index("ledger") < after.frozen.index("new text")


def test_what_arrived_while_the_summary_was_written_stays() -> None:
    full = window([], [exchange(n) for n in range(1, 10)])
    plan = dropped(full)
    after = compacted(full.with_exchange(exchange(10)), plan, "")
    assert after.history.exchanges[-1].id == 10
    assert len(after.history.exchanges) + after.left_out == 10


def test_only_a_window_that_hardly_fits_is_over() -> None:
    assert not is_over(window([], [exchange(n) for n in range(8)]), ROOM)
    assert is_over(window([], [exchange(n) for n in range(9)]), ROOM)


@given(
    st.lists(st.tuples(st.integers(0, 3000), st.booleans(), st.integers(0, 5)), max_size=40),
    st.lists(st.integers(0, 3000), max_size=40),
    st.integers(0, 3000),
)
def test_a_compaction_ends_at_or_below_the_floor_and_keeps_the_newest_of_each_kind(
    sizes: list[tuple[int, bool, int]], answers: list[int], fixed_tokens: int
) -> None:
    files = [
        file(f"{n}.py", tokens, used_at_s=used, content="abc " * tokens if held else None)
        for n, (tokens, held, used) in enumerate(sizes)
    ]
    full = window(files, [exchange(n, tokens) for n, tokens in enumerate(answers, 1)])
    room = Room(Budget(10_000), fixed_tokens, 500)
    plan = plan_compaction(full, room)
    if plan is None:
        return
    after = compacted(full, plan, "- a fact\n" * 200)
    assert prompt_tokens(after, room) <= room.budget.floor_tokens
    assert [each.id for each in after.history.exchanges] == [each.id for each in full.history.exchanges][
        len(plan.exchanges) :
    ]
    if plan.exchanges:
        assert not after.files
