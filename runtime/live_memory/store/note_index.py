"""The index of the notes: which of them hold a term, how often, and how many do in a scope.

Every term is kept under the number of its scope (`7:auth`), so that a question meets the postings of its own scopes only,
and counts of documents are those of the scope. Calls run inside a transaction of the caller. It knows no ranking but a
rough one: what comes back is to be ranked by notes/ranking.py.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from live_memory.notes.candidates import Pair, Vocabulary
from live_memory.notes.columns import Columns, columns_of
from live_memory.notes.note import Note
from live_memory.store.database import Database, Parameters, storable

MAX_BODY_TERMS = 4096  # what stands further down in a long note is not found
MIN_POSTINGS, MAX_POSTINGS = 4_000, 16_000  # that one question ranks: a millisecond for 1,500
POSTINGS_RATIO = 1 / 8  # of the notes, between those: in a large store, each word has more of them
MAX_RELATIVES = 64  # of one beginning
ENOUGH_RATIO = 0.5  # of the candidates wished for
PAIR_REACH = 2  # terms that far apart follow each other
LAST = "\U0010ffff"

# Weighted as notes/ranking.py does. Texts are read afterwards: SQLite would carry those of all rows through its sorting.
SEARCH = """SELECT note_index.rowid FROM note_index WHERE note_index MATCH ?
    ORDER BY bm25(note_index, 2, 1.5, 1), note_index.rowid LIMIT ?"""
SEARCH_WHERE = """SELECT note_index.rowid FROM note_index JOIN notes ON notes.number = note_index.rowid
    WHERE note_index MATCH ? AND ({where}) ORDER BY bm25(note_index, 2, 1.5, 1), note_index.rowid LIMIT ?"""
PASSING = "SELECT number FROM notes WHERE number IN (SELECT value FROM json_each(?)) AND ({where})"
TEXTS = "SELECT rowid, title, description, body FROM note_index WHERE rowid IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question looks for: notes of `scopes` that hold any of `terms`."""

    scopes: Sequence[str]
    terms: Sequence[str]
    limit: int


@dataclass(frozen=True, slots=True)
class Found:
    """A note by its number: how often each wanted term stands in its title, description and body, and which of them
    follow each other, with one word between them at most."""

    number: int
    counts: Mapping[str, tuple[int, int, int]]
    length_terms: int
    pairs: frozenset[Pair]


