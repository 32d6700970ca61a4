"""Notes in the database file, indexed by their terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from live_memory.notes.columns import columns_of_fact
from live_memory.notes.note import Fact
from live_memory.notes.relevance import bearing, query_terms
from live_memory.store.database import Database, storable
from live_memory.store.note_index import NoteIndex, Wanted

CANDIDATES = 8  # for each fact wished: what ranks well may still share too little with the question

KEEP = """INSERT INTO notes (id, scope, body, created_at_s, updated_at_s, verified_at_s) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope, id) DO UPDATE SET verified_at_s = excluded.verified_at_s, updated_at_s = excluded.updated_at_s
    RETURNING number"""
FACTS = "SELECT number, id, body, created_at_s, verified_at_s, use_count FROM notes WHERE scope = ? AND kind = 'fact'"
FACT = "SELECT number, id, body, created_at_s, verified_at_s, use_count FROM notes WHERE number = ?"
SOURCES = """SELECT note, path, sha256, is_changed FROM note_sources
    WHERE note IN (SELECT number FROM notes WHERE scope = ?) ORDER BY note, path"""
SOURCES_OF_ONE = "SELECT note, path, sha256, is_changed FROM note_sources WHERE note = ? ORDER BY path"
FRESH_ON_PATH = """SELECT number, id, body, created_at_s, verified_at_s, use_count FROM notes
    WHERE scope = ? AND number IN (SELECT note FROM note_sources WHERE path = ? AND sha256 IS NOT ?)
    AND NOT EXISTS (SELECT 1 FROM note_sources WHERE note = number AND is_changed)
    ORDER BY number"""
STALE = """SELECT number, id, body, created_at_s, verified_at_s, use_count FROM notes
    WHERE scope = ? AND number IN (SELECT note FROM note_sources WHERE is_changed) ORDER BY number"""
COMPARE = """UPDATE note_sources SET is_changed = sha256 IS NOT ?3
    WHERE path = ?2 AND note IN (SELECT number FROM notes WHERE scope = ?1)"""

NoteRow = tuple[int, str, str, float, float, int]
SourceRow = tuple[int, str, str, int]


class SqliteNotes:
    """The Notes port over a database that somebody else owns."""

    def __init__(self, database: Database, index: NoteIndex) -> None:
        self._database = database
        self._index = index

    def add(self, root: str, facts: Iterable[Fact]) -> None:
        kept = tuple(facts)
        self._database.write(lambda: self.insert(root, kept))

    def insert(self, root: str, facts: Sequence[Fact]) -> None:
        """As `add`, inside a transaction of the caller."""
        execute = self._database.execute
        for fact in facts:
            stamps = (fact.created_at_s, fact.verified_at_s, fact.verified_at_s)
            (number,) = execute(KEEP, (fact.id, storable(root), storable(fact.text), *stamps)).fetchone()
            execute("DELETE FROM note_sources WHERE note = ?", (number,))
            for path, sha256 in fact.sources.items():
                row_of_source = (number, storable(path), sha256, path in fact.changed)
                execute("INSERT INTO note_sources VALUES (?, ?, ?, ?)", row_of_source)
            self._index.put_columns(number, root, columns_of_fact(fact))

    def facts(self, root: str) -> tuple[Fact, ...]:
        def read() -> tuple[Fact, ...]:
            sources: dict[int, list[SourceRow]] = {}
            for source in self._database.execute(SOURCES, (storable(root),)):
                sources.setdefault(source[0], []).append(source)
            rows = self._database.execute(FACTS + " ORDER BY number", (storable(root),))
            return tuple(_fact(row, sources.get(row[0], ())) for row in rows)

        return self._database.read(read)

    def search(self, root: str, question: str, limit: int) -> tuple[Fact, ...]:
        wanted = query_terms(question)
        if not wanted:
            return ()

        def read() -> tuple[Fact, ...]:
            found = self._index.candidates(Wanted((root,), wanted, limit * CANDIDATES))
            rows = [self._database.execute(FACT, (one.number,)).fetchone() for one in found]
            return bearing(wanted, self._with_sources(rows))[:limit]

        return self._database.read(read)

    def count_use(self, root: str, facts: Iterable[Fact]) -> None:
        keys = [(storable(root), fact.id) for fact in facts]
        if keys:
            count = "UPDATE notes SET use_count = use_count + 1 WHERE scope = ? AND id = ?"
            self._database.write(lambda: self._database.executemany(count, keys))

    def stale(self, root: str) -> tuple[Fact, ...]:
        return self._database.read(
            lambda: self._with_sources(self._database.execute(STALE, (storable(root),)).fetchall())
        )

    def demote(self, root: str, path: str, sha256_now: str | None) -> tuple[Fact, ...]:
        def work() -> tuple[Fact, ...]:
            key = (storable(root), storable(path), sha256_now)
            rows = self._database.execute(FRESH_ON_PATH, key).fetchall()
            self._database.execute(COMPARE, key)
            return self._with_sources(rows)

        return self._database.write(work)

    def forget(self, root: str) -> None:
        self._database.write(lambda: self.delete(root))

    def delete(self, root: str) -> None:
        """As `forget`, inside a transaction of the caller."""
        key = (storable(root),)
        numbers = self._database.execute("SELECT number FROM notes WHERE scope = ? AND kind = 'fact'", key).fetchall()
        self._index.remove(*(number for (number,) in numbers))
        self._database.execute("DELETE FROM notes WHERE scope = ? AND kind = 'fact'", key)

    def _with_sources(self, rows: Iterable[NoteRow]) -> tuple[Fact, ...]:
        return tuple(_fact(row, self._database.execute(SOURCES_OF_ONE, (row[0],)).fetchall()) for row in rows)


def _fact(row: NoteRow, sources: Iterable[SourceRow]) -> Fact:
    _, fact_id, body, created_at_s, verified_at_s, use_count = row
    rows = tuple(sources)
    hashes = {path: sha256 for _, path, sha256, _ in rows}
    changed = frozenset(path for _, path, _, is_changed in rows if is_changed)
    return Fact(fact_id, body, hashes, changed, created_at_s, verified_at_s, use_count)
