"""What every keeper of notes does, whatever it keeps them in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from live_memory.notes.note import new_fact
from live_memory.store.database import Database
from live_memory.store.in_memory_notes import InMemoryNotes
from live_memory.store.note_index import NoteIndex
from live_memory.store.notes import Notes
from live_memory.store.sqlite_notes import SqliteNotes

ROOT = "/srv/repo"
AUTH = new_fact("SessionManager in src/auth/session.ts issues the tokens.", {"src/auth/session.ts": "aa"}, 1.0)
PORT = new_fact("The server listens on PORT, set in server.py.", {"server.py": "bb"}, 2.0)
BOTH = new_fact(
    "server.py asks SessionManager for each request.", {"server.py": "bb", "src/auth/session.ts": "aa"}, 3.0
)


@pytest.fixture(params=["in_memory", "sqlite"])
def notes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Notes]:
    if request.param == "in_memory":
        yield InMemoryNotes()
        return
    database = Database(tmp_path / "live-memory.db")
    yield SqliteNotes(database, NoteIndex(database))
    database.close()


def test_facts_come_back_as_they_were_kept_in_their_order(notes: Notes) -> None:
    notes.add(ROOT, [AUTH, PORT])
    notes.add(ROOT, [BOTH])
    assert notes.facts(ROOT) == (AUTH, PORT, BOTH)
    assert notes.facts("/other") == ()


def test_a_fact_told_again_is_verified_not_doubled(notes: Notes) -> None:
    notes.add(ROOT, [AUTH])
    notes.demote(ROOT, "src/auth/session.ts", "changed")
    notes.count_use(ROOT, [AUTH, PORT])
    notes.add(ROOT, [new_fact(AUTH.text, {"src/auth/session.ts": "changed"}, 9.0)])
    (kept,) = notes.facts(ROOT)
    assert (kept.sources, kept.is_stale) == ({"src/auth/session.ts": "changed"}, False)
    assert (kept.created_at_s, kept.verified_at_s, kept.use_count) == (1.0, 9.0, 1)


def test_facts_are_found_by_what_they_are_about_best_first(notes: Notes) -> None:
    notes.add(ROOT, [PORT, AUTH, BOTH])
    assert notes.search(ROOT, "Who issues session tokens?", 5)[0].id == AUTH.id
    assert notes.search(ROOT, "Which PORT does the server listen on?", 1)[0].id == PORT.id
    assert notes.search(ROOT, "What about the weather?", 5) == ()
    assert notes.search("/other", "Who issues session tokens?", 5) == ()


def test_a_changed_or_vanished_file_demotes_what_rests_on_it_and_a_restored_one_redeems_it(notes: Notes) -> None:
    notes.add(ROOT, [AUTH, PORT, BOTH])
    notes.add("/other", [PORT])
    assert [fact.id for fact in notes.demote(ROOT, "server.py", "new")] == [PORT.id, BOTH.id]
    assert notes.demote(ROOT, "server.py", "newer") == ()  # they are stale already
    assert notes.demote(ROOT, "src/auth/session.ts", None)[0].id == AUTH.id
    assert [fact.is_stale for fact in notes.facts(ROOT)] == [True, True, True]
    notes.demote(ROOT, "server.py", "bb")
    assert [fact.is_stale for fact in notes.facts(ROOT)] == [True, False, True]
    assert [fact.id for fact in notes.stale(ROOT)] == [AUTH.id, BOTH.id]
    assert [fact.is_stale for fact in notes.facts("/other")] == [False]


def test_forgetting_takes_the_facts_of_one_root(notes: Notes) -> None:
    notes.add(ROOT, [AUTH])
    notes.add("/other", [AUTH])
    notes.forget(ROOT)
    assert notes.facts(ROOT) == ()
    assert notes.search(ROOT, "Who issues session tokens?", 5) == ()
    assert len(notes.search("/other", "Who issues session tokens?", 5)) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.one_of(st.text(), st.text("\"*^()+-:{}NEAR AND OR NOT$#/\\.'\x00", max_size=60)))
def test_no_question_is_refused(notes: Notes, question: str) -> None:
    notes.add(ROOT, [AUTH])
    notes.search(ROOT, question, 5)


def test_identifiers_paths_and_other_scripts_are_found_whole(notes: Notes) -> None:
    facts = [
        new_fact("`C++` code is in native/ring_buffer.cc.", {}, 1.0),
        new_fact("会话令牌在登录模块里签发。", {}, 1.0),
        new_fact("Le thème est réglé dans l'en-tête.", {}, 1.0),
    ]
    notes.add(ROOT, facts)
    assert notes.search(ROOT, "native/ring_buffer.cc", 5)[0].id == facts[0].id
    assert notes.search(ROOT, "令牌在哪里签发？", 5)[0].id == facts[1].id
    assert notes.search(ROOT, "theme en-tete", 5)[0].id == facts[2].id


def test_a_fact_may_be_stale_from_the_beginning(notes: Notes) -> None:
    notes.add(ROOT, [replace(AUTH, changed=frozenset(AUTH.sources))])
    assert notes.stale(ROOT)[0].id == AUTH.id
    notes.add(ROOT, [AUTH])
    assert notes.stale(ROOT) == ()
