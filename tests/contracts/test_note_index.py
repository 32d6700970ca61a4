"""What every index of notes must do, whichever keeps it: SQLite's, and the one in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from live_memory.notes.candidates import Vocabulary
from live_memory.notes.note import Note
from live_memory.store.database import Database
from live_memory.store.note_index import Found, InMemoryNoteIndex, NoteIndex, Wanted


class Index(Protocol):
    def put(self, number: int, note: Note) -> None: ...
    def remove(self, *numbers: int) -> None: ...
    def candidates(self, wanted: Wanted) -> tuple[Found, ...]: ...
    def vocabulary(
        self, scopes: tuple[str, ...], terms: tuple[str, ...], beginnings: tuple[str, ...] = ()
    ) -> Vocabulary: ...


@pytest.fixture(params=["sqlite", "in memory"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    if request.param == "in memory":
        yield InMemoryNoteIndex()
        return
    database = Database(tmp_path / "live-memory.db")
    yield NoteIndex(database)
    database.close()


def note(title: str, body: str = "", scope: str = "repo") -> Note:
    return Note(scope, title.casefold().replace(" ", "-"), "decision", title, body)


def test_a_note_is_found_by_a_term_with_how_often_and_where_it_stands(index: Index) -> None:
    index.put(1, note("Retry budget", "The retry budget is three; a retry counts."))
    index.put(2, note("Colours", "Green."))
    (found,) = index.candidates(Wanted(("repo",), ("retri", "budget", "unseen"), 10))
    assert (found.number, found.counts) == (1, {"retri": (1, 0, 2), "budget": (1, 0, 1)})
    assert found.length_terms == 2 + 7
    assert ("retri", "budget") in found.pairs


def test_notes_of_other_scopes_are_neither_found_nor_counted(index: Index) -> None:
    index.put(1, note("Retry", scope="repo"))
    index.put(2, note("Retry", scope="other"))
    assert [found.number for found in index.candidates(Wanted(("repo",), ("retri",), 10))] == [1]
    vocabulary = index.vocabulary(("repo",), ("retri",))
    assert (vocabulary.notes, vocabulary.frequencies["retri"]) == (1, 1)
    assert index.vocabulary(("repo", "other"), ("retri",)).frequencies["retri"] == 2
    assert index.vocabulary(("nowhere",), ("retri",)).notes == 0


def test_a_note_put_again_is_known_by_its_new_words_alone(index: Index) -> None:
    index.put(1, note("Retry"))
    index.put(1, note("Timeout"))
    assert index.candidates(Wanted(("repo",), ("retri",), 10)) == ()
    assert len(index.candidates(Wanted(("repo",), ("timeout",), 10))) == 1
    assert index.vocabulary(("repo",), ()).notes == 1


def test_a_removed_note_leaves_no_trace(index: Index) -> None:
    index.put(1, note("Retry"))
    index.remove(1, 7)
    assert index.candidates(Wanted(("repo",), ("retri",), 10)) == ()
    vocabulary = index.vocabulary(("repo",), ("retri",), ("retri",))
    assert (vocabulary.notes, vocabulary.length_terms, vocabulary.frequencies["retri"]) == (0, 0, 0)
    assert not vocabulary.relatives["retri"]


def test_beginnings_give_the_terms_that_begin_so_the_commonest_first(index: Index) -> None:
    index.put(1, note("Catalogue", "catalog"))
    index.put(2, note("Catalogo"))
    index.put(3, note("Catalogo grande"))
    relatives = index.vocabulary(("repo",), (), ("catal",)).relatives["catal"]
    assert next(iter(relatives.items())) == ("catalogo", 2)
    assert set(relatives) == {"catalogo", "catalogu", "catalog"}


def test_the_rare_term_decides_who_comes_first(index: Index) -> None:
    for number in range(20):
        index.put(number, note(f"Server {number}", "server"))
    index.put(20, note("Rate limits", "The server allows ten."))
    found = index.candidates(Wanted(("repo",), ("serv", "limit"), 3))
    assert len(found) == 3
    assert found[0].number == 20


def test_terms_in_any_script_and_with_any_sign_are_kept_whole(index: Index) -> None:
    index.put(1, note("C++ and src/auth/session.ts", "登录失败 $scope naïve"))
    for term in ("c++", "src/auth/session.ts", "登录", "$scope", "naiv"):
        assert index.candidates(Wanted(("repo",), (term,), 1)), term


def test_a_note_without_words_is_no_trouble(index: Index) -> None:
    index.put(1, Note("repo", "-", "decision", "…", "!!"))
    assert index.candidates(Wanted(("repo",), ("x",), 1)) == ()
    index.remove(1)
    assert index.vocabulary(("repo",), ()).notes == 0