class NoteIndex:
    """The index over a database that somebody else owns; a note is known to it by its row's number."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # What was counted for the question at hand, so that finding its candidates need not count again.
        self._counted: dict[str, int] = {}

    def put(self, number: int, note: Note) -> None:
        """Index a note, or index it anew."""
        self.put_columns(number, note.scope, columns_of(note))

    def put_columns(self, number: int, scope: str, columns: Columns) -> None:
        self.remove(number)
        row = columns.cut(MAX_BODY_TERMS)
        if not any(row):
            return
        prefix = self._prefix(scope)
        texts = [storable(" ".join(prefix + term for term in terms)) for terms in row]
        insert = "INSERT INTO note_index (rowid, title, description, body) VALUES (?, ?, ?, ?)"
        self._database.execute(insert, (number, *texts))
        self._count(prefix, 1, sum(map(len, row)))

    def remove(self, *numbers: int) -> None:
        """Forget these notes; one that is not indexed is passed over."""
        self._counted.clear()
        for number in numbers:
            read = "SELECT title, description, body FROM note_index WHERE rowid = ?"
            row = self._database.execute(read, (number,)).fetchone()
            if row is None:
                continue
            terms = " ".join(row).split()
            self._database.execute("DELETE FROM note_index WHERE rowid = ?", (number,))
            self._count(terms[0].partition(":")[0] + ":", -1, -len(terms))

    def candidates(self, wanted: Wanted, where: str = "", parameters: Parameters = ()) -> tuple[Found, ...]:
        """The notes that hold the rarer of the wanted terms, the best by a rough ranking first. `where` is a condition on
        the table `notes`. Terms so common that ranking all their notes would take long only count, they do not find."""
        prefixes = self._prefixes(wanted.scopes)
        driving = self._driving(prefixes, wanted.terms)
        self._counted.clear()
        if not driving:
            return ()
        match = " OR ".join(f'"{storable(term)}"' for term in driving)  # no term holds a quote
        numbers = self._matching(match, wanted.limit, where, parameters)
        rows = {row[0]: row for row in self._database.execute(TEXTS, (json.dumps(numbers),))}
        keys = {storable(prefix + term): term for prefix in prefixes for term in wanted.terms}
        return tuple(_found(rows[number], keys) for number in numbers)

    def vocabulary(self, scopes: Sequence[str], terms: Iterable[str], beginnings: Iterable[str] = ()) -> Vocabulary:
        """What the notes of `scopes` say about `terms`, and which terms of theirs begin with `beginnings`."""
        self._counted.clear()
        prefixes = self._prefixes(scopes)
        frequencies: Counter[str] = Counter()
        for term in dict.fromkeys(terms):
            frequencies[term] = sum(self._frequency(prefix + term) for prefix in prefixes)
        relatives: dict[str, dict[str, int]] = {}
        for beginning in dict.fromkeys(beginnings):
            found: Counter[str] = Counter()
            for prefix in prefixes:
                found.update(dict(self._beginning_with(prefix, beginning)))
            relatives[beginning] = dict(found.most_common(MAX_RELATIVES))
        notes, length = (sum(column) for column in zip((0, 0), *prefixes.values(), strict=True))
        return Vocabulary(notes, length, frequencies, relatives)

    def _matching(self, match: str, limit: int, where: str, parameters: Parameters) -> list[int]:
        """The numbers of the best notes that match and pass. Most notes pass mostly: the condition is first tried on the best
        alone, and on all that match only where too few of those pass."""
        best = [number for (number,) in self._database.execute(SEARCH, (match, limit))]
        if not where:
            return best
        passing = PASSING.format(where=where)
        kept = {number for (number,) in self._database.execute(passing, (json.dumps(best), *parameters))}
        if len(best) < limit or len(kept) >= limit * ENOUGH_RATIO:
            return [number for number in best if number in kept]
        statement = SEARCH_WHERE.format(where=where)
        return [number for (number,) in self._database.execute(statement, (match, *parameters, limit))]

    def _driving(self, prefixes: Mapping[str, tuple[int, int]], terms: Iterable[str]) -> list[str]:
        """The rarest terms whose postings can be ranked in time; at least one that has any."""
        keys = [prefix + term for prefix in prefixes for term in dict.fromkeys(terms)]
        ranked = sorted((count, key) for key in keys if (count := self._frequency(key)))
        notes = sum(count for count, _ in prefixes.values())
        room = min(MAX_POSTINGS, max(MIN_POSTINGS, int(notes * POSTINGS_RATIO)))
        driving: list[str] = []
        postings = 0
        for count, key in ranked:
            postings += count
            if driving and postings > room:
                break
            driving.append(key)
        return driving

    def _frequency(self, key: str) -> int:
        if key not in self._counted:
            read = "SELECT doc FROM note_vocabulary WHERE term = ?"
            row = self._database.execute(read, (storable(key),)).fetchone()
            self._counted[key] = int(row[0]) if row else 0
        return self._counted[key]

    def _beginning_with(self, prefix: str, beginning: str) -> Iterator[tuple[str, int]]:
        between = "SELECT term, doc FROM note_vocabulary WHERE term >= ? AND term < ?"
        key = storable(prefix + beginning)
        for term, count in self._database.execute(between, (key, key + LAST)):
            self._counted[term] = count
            yield term.partition(":")[2], count

    def _prefixes(self, scopes: Sequence[str]) -> dict[str, tuple[int, int]]:
        """The prefix of each scope that holds notes → how many, and how many terms."""
        prefixes: dict[str, tuple[int, int]] = {}
        for scope in dict.fromkeys(scopes):
            read = "SELECT number, notes, terms FROM note_scopes WHERE scope = ? AND notes > 0"
            for number, notes, terms in self._database.execute(read, (storable(scope),)):
                prefixes[f"{number}:"] = (notes, terms)
        return prefixes

    def _prefix(self, scope: str) -> str:
        self._database.execute("INSERT OR IGNORE INTO note_scopes (scope) VALUES (?)", (storable(scope),))
        read = "SELECT number FROM note_scopes WHERE scope = ?"
        return f"{self._database.execute(read, (storable(scope),)).fetchone()[0]}:"

    def _count(self, prefix: str, notes: int, terms: int) -> None:
        add = "UPDATE note_scopes SET notes = notes + ?, terms = terms + ? WHERE number = ?"
        self._database.execute(add, (notes, terms, int(prefix[:-1])))


def _found(row: tuple[int, str, str, str], keys: Mapping[str, str]) -> Found:
    number, *texts = row
    counts: dict[str, list[int]] = {}
    pairs: set[Pair] = set()
    length = 0
    for column, text in enumerate(texts):
        held = text.split(" ") if text else []
        length += len(held)
        before, before_at = "", -PAIR_REACH - 1
        for at, key in enumerate(held):
            if key in keys:
                term = keys[key]
                counts.setdefault(term, [0, 0, 0])[column] += 1
                if at - before_at <= PAIR_REACH:
                    pairs.add((before, term))
                before, before_at = term, at
    return Found(number, {term: (c[0], c[1], c[2]) for term, c in counts.items()}, length, frozenset(pairs))


@dataclass(slots=True)
class InMemoryNoteIndex:
    """The same over dictionaries."""

    _entries: dict[int, tuple[str, tuple[list[str], list[str], list[str]]]] = field(default_factory=dict)

    def put(self, number: int, note: Note) -> None:
        self._entries[number] = (note.scope, columns_of(note).cut(MAX_BODY_TERMS))

    def remove(self, *numbers: int) -> None:
        for number in numbers:
            self._entries.pop(number, None)

    def candidates(self, wanted: Wanted, passes: frozenset[int] | None = None) -> tuple[Found, ...]:
        """As the other's; `passes` are the numbers of the notes that may be found, None all."""
        known = {term: term for term in wanted.terms}
        found = [
            _found((number, " ".join(columns[0]), " ".join(columns[1]), " ".join(columns[2])), known)
            for number, (scope, columns) in self._entries.items()
            if scope in wanted.scopes and (passes is None or number in passes)
        ]
        rare = self.vocabulary(wanted.scopes, wanted.terms).frequencies
        weight = {one.number: sum(sum(c) / rare[term] for term, c in one.counts.items()) for one in found}
        ranked = sorted((one for one in found if one.counts), key=lambda one: (-weight[one.number], one.number))
        return tuple(ranked[: wanted.limit])

    def vocabulary(self, scopes: Sequence[str], terms: Iterable[str], beginnings: Iterable[str] = ()) -> Vocabulary:
        held: Counter[str] = Counter()
        notes = length = 0
        for scope, columns in self._entries.values():
            words = [term for column in columns for term in column]
            if scope in scopes and words:
                notes, length = notes + 1, length + len(words)
                held.update(set(words))
        frequencies = Counter({term: held[term] for term in terms})
        relatives = {
            beginning: dict(
                Counter({t: n for t, n in held.items() if t.startswith(beginning)}).most_common(MAX_RELATIVES)
            )
            for beginning in beginnings
        }
        return Vocabulary(notes, length, frequencies, relatives)
