"""What recall is compared with: plain FTS5 with the porter stemmer, agd-memory's floors as published, and the bare rule of coverage."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from live_memory.memory.finding import Finder
from live_memory.notes.note import Note
from live_memory.notes.query import query_of
from live_memory.notes.ranking import idf_of
from live_memory.store.note_store import NoteStore
from live_memory.text.languages import STOP_WORDS

TOP_K = 3
AGD_FLOOR, AGD_RATIO, AGD_MIN_WORDS, AGD_COGNATES = 0.6, 0.35, 3, 2
AGD_BODY_WEIGHT = 0.3
COGNATE_CHARS, COGNATE_WEIGHT = 5, 0.5
BARE_COVERAGE, BARE_WORDS = 0.53, 3  # as measured on long dialogues


class Porter:
    """The notes in an FTS5 table with `tokenize = porter`, asked with any of the prompt's words."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self._notes = notes
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE n USING fts5 (title, body, tokenize = 'porter unicode61')")
        rows = [(i, note.title, note.body) for i, note in enumerate(notes)]
        self._database.executemany("INSERT INTO n (rowid, title, body) VALUES (?, ?, ?)", rows)

    def best(self, text: str) -> list[str]:
        """The ids of the best notes, best first."""
        words = dict.fromkeys(re.findall(r"\w+", text))
        match = " OR ".join(f'"{word}"' for word in words)
        found = self._database.execute("SELECT rowid FROM n WHERE n MATCH ? ORDER BY rank LIMIT 10", (match,))
        return [self._notes[number].id for (number,) in found]


@dataclass(frozen=True, slots=True)
class _Block:
    note_id: str
    curated: frozenset[str]
    body: frozenset[str]


class Agd:
    """agd-memory's auto-recall as its page describes it: overlap of rare words in id and title, halves for cognates, floors
    absolute and relative to the best, a body alone is no match."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self._blocks = [_Block(n.id, _words(f"{n.id} {n.title}"), _words(n.body)) for n in notes]
        held = Counter(word for block in self._blocks for word in block.curated | block.body)
        self._idf = {word: math.log(1 + len(notes) / count) for word, count in held.items()}

    def shown(self, text: str) -> list[str]:
        """The ids of the notes that it would inject."""
        asked = _words(text)
        if len(asked) < AGD_MIN_WORDS:
            return []
        scored = sorted(((self._score(asked, block), block.note_id) for block in self._blocks), reverse=True)
        floor = max(AGD_FLOOR, AGD_RATIO * scored[0][0])
        return [note_id for score, note_id in scored[:TOP_K] if score >= floor]

    def _score(self, asked: frozenset[str], block: _Block) -> float:
        exact = asked & block.curated
        cognates = [(a, b) for a in asked - exact for b in block.curated if _are_cognates(a, b)]
        if not exact and len(cognates) < AGD_COGNATES:
            return 0.0
        by_body = sum(self._idf[word] for word in (asked & block.body) - exact)
        by_cognates = sum(self._idf[other] for _, other in cognates)
        return sum(self._idf[w] for w in exact) + COGNATE_WEIGHT * by_cognates + AGD_BODY_WEIGHT * by_body


def _words(text: str) -> frozenset[str]:
    found = re.findall(r"[^\W\d_]{3,}", text.lower())
    return frozenset(word for word in found if word not in STOP_WORDS["en"])


def _are_cognates(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= COGNATE_CHARS and one[:COGNATE_CHARS] == other[:COGNATE_CHARS]


def bare_coverage(store: NoteStore, scopes: Sequence[str], text: str) -> list[str]:
    """The ids that the rule alone injects: so much of the prompt's IDF mass, at least three words; no word counts less."""
    found = Finder(store, "exact").find(scopes, query_of(text))
    idf = idf_of(found.vocabulary)
    whole = sum(map(idf, found.query.terms)) or 1.0
    shown = [
        each
        for each in found.ranked[:TOP_K]
        if sum(map(idf, each.exact)) / whole >= BARE_COVERAGE and len(each.exact) >= BARE_WORDS
    ]
    return [each.note.id for each in shown]
