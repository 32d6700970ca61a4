"""Notes, their edges and their audit log in the database file; the index follows each write."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from live_memory.notes.candidates import Candidate, Vocabulary
from live_memory.notes.note import Note
from live_memory.notes.note_json import from_json, to_json
from live_memory.store import note_rows
from live_memory.store.database import Database, storable
from live_memory.store.note_changes import key_of, later_expiry, places, settled
from live_memory.store.note_index import NoteIndex, Wanted
from live_memory.store.note_store import EVERYTHING, Change, Key, Sieve, Tally

IN_LIST = "IN (SELECT value FROM json_each(?))"
ON_PATH = "number IN (SELECT note FROM note_sources WHERE path = ? OR (path >= ? AND path < ?))"
WITH_SYMBOL = "EXISTS (SELECT 1 FROM json_each(symbols) WHERE value = ?)"
LOG_COLUMNS = "action, before, after, at_s, actor, reason, batch, number"  # as Change's fields
KEEP_CHANGE = """INSERT INTO note_log (at_s, scope, id, action, actor, reason, batch, before, after)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
TOUCH = """UPDATE notes SET use_count = use_count + 1, used_at_s = max(used_at_s, ?) WHERE scope = ? AND id = ?"""
RENEW = "UPDATE notes SET expires_at_s = ? WHERE number = ?"
KNOW_TREE = """INSERT INTO trees VALUES (?, ?, ?)
    ON CONFLICT (root) DO UPDATE SET repo_id = excluded.repo_id, seen_at_s = excluded.seen_at_s"""
BACKLINKS = f"""SELECT DISTINCT target, id FROM note_refs JOIN notes ON number = note
    WHERE target {IN_LIST} AND scope {IN_LIST} ORDER BY target, id"""  # noqa: S608  # a constant

BY_USE = "status <> 'open', use_count DESC, max(used_at_s, updated_at_s) DESC, id"
TALLY = f"""SELECT kind, status, coalesce(expires_at_s <= ?, 0) AS is_expired, count(*),
        sum(length(CAST(title || description || body AS BLOB)))
    FROM notes WHERE scope {IN_LIST} GROUP BY kind, status, is_expired ORDER BY kind, status, is_expired"""  # noqa: S608  # a constant


