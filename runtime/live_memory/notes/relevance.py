"""Whether a fact bears on a question. Pure; no text makes it raise."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from live_memory.notes.note import Fact
from live_memory.text.languages import STOP_WORDS, language_of
from live_memory.text.terms import fold, stem, terms

MAX_QUERY_TERMS = 64  # of a question; what is pasted below it says less and less
MIN_SHARED_TERMS = 2  # one common word alone is chance
MIN_TELLING_CHARS = 9  # but for a long one, or one that only code has


def query_terms(text: str) -> tuple[str, ...]:
    """The distinct terms of a question that carry meaning, in order, at most MAX_QUERY_TERMS."""
    stop = _stop_terms("en") | _stop_terms(language_of(fold(text).split()))
    return tuple(dict.fromkeys(term for term in terms(text) if term not in stop))[:MAX_QUERY_TERMS]


def bearing(question: Iterable[str], facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Those of `facts` that share enough with the terms of a question to be shown with it; their order is kept."""
    wanted = frozenset(question)
    return tuple(fact for fact in facts if _bears(wanted, wanted & frozenset(terms(fact.text))))


def _bears(wanted: frozenset[str], shared: frozenset[str]) -> bool:
    if len(shared) >= min(MIN_SHARED_TERMS, len(wanted)):
        return bool(shared)
    return any(len(term) >= MIN_TELLING_CHARS or not term.isalpha() for term in shared)


@cache
def _stop_terms(language: str) -> frozenset[str]:
    return frozenset(stem(word) for word in STOP_WORDS.get(language, ()))
