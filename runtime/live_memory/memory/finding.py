"""The way from a text to ranked notes, for search and recall alike: vocabulary, candidates, ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from live_memory.notes.candidates import Vocabulary
from live_memory.notes.query import Query
from live_memory.notes.ranking import WEIGHTS, Ranked, Weights, beginnings_of, rank, relatives_of
from live_memory.store.note_store import EVERYTHING, NoteStore, Sieve

CANDIDATES = 64

Words = Literal["exact", "related"]


@dataclass(frozen=True, slots=True)
class Found:
    """Notes for a query, best first, and what the notes of its scopes say about its terms."""

    query: Query
    vocabulary: Vocabulary
    ranked: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class Finder:
    """Ranks the notes of a store; with `exact` words only, relatives of words do not count."""

    store: NoteStore
    words: Words = "related"
    weights: Weights = WEIGHTS

    def find(self, scopes: Sequence[str], query: Query, sieve: Sieve = EVERYTHING, limit: int = CANDIDATES) -> Found:
        """The best of at most `limit` candidates."""
        if self.words == "exact":
            query = replace(query, meanings={})
        beginnings = beginnings_of(query) if self.words == "related" else ()
        meant = (other for others in query.meanings.values() for other in others)
        vocabulary = self.store.vocabulary(scopes, (*query.terms, *meant), beginnings)
        relatives = {other: count for held in vocabulary.relatives.values() for other, count in held.items()}
        vocabulary = replace(vocabulary, frequencies={**relatives, **vocabulary.frequencies})
        related = (other for others in relatives_of(query, vocabulary).values() for other in others)
        wanted = tuple(dict.fromkeys((*query.terms, *related)))
        candidates = self.store.candidates(scopes, wanted, limit, sieve) if wanted else ()
        return Found(query, vocabulary, rank(query, candidates, vocabulary, self.weights))
