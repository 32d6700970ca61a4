"""Notes by id in one batch: which, in which order, how far, and how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.memory.reading import MAX_REACHED, Reading, Relation, Wanted, get
from live_memory.notes.note import GLOBAL, Note
from live_memory.store.in_memory_note_store import InMemoryNoteStore
from live_memory.store.note_store import Change

REPO = "git:example.com/shop"
SCOPES = (REPO, GLOBAL)
REFS: frozenset[Relation] = frozenset(("refs",))
BACKLINKS: frozenset[Relation] = frozenset(("backlinks",))
BOTH = REFS | BACKLINKS


def note(name: str, *refs: str, supersedes: tuple[str, ...] = (), body: str = "text") -> Note:
    return Note(REPO, name, "decision", f"Title of {name}", body, refs=refs, supersedes=supersedes)


def store_of(*notes: Note) -> InMemoryNoteStore:
    store = InMemoryNoteStore()
    store.apply([Change("create", None, each, 1.0, "user") for each in notes])
    return store


async def fresh(notes: Sequence[Note]) -> Mapping[str, str]:
    return {each.id: "FRESH" for each in notes if each.sources}


async def read(store: InMemoryNoteStore, wanted: Wanted) -> Reading:
    return await get(store, SCOPES, wanted, fresh)


def ids(reading: Reading) -> list[str]:
    return [shown.note.id for shown in reading.shown]


async def test_a_batch_comes_in_the_order_asked_for_and_names_what_is_missing() -> None:
    store = store_of(note("a"), note("b"), note("c"))
    reading = await read(store, Wanted(("c", "none", "a", "c")))
    assert (ids(reading), reading.missing, reading.left_out) == (["c", "a"], ("none",), 0)


async def test_each_note_carries_its_state_and_who_cites_it() -> None:
    store = store_of(replace(note("a"), sources={"x.py": "aa"}), note("b", "a"), note("c", supersedes=("a",)))
    (shown,) = (await read(store, Wanted(("a",)))).shown
    assert (shown.state, shown.backlinks) == ("FRESH", ("b", "c"))


async def test_the_repository_wins_over_what_is_global() -> None:
    store = store_of(note("a"), replace(note("a", body="global"), scope=GLOBAL))
    (shown,) = (await read(store, Wanted(("a",)))).shown
    assert shown.note.scope == REPO


async def test_a_scope_query_brings_all_that_cites_a_note() -> None:
    store = store_of(note("blog"), note("rule-1", "blog"), note("rule-2", "blog"), note("other"))
    assert ids(await read(store, Wanted(("blog",), BACKLINKS))) == ["blog", "rule-1", "rule-2"]


async def test_a_chain_is_followed_as_deep_as_asked_and_into_what_was_replaced() -> None:
    store = store_of(note("a", "b"), note("b", supersedes=("c",)), note("c", "d"), note("d"))
    assert ids(await read(store, Wanted(("a",), REFS))) == ["a", "b"]
    assert ids(await read(store, Wanted(("a",), REFS, depth=3))) == ["a", "b", "c", "d"]
    assert ids(await read(store, Wanted(("a",), depth=3))) == ["a"]


async def test_a_cycle_ends() -> None:
    store = store_of(note("a", "b"), note("b", "c"), note("c", "a", "c"))
    assert ids(await read(store, Wanted(("a",), BOTH, depth=8))) == ["a", "b", "c"]


async def test_what_has_no_room_is_counted_and_smaller_notes_still_come() -> None:
    store = store_of(note("a"), note("large", body="x" * 5000), note("small"))
    reading = await read(store, Wanted(("a", "large", "small"), max_chars=1000))
    assert (ids(reading), reading.left_out) == (["a", "small"], 1)


async def test_the_first_note_comes_whatever_its_size() -> None:
    store = store_of(note("large", body="x" * 5000), note("b", "large"))
    reading = await read(store, Wanted(("large",), BACKLINKS, max_chars=1000))
    assert (ids(reading), reading.left_out) == (["large"], 1)


async def test_a_hub_that_thousands_cite_is_bounded() -> None:
    store = store_of(note("hub"), *(note(f"n{number}", "hub") for number in range(MAX_REACHED + 50)))
    reading = await read(store, Wanted(("hub",), BACKLINKS, depth=8))
    assert len(reading.shown) + reading.left_out == MAX_REACHED


@pytest.mark.parametrize("relations", [REFS, BACKLINKS, BOTH])
@given(edges=st.sets(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=40), depth=st.integers(1, 8))
async def test_no_web_of_notes_is_read_twice_or_without_end(
    relations: frozenset[Relation], edges: set[tuple[int, int]], depth: int
) -> None:
    notes = [note(f"n{one}", *(f"n{other}" for start, other in sorted(edges) if start == one)) for one in range(10)]
    shown = ids(await read(store_of(*notes), Wanted(("n0",), relations, depth)))
    assert len(shown) == len(set(shown))
    assert shown[0] == "n0"
