"""Notes as rows: read from the tables whole, in a few statements however many they are, and written to them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from live_memory.notes.note import Note
from live_memory.store.database import Database, storable

COLUMNS = """number, scope, id, kind, title, body, description, status, priority, origin, created_at_s, updated_at_s,
    verified_at_s, used_at_s, use_count, expires_at_s, symbols"""
BY_NUMBER = f"SELECT {COLUMNS} FROM notes WHERE number IN (SELECT value FROM json_each(?))"  # noqa: S608  # a constant
KEEP = """INSERT INTO notes (scope, id, kind, title, body, description, status, priority, origin, created_at_s,
        updated_at_s, verified_at_s, used_at_s, use_count, expires_at_s, symbols)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope, id) DO UPDATE SET kind = excluded.kind, title = excluded.title, body = excluded.body,
        description = excluded.description, status = excluded.status, priority = excluded.priority,
        origin = excluded.origin, created_at_s = excluded.created_at_s, updated_at_s = excluded.updated_at_s,
        verified_at_s = excluded.verified_at_s, used_at_s = excluded.used_at_s, use_count = excluded.use_count,
        expires_at_s = excluded.expires_at_s, symbols = excluded.symbols
    RETURNING number"""
SOURCES = (
    "SELECT note, path, sha256 FROM note_sources WHERE note IN (SELECT value FROM json_each(?)) ORDER BY note, path"
)
EDGES = """SELECT note, relation, target FROM note_refs WHERE note IN (SELECT value FROM json_each(?))
    ORDER BY note, relation, position"""
KEEP_SOURCE = """INSERT INTO note_sources (note, path, sha256) VALUES (?, ?, ?)
    ON CONFLICT (note, path) DO UPDATE SET sha256 = excluded.sha256, is_changed = 0 WHERE sha256 <> excluded.sha256"""
DROP_SOURCES = "DELETE FROM note_sources WHERE note = ? AND path NOT IN (SELECT value FROM json_each(?))"


def by_number(database: Database, numbers: Sequence[int]) -> dict[int, Note]:
    """Number → its note; inside of a read of the caller."""
    rows = database.execute(BY_NUMBER, (json.dumps(list(numbers)),))
    return {row[0]: note for row, note in _whole(database, rows.fetchall())}


def selected(database: Database, where: str, values: Sequence[str | float | None]) -> tuple[Note, ...]:
    """The notes that the rest of a SELECT statement names, in its order; inside of a read of the caller."""
    rows = database.execute(f"SELECT {COLUMNS} FROM notes {where}", values)  # noqa: S608  # callers pass constants
    return tuple(note for _, note in _whole(database, rows.fetchall()))


def put(database: Database, note: Note) -> int:
    """Keep `note` and its edges, and return its number; inside of a transaction of the caller."""
    texts = (note.scope, note.id, note.kind, note.title, note.body, note.description)
    stamps = (note.created_at_s, note.updated_at_s, note.verified_at_s, note.used_at_s, note.use_count)
    row = (*map(storable, texts), note.status, note.priority, note.origin, *stamps, note.expires_at_s)
    (number,) = database.execute(KEEP, (*row, json.dumps(note.symbols))).fetchone()
    sources = {storable(path): sha256 for path, sha256 in note.sources.items()}
    database.execute(DROP_SOURCES, (number, json.dumps(list(sources))))
    database.executemany(KEEP_SOURCE, [(number, path, sha256) for path, sha256 in sources.items()])
    database.execute("DELETE FROM note_refs WHERE note = ?", (number,))
    edges = (("ref", note.refs), ("supersedes", note.supersedes))
    rows = [
        (number, relation, storable(target), position)
        for relation, targets in edges
        for position, target in enumerate(targets)
    ]
    database.executemany("INSERT OR IGNORE INTO note_refs VALUES (?, ?, ?, ?)", rows)
    return int(number)


def _whole(database: Database, rows: Sequence[tuple[Any, ...]]) -> Iterable[tuple[tuple[Any, ...], Note]]:
    numbers = json.dumps([row[0] for row in rows])
    sources: dict[int, dict[str, str]] = {}
    for number, path, sha256 in database.execute(SOURCES, (numbers,)):
        sources.setdefault(number, {})[path] = sha256
    edges: dict[int, dict[str, list[str]]] = {}
    for number, relation, target in database.execute(EDGES, (numbers,)):
        edges.setdefault(number, {}).setdefault(relation, []).append(target)
    return [(row, _note(row, sources.get(row[0], {}), edges.get(row[0], {}))) for row in rows]


def _note(row: tuple[Any, ...], sources: Mapping[str, str], edges: Mapping[str, Sequence[str]]) -> Note:
    *values, symbols = row[1:]
    note = Note(*values)
    refs, supersedes = (tuple(edges.get(relation, ())) for relation in ("ref", "supersedes"))
    return replace(note, sources=sources, symbols=tuple(json.loads(symbols)), refs=refs, supersedes=supersedes)