class SqliteNoteStore:
    """The NoteStore port over a database that somebody else owns; the facts are in the same tables."""

    def __init__(self, database: Database, index: NoteIndex) -> None:
        self._database = database
        self._index = index

    def apply(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        planned = tuple(changes)
        if not planned:
            return ()
        return self._database.write(lambda: tuple(self._make(change) for change in planned))

    def get(self, keys: Iterable[Key]) -> tuple[Note, ...]:
        wanted = tuple(keys)
        return self._database.read(lambda: tuple(note for key in wanted if (note := self._one(key)) is not None))

    def notes(self, scopes: Sequence[str], sieve: Sieve = EVERYTHING) -> tuple[Note, ...]:
        where, values = condition(scopes, sieve)
        rest = f"WHERE {where} ORDER BY updated_at_s DESC, number"
        return self._database.read(lambda: note_rows.selected(self._database, rest, values))

    def page(self, scopes: Sequence[str], after: Key | None, limit: int) -> tuple[Note, ...]:
        where, values = (
            f"scope {IN_LIST} AND (scope, id) > (?, ?)",
            (_listed(scopes), *map(storable, after or ("", ""))),
        )
        rest = f"WHERE {where} ORDER BY scope, id LIMIT ?"
        return self._database.read(lambda: note_rows.selected(self._database, rest, (*values, limit)))

    def count(self, scopes: Sequence[str], sieve: Sieve = EVERYTHING) -> int:
        where, values = condition(scopes, sieve)
        counted = f"SELECT count(*) FROM notes WHERE {where}"  # noqa: S608  # made of constants
        return int(self._rows(counted, values)[0][0])

    def most_used(self, scopes: Sequence[str], sieve: Sieve, limit: int) -> tuple[Note, ...]:
        where, values = condition(scopes, sieve)
        best = f"SELECT number FROM notes WHERE {where} ORDER BY {BY_USE} LIMIT ?"  # noqa: S608  # made of constants
        rest = f"WHERE number IN ({best}) ORDER BY {BY_USE}"
        return self._database.read(lambda: note_rows.selected(self._database, rest, (*values, limit)))

    def tally(self, scopes: Sequence[str], now_s: float) -> tuple[Tally, ...]:
        rows = self._rows(TALLY, (now_s, _listed(scopes)))
        return tuple(Tally(kind, status, bool(expired), *counts) for kind, status, expired, *counts in rows)

    def candidates(
        self, scopes: Sequence[str], terms: Sequence[str], limit: int, sieve: Sieve = EVERYTHING
    ) -> tuple[Candidate, ...]:
        where, values = ("", []) if sieve == EVERYTHING else condition(scopes, sieve)

        def read() -> tuple[Candidate, ...]:
            found = self._index.candidates(Wanted(scopes, terms, limit), where, values)
            notes = note_rows.by_number(self._database, [one.number for one in found])
            return tuple(Candidate(notes[one.number], one.counts, one.length_terms, one.pairs) for one in found)

        return self._database.read(read)

    def vocabulary(self, scopes: Sequence[str], terms: Iterable[str], beginnings: Iterable[str] = ()) -> Vocabulary:
        wanted = (scopes, tuple(terms), tuple(beginnings))
        return self._database.read(lambda: self._index.vocabulary(*wanted))

    def backlinks(self, scopes: Sequence[str], ids: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for target, source in self._rows(BACKLINKS, (_listed(ids), _listed(scopes))):
            found[target] = (*found.get(target, ()), source)
        return found

    def touch(self, keys: Iterable[Key], at_s: float, expires_at_s: Mapping[Key, float | None]) -> None:
        touched = tuple(dict.fromkeys(keys))
        if touched:
            self._database.write(lambda: self._touch(touched, at_s, expires_at_s))

    def log(self, scopes: Sequence[str], limit: int, batch: str = "") -> tuple[Change, ...]:
        where, values = f"scope {IN_LIST}", [_listed(scopes)]
        if batch:
            where, values = f"{where} AND batch = ?", [*values, storable(batch)]
        rest = f"FROM note_log WHERE {where} ORDER BY number DESC LIMIT ?"
        return tuple(_change(row) for row in self._rows(f"SELECT {LOG_COLUMNS} {rest}", (*values, limit)))

    def batch(self, name: str, limit: int, before: int | None = None) -> tuple[Change, ...]:
        rest = "FROM note_log WHERE batch = ? AND batch <> '' AND number < ? ORDER BY number DESC LIMIT ?"
        values = (storable(name), sys.maxsize if before is None else before, limit)
        return tuple(_change(row) for row in self._rows(f"SELECT {LOG_COLUMNS} {rest}", values))

    def changes(self, numbers: Iterable[int]) -> tuple[Change, ...]:
        rest = f"FROM note_log WHERE number {IN_LIST} ORDER BY number"
        listed = json.dumps(list(numbers))
        return tuple(_change(row) for row in self._rows(f"SELECT {LOG_COLUMNS} {rest}", (listed,)))

    def trim_log(self, before_s: float) -> int:
        trim = "DELETE FROM note_log WHERE at_s < ?"
        return self._database.write(lambda: self._database.execute(trim, (before_s,)).rowcount)

    def know_tree(self, root: str, repo_id: str, at_s: float) -> str:
        known = "SELECT repo_id FROM trees WHERE root = ?"

        def work() -> str:
            before = self._database.execute(known, (storable(root),)).fetchone()
            self._database.execute(KNOW_TREE, (storable(root), storable(repo_id), at_s))
            return str(before[0]) if before else ""

        return self._database.write(work)

    def repo_of(self, root: str) -> str:
        rows = self._rows("SELECT repo_id FROM trees WHERE root = ?", (storable(root),))
        return str(rows[0][0]) if rows else ""

    def trees(self, repo_id: str) -> tuple[str, ...]:
        rows = self._rows("SELECT root FROM trees WHERE repo_id = ? ORDER BY root", (storable(repo_id),))
        return tuple(root for (root,) in rows)

    def scopes(self) -> Mapping[str, int]:
        counted = "SELECT scope, count(*) FROM notes WHERE kind <> 'fact' GROUP BY scope ORDER BY scope"
        return dict(self._rows(counted, ()))

    def _rows(self, statement: str, values: Sequence[str | float | None]) -> Sequence[tuple[Any, ...]]:
        return self._database.read(lambda: self._database.execute(statement, values).fetchall())

    def _one(self, key: Key) -> Note | None:
        found = note_rows.selected(self._database, "WHERE scope = ? AND id = ?", tuple(map(storable, key)))
        return found[0] if found else None

    def _make(self, change: Change) -> Change:
        source, *target = places(change)
        change = settled(change, self._one(source), self._one(target[0]) if target else None)
        if change.before is not None and (change.after is None or target):
            self._drop(change.before)
        if change.after is not None:
            self._index.put(note_rows.put(self._database, change.after), change.after)
        texts = [None if note is None else json.dumps(to_json(note)) for note in (change.before, change.after)]
        named = (*map(storable, change.key), change.action, change.actor, change.reason, change.batch)
        kept = self._database.execute(KEEP_CHANGE, (change.at_s, *named, *texts))
        return replace(change, number=int(kept.lastrowid or 0))

    def _drop(self, note: Note) -> None:
        dropped = "DELETE FROM notes WHERE scope = ? AND id = ? RETURNING number"
        rows = self._database.execute(dropped, tuple(map(storable, key_of(note)))).fetchall()
        self._index.remove(*(number for (number,) in rows))

    def _touch(self, keys: Sequence[Key], at_s: float, expires_at_s: Mapping[Key, float | None]) -> None:
        execute = self._database.execute
        for key in keys:
            execute(TOUCH, (at_s, *map(storable, key)))
        for key in expires_at_s.keys() & set(keys):
            row = execute(
                "SELECT expires_at_s, number FROM notes WHERE scope = ? AND id = ?", tuple(map(storable, key))
            )
            for kept, number in row.fetchall():
                execute(RENEW, (later_expiry(kept, expires_at_s[key]), number))


def condition(scopes: Sequence[str], sieve: Sieve) -> tuple[str, list[str | float | None]]:
    """The condition on `notes`, and its values, for the notes of `scopes` that pass."""
    wanted: list[tuple[str, tuple[str | float, ...]]] = [(f"scope {IN_LIST}", (_listed(scopes),))]
    if sieve.kinds:
        wanted.append((f"kind {IN_LIST}", (_listed(sieve.kinds),)))
    if sieve.but_kinds:
        wanted.append((f"kind NOT {IN_LIST}", (_listed(sieve.but_kinds),)))
    if sieve.statuses:
        wanted.append((f"status {IN_LIST}", (_listed(sieve.statuses),)))
    if sieve.but_statuses:
        wanted.append((f"status NOT {IN_LIST}", (_listed(sieve.but_statuses),)))
    if sieve.since_s:
        wanted.append(("updated_at_s >= ?", (sieve.since_s,)))
    if sieve.symbol:
        wanted.append((WITH_SYMBOL, (storable(sieve.symbol),)))
    if folder := storable(sieve.path).rstrip("/"):
        wanted.append((ON_PATH, (folder, folder + "/", folder + "0")))  # `0` follows `/`
    if sieve.alive_at_s is not None:
        wanted.append(("(expires_at_s IS NULL OR expires_at_s > ?)", (sieve.alive_at_s,)))
    return " AND ".join(each for each, _ in wanted), [value for _, values in wanted for value in values]


def _listed(texts: Iterable[str]) -> str:
    return json.dumps([storable(text) for text in texts])


def _change(row: tuple[Any, ...]) -> Change:
    action, before, after, *rest = row
    return Change(action, _logged(before), _logged(after), *rest)


def _logged(text: str | None) -> Note | None:
    return None if text is None else from_json(json.loads(text))
