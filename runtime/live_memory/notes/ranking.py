"""Which notes answer a question, best first: BM25 over weighted fields, relatives of words, and what stands beside. Pure.

The directions are those of retrieval on short texts (low k1 and b, titles twice, pairs of words, an IDF that is never
negative); the weights were tuned on one half of tests/bench/recall_data and reported on the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from live_memory.notes.candidates import Candidate, Vocabulary
from live_memory.notes.note import Note
from live_memory.notes.query import Query, weak_terms
from live_memory.text.terms import COGNATE_CHARS, cognate_key

UNSEEN_NOTES = 50
MAX_RELATIVES = 4  # of one term; a beginning with more is a common one


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sort of evidence counts beside a word of the body, which counts 1."""

    k1: float = 0.6
    b: float = 0.2
    title: float = 2.0
    description: float = 1.5
    relative: float = 0.4
    pair: float = 0.25
    weak: float = 0.7
    context: float = 0.1


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A note with its score. `exact` are the terms of the question that it holds; `related` those of which it only holds
    a relative, with that; `curated` those of both that stand in its title or description."""

    note: Note
    score: float
    exact: frozenset[str] = frozenset()
    related: Mapping[str, str] = field(default_factory=dict)
    curated: frozenset[str] = frozenset()


Relatives = Mapping[str, Sequence[str]]


def relatives_of(query: Query, vocabulary: Vocabulary) -> Relatives:
    """The terms of the notes that mean the same as a term of the question in another language, or share their beginning with
    it, by that term."""
    found: dict[str, tuple[str, ...]] = {}
    for term in query.terms:
        alike = vocabulary.relatives.get(cognate_key(term), {})
        others = [other for other in query.meanings.get(term, ()) if vocabulary.frequencies.get(other)]
        others += [other for other in alike if other != term and _is_relative(other)]
        if others:
            found[term] = tuple(dict.fromkeys(others))[:MAX_RELATIVES]
    return found


def beginnings_of(query: Query) -> tuple[str, ...]:
    """What to ask a vocabulary for, so that `relatives_of` finds some."""
    return tuple(dict.fromkeys(key for term in query.terms if (key := cognate_key(term))))


def _is_relative(other: str) -> bool:
    return len(other) >= COGNATE_CHARS and other.isalpha()


def idf_of(vocabulary: Vocabulary) -> Callable[[str], float]:
    """What a term tells: more the fewer notes hold it, most where none does; never negative. A small store is taken for part
    of a larger one: that one of three notes holds a word does not make it a common one."""
    notes = vocabulary.notes + UNSEEN_NOTES

    @cache
    def idf(term: str) -> float:
        held_by = min(notes, vocabulary.frequencies.get(term, 0))
        return math.log(1 + (notes - held_by + 0.5) / (held_by + 0.5))

    return idf


def rank(
    query: Query, candidates: Sequence[Candidate], vocabulary: Vocabulary, weights: Weights = WEIGHTS
) -> tuple[Ranked, ...]:
    """The candidates that hold something of the question, best first; of two alike the one updated last."""
    relatives = relatives_of(query, vocabulary) if weights.relative else {}
    idf = idf_of(vocabulary)
    mean_terms = max(1.0, vocabulary.length_terms / max(1, vocabulary.notes))
    scored = [_scored(query, each, relatives, (idf, mean_terms, weights)) for each in candidates]
    beside = _with_context([each for each in scored if each.score > 0], weights.context)
    return tuple(sorted(beside, key=lambda each: (-each.score, -each.note.updated_at_s, each.note.id)))


def _scored(
    query: Query,
    candidate: Candidate,
    relatives: Relatives,
    measure: tuple[Callable[[str], float], float, Weights],
) -> Ranked:
    idf, mean_terms, weights = measure
    norm = weights.k1 * (1 - weights.b + weights.b * candidate.length_terms / mean_terms)
    score = 0.0
    exact: set[str] = set()
    related: dict[str, str] = {}
    curated: set[str] = set()
    for term in query.terms:
        counts, worth = candidate.counts.get(term), 1.0
        tells = idf(term)
        if counts:
            exact.add(term)
        else:
            other = next((other for other in relatives.get(term, ()) if other in candidate.counts), "")
            if not other:
                continue
            related[term], counts, worth = other, candidate.counts[other], weights.relative
            tells = idf(other)
        if term in weak_terms():
            worth *= weights.weak
        often = weights.title * counts[0] + weights.description * counts[1] + counts[2]
        score += worth * tells * often * (weights.k1 + 1) / (often + norm)
        if counts[0] or counts[1]:
            curated.add(term)
    for pair in query.pairs & candidate.pairs:
        score += weights.pair * sum(map(idf, pair)) / 2
    return Ranked(candidate.note, score, frozenset(exact), related, frozenset(curated))


def _with_context(ranked: Iterable[Ranked], weight: float) -> list[Ranked]:
    """A note beside which good ones stand (it cites them, or they it) is a little better for that."""
    kept = list(ranked)
    best: dict[str, float] = {}  # by id: notes of two scopes may bear the same
    for each in kept:
        best[each.note.id] = max(each.score, best.get(each.note.id, 0.0))
    beside: dict[str, float] = {}
    for each in kept:
        for ref in (*each.note.refs, *each.note.supersedes):
            if ref in best:
                beside[ref] = max(beside.get(ref, 0.0), each.score)
                beside[each.note.id] = max(beside.get(each.note.id, 0.0), best[ref])
    return [
        replace(each, score=each.score + weight * beside[each.note.id]) if each.note.id in beside else each
        for each in kept
    ]
