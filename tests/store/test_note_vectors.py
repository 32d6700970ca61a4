"""The notes' vectors: in step with what the notes say, whatever way they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from live_memory.notes.note import Fact, Note
from live_memory.notes.vectors import Vector, cosine, signs, unit
from live_memory.store.note_store import Change
from live_memory.store.note_vectors import WantedText
from live_memory.store.sqlite import SqliteStore

REPO = "git:example.com/owner/name"
MODEL = "one"
LAMP = Note(REPO, "lamp", "decision", "The lamp", "It burns oil.", "of the tower")
HORN = Note(REPO, "horn", "decision", "The horn", "It sounds in fog.")
VECTOR = unit([1.0, -2.0, 3.0])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "live-memory.db")
    write(store, (None, LAMP), (None, HORN))
    yield store
    store.close()


def write(store: SqliteStore, *changes: tuple[Note | None, Note | None]) -> None:
    store.note_store.apply([Change("update", before, after, 1.0, "test") for before, after in changes])


def embed(store: SqliteStore, model: str = MODEL, vector: Vector[float] = VECTOR) -> None:
    store.note_vectors.keep(model, [(text, vector) for text in store.note_vectors.wanted(10)])


def wanted(store: SqliteStore) -> list[str]:
    return [text.title for text in store.note_vectors.wanted(10)]


def test_new_notes_lack_a_vector_and_say_what_is_to_be_told(store: SqliteStore) -> None:
    assert [text.text for text in store.note_vectors.wanted(10)] == [
        "The horn\nIt sounds in fog.",
        "The lamp\nof the tower\nIt burns oil.",
    ]
    assert len(store.note_vectors.wanted(1)) == 1


def test_what_is_kept_is_found_by_number_and_by_key(store: SqliteStore) -> None:
    kept = store.note_vectors.keep(MODEL, [(text, VECTOR) for text in store.note_vectors.wanted(10)])
    assert (wanted(store), store.note_vectors.count(MODEL)) == ([], (2, 2))
    assert {each.signs for each in kept} == {signs(VECTOR)}
    assert sorted(store.note_vectors.signed(MODEL, 0, 10), key=lambda each: -each.number) == list(kept)
    by_number = store.note_vectors.vectors(MODEL, [kept[0].number], ())
    assert cosine(by_number[REPO, "horn"], VECTOR) == pytest.approx(1.0, abs=1e-3)
    assert store.note_vectors.vectors(MODEL, (), [(REPO, "lamp"), (REPO, "none")]).keys() == {(REPO, "lamp")}


def test_a_note_that_says_something_else_lacks_a_vector_again(store: SqliteStore) -> None:
    embed(store)
    write(store, (LAMP, replace(LAMP, body="It burns gas.")))
    assert (wanted(store), store.note_vectors.count(MODEL)) == (["The lamp"], (1, 2))


def test_being_used_or_done_leaves_the_vector(store: SqliteStore) -> None:
    embed(store)
    store.note_store.touch([(REPO, "lamp")], 5.0, {(REPO, "lamp"): 9.0})
    (lamp,) = store.note_store.get([(REPO, "lamp")])
    write(store, (lamp, replace(lamp, status="done")))
    assert wanted(store) == []


def test_a_vector_goes_with_its_note(store: SqliteStore) -> None:
    embed(store)
    write(store, (HORN, None))
    assert store.note_vectors.count(MODEL) == (1, 1)


def test_a_note_that_moves_to_another_scope_is_embedded_there(store: SqliteStore) -> None:
    embed(store)
    write(store, (HORN, replace(HORN, scope="git:example.com/owner/other")))
    assert wanted(store) == ["The horn"]


def test_a_text_that_changed_meanwhile_is_not_kept(store: SqliteStore) -> None:
    texts = store.note_vectors.wanted(10)
    write(store, (LAMP, replace(LAMP, body="It burns gas.")))
    kept = store.note_vectors.keep(MODEL, [(text, VECTOR) for text in (*texts, WantedText(99, "", "", "gone"))])
    assert (len(kept), wanted(store)) == (1, ["The lamp"])


def test_another_model_wants_every_note_anew(store: SqliteStore) -> None:
    embed(store)
    store.note_vectors.want(MODEL)
    assert wanted(store) == []
    store.note_vectors.want("two")
    assert len(wanted(store)) == 2
    assert store.note_vectors.count("two") == (0, 2)
    embed(store, "two", unit([1.0, 1.0]))
    assert (store.note_vectors.count(MODEL), store.note_vectors.count("two")) == ((0, 2), (2, 2))


def test_facts_have_vectors_and_working_state_has_none(store: SqliteStore) -> None:
    embed(store)
    store.notes.add("/code/name", [Fact("f1", "The tide table is in tide.py.", {}, frozenset(), 1.0, 1.0, 0)])
    write(store, (None, Note(REPO, "state-x", "state", "x", "{}")))
    assert [text.body for text in store.note_vectors.wanted(10)] == ["The tide table is in tide.py."]
    assert store.note_vectors.count(MODEL) == (2, 3)
