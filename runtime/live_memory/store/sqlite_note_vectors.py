"""The notes' vectors in the database file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from live_memory.notes.vectors import Vector, packed, signs, unpacked
from live_memory.store.database import Database, storable
from live_memory.store.note_store import Key
from live_memory.store.note_vectors import Signed, WantedText

WANT = """INSERT OR IGNORE INTO note_vectors_wanted
    SELECT number FROM notes LEFT JOIN note_vectors ON note = number AND model = ?
    WHERE note IS NULL AND kind <> 'state'"""
WANTED = """SELECT number, title, description, body FROM note_vectors_wanted JOIN notes ON number = note
    WHERE kind <> 'state' ORDER BY note DESC LIMIT ?"""
ONE_WANTED = """SELECT number, title, description, body, scope FROM note_vectors_wanted JOIN notes ON number = note
    WHERE note = ?"""
KEEP = """INSERT INTO note_vectors (note, model, text_sha256, signs, vector) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (note) DO UPDATE SET model = excluded.model, text_sha256 = excluded.text_sha256, signs = excluded.signs,
        vector = excluded.vector"""
COUNT = """SELECT (SELECT count(*) FROM note_vectors WHERE model = ?),
    (SELECT count(*) FROM notes WHERE kind <> 'state')"""
SIGNED = """SELECT note, scope, signs FROM note_vectors JOIN notes ON number = note
    WHERE model = ? AND note > ? ORDER BY note LIMIT ?"""
BY_NUMBER = """SELECT scope, id, vector FROM note_vectors JOIN notes ON number = note
    WHERE note IN (SELECT value FROM json_each(?)) AND model = ?"""
BY_KEY = (
    "SELECT scope, id, vector FROM notes JOIN note_vectors ON note = number WHERE scope = ? AND id = ? AND model = ?"
)


class SqliteNoteVectors:
    """The NoteVectors port over a database that somebody else owns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def want(self, model: str) -> None:
        self._database.write(lambda: self._database.execute(WANT, (storable(model),)))

    def wanted(self, limit: int) -> tuple[WantedText, ...]:
        rows = self._database.read(lambda: self._database.execute(WANTED, (limit,)).fetchall())
        return tuple(WantedText(*row) for row in rows)

    def keep(self, model: str, vectors: Sequence[tuple[WantedText, Vector[float]]]) -> tuple[Signed, ...]:
        def work() -> tuple[Signed, ...]:
            kept = (self._keep(storable(model), text, vector) for text, vector in vectors)
            return tuple(signed for signed in kept if signed is not None)

        return self._database.write(work)

    def count(self, model: str) -> tuple[int, int]:
        have, there = self._database.read(lambda: self._database.execute(COUNT, (storable(model),)).fetchone())
        return have, there

    def signed(self, model: str, after: int, limit: int) -> tuple[Signed, ...]:
        values = (storable(model), after, limit)
        rows = self._database.read(lambda: self._database.execute(SIGNED, values).fetchall())
        return tuple(Signed(number, scope, int.from_bytes(raw)) for number, scope, raw in rows)

    def vectors(self, model: str, numbers: Iterable[int], keys: Iterable[Key]) -> Mapping[Key, Vector[float]]:
        listed, named = json.dumps(list(numbers)), tuple(keys)

        def read() -> dict[Key, Vector[float]]:
            rows = self._database.execute(BY_NUMBER, (listed, storable(model))).fetchall()
            found = {(scope, note_id): unpacked(raw) for scope, note_id, raw in rows}
            for key in named:
                if key not in found:
                    for scope, note_id, raw in self._database.execute(BY_KEY, (*map(storable, key), storable(model))):
                        found[scope, note_id] = unpacked(raw)
            return found

        return self._database.read(read)

    def _keep(self, model: str, text: WantedText, vector: Vector[float]) -> Signed | None:
        row = self._database.execute(ONE_WANTED, (text.number,)).fetchone()
        if row is None or WantedText(*row[:4]) != text:
            return None
        width = (len(vector) + 7) // 8
        digest, bits = sha256(text.text.encode("utf-8", "backslashreplace")).digest(), signs(vector)
        self._database.execute(KEEP, (text.number, model, digest, bits.to_bytes(width), packed(vector)))
        self._database.execute("DELETE FROM note_vectors_wanted WHERE note = ?", (text.number,))
        return Signed(text.number, row[4], bits)
