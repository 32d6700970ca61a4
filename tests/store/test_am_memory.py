"""am-memory's database, read as notes: what becomes what, and files that are none or mean harm."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from store.am_database import DAY_S, NOW_S, make

from live_memory.errors import QuestionError
from live_memory.notes.codecs.am_rows import instant
from live_memory.store import am_memory


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return make(tmp_path / "memory.db")


def test_documents_sessions_and_state_become_notes(database: Path) -> None:
    decoded = am_memory.read(database, NOW_S)
    notes = {note.id: note for note in decoded.notes}
    assert {name: (note.scope, note.kind, note.priority) for name, note in notes.items()} == {
        "ports-are-the-lock": ("global", "decision", "P0"),
        "yarn-ignores-the-limit": ("repo", "root-cause", "P1"),
        "twin-3": ("repo", "project", "P2"),
        "twin-4": ("repo", "project", "P2"),
        "edited-serve-py": ("global", "reference", "P2"),
        "import-day": ("global", "session", "P1"),
        "session-s2": ("repo", "session", "P2"),
        "state-active-work": ("repo", "state", "P0"),
    }
    ports = notes["ports-are-the-lock"]
    assert ports.body == "# Ports\n\nWhoever binds is the server.\n\nKey facts:\n- Port: 7711"
    assert (ports.description, ports.symbols) == ("Whoever binds.", ("claim", "serve_forever", "Server"))
    assert ports.refs == ("yarn-ignores-the-limit",)
    assert (ports.expires_at_s, ports.used_at_s) == (None, NOW_S)
    assert notes["yarn-ignores-the-limit"].expires_at_s == NOW_S + DAY_S
    assert notes["edited-serve-py"].body == "class S\n\nFile: /src/serve.py"
    assert notes["import-day"].body == "# Import day\n\nDecisions:\n- copies"
    assert (notes["session-s2"].status, notes["session-s2"].body) == ("open", "Began.\n\nOpen items:\n- test it")
    assert (notes["state-active-work"].title, notes["state-active-work"].body) == ("active_work", '{"ticket": "LM-12"}')
    assert [(each.where, each.reason) for each in decoded.omissions] == [
        ("document 5", "it has expired"),
        ("state current_session_id", "am-memory's own bookkeeping"),
    ]


def test_julian_days_and_unix_seconds_are_the_same_instants(database: Path) -> None:
    (decision,) = [note for note in am_memory.read(database, NOW_S).notes if note.kind == "decision"]
    assert decision.created_at_s == pytest.approx(NOW_S, abs=0.001)
    assert [instant(value) for value in (NOW_S, None, "x", -1, float("nan"), float("inf"), True)] == [
        NOW_S,
        *[None] * 6,
    ]


def test_one_project_is_taken_alone_with_what_belongs_to_none(database: Path) -> None:
    decoded = am_memory.read(database, NOW_S, "harbour")
    assert {note.id for note in decoded.notes} >= {"twin", "ports-are-the-lock"}
    assert ("1 documents", "of other projects than harbour") in {
        (each.where, each.reason) for each in decoded.omissions
    }


def test_it_is_read_only_and_leaves_nothing_beside_the_file(database: Path) -> None:
    before = database.read_bytes()
    am_memory.read(database, NOW_S)
    assert database.read_bytes() == before
    assert list(database.parent.iterdir()) == [database]


def test_what_stands_only_in_the_log_of_a_killed_process_is_read_too(database: Path) -> None:
    writer = sqlite3.connect(database, isolation_level=None)
    with closing(writer):
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO documents (title, raw_content) VALUES ('Late', 'news')")
        log = database.with_name("memory.db-wal")
        before = log.read_bytes()
        assert "late" in {note.id for note in am_memory.read(database, NOW_S).notes}
        assert log.read_bytes() == before


def test_an_older_database_without_the_newer_columns_is_read(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("CREATE TABLE documents (doc_id INTEGER PRIMARY KEY, title TEXT, summary TEXT)")
        connection.execute("INSERT INTO documents VALUES (1, 'A title', 'Words.')")
        connection.commit()
    (note,) = am_memory.read(old, NOW_S).notes
    assert (note.id, note.body, note.created_at_s) == ("a-title", "Words.", 0.0)


def test_values_of_any_type_and_size_are_notes_or_omissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(am_memory, "MAX_VALUE_BYTES", 1000)
    monkeypatch.setattr(am_memory, "MAX_ROWS", 3)
    database = make(tmp_path / "hostile.db")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DELETE FROM documents")
        row = "INSERT INTO documents (title, raw_content, key_facts, expires_at) VALUES (?, ?, ?, ?)"
        connection.execute(row, (b"\xff\xfe", b"\x00\xff bytes", '[1, {"a": 2}, null]', "never"))
        connection.execute(row, (17, 3.5, "[" * 5000, float("inf")))
        connection.execute(row, ("Huge", "x" * 2000, None, None))
        connection.execute(row, ("Beyond", "the bound", None, None))
        connection.commit()
    decoded = am_memory.read(database, NOW_S)
    assert [note.title for note in decoded.notes if note.kind == "project"] == ["\ufffd\ufffd", "17"]
    assert {each.reason for each in decoded.omissions} >= {"it holds no text", "only the first 3 rows are read"}


@pytest.mark.parametrize("kind", ["no database", "another program's", "cut off", "a view"])
def test_what_is_not_am_memorys_is_refused_with_a_sentence(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it's #1?.db"
    if kind == "no database":
        path.write_bytes(am_memory.HEADER + b"rubbish" * 200)
    elif kind == "cut off":
        path.write_bytes(make(tmp_path / "whole.db").read_bytes()[:5000])
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(
                "CREATE TABLE t (a)" if kind != "a view" else "CREATE VIEW documents AS SELECT 1 AS doc_id"
            )
    with pytest.raises(QuestionError, match=r"^The file (cannot be read as a database|is not am-memory's).*\.$"):
        am_memory.read(path, NOW_S)
