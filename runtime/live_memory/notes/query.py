"""What somebody asks of the notes, as terms: those that carry meaning, which stand side by side, which are mere names. Pure;
no text makes it raise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from live_memory.text.languages import STOP_PAIRS, STOP_WORDS, WEAK_WORDS, language_of
from live_memory.text.terms import CJK_RUN, TOKEN, fold, stem, terms, without_marks

MAX_TERMS = 64  # of a question; what is pasted below it says less and less
MAX_CHARS = 10_000  # that are looked at
NOUNS_ARE_CAPITALS = "de"
CJK_WORTH = 0.5  # of a pair of characters, as a word: a word is two pairs, for they overlap
_NAME = re.compile(r"[A-Z][a-z]+")
_SENTENCE_END = re.compile(r"[.!?:\n\"'(\[\u201c\u300c-]\s*$")


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` are distinct and in order, `pairs` those that follow each other, `names` those that are only written as names."""

    terms: tuple[str, ...]
    pairs: frozenset[tuple[str, str]] = frozenset()
    names: frozenset[str] = frozenset()

    @property
    def words(self) -> float:
        """How many words these are."""
        return sum(worth(term) for term in self.terms)


def query_of(text: str, stop: frozenset[str] = frozenset()) -> Query:
    """The meaning of `text`: the words without meaning of its own language and those in `stop` (terms) are left out."""
    text = text[:MAX_CHARS]
    language = language_of(fold(text).split())
    left_out = stop | stop_terms("en") | stop_terms(language)
    kept = [term for term in terms(text) if term not in left_out and term not in STOP_PAIRS]
    distinct = tuple(dict.fromkeys(kept))[:MAX_TERMS]
    pairs = frozenset(pairwise(distinct))
    return Query(distinct, pairs, frozenset() if language == NOUNS_ARE_CAPITALS else names_of(text))


def names_of(text: str) -> frozenset[str]:
    """The terms of `text` that stand in it with a capital letter alone, inside of a sentence."""
    text = without_marks(text)
    names, others = set(), set()
    for match in TOKEN.finditer(text):
        word = match.group()
        term = stem(fold(word))
        if not _NAME.fullmatch(word):
            others.add(term)
        elif match.start() and not _SENTENCE_END.search(text, max(0, match.start() - 4), match.start()):
            names.add(term)
    return frozenset(names - others)


@cache
def stop_terms(language: str) -> frozenset[str]:
    """The terms of the words without meaning of a language; empty for one that is not built in."""
    return frozenset(terms_of_words(STOP_WORDS.get(language, ())))


@cache
def weak_terms() -> frozenset[str]:
    """Terms that prompts about any code use."""
    return frozenset(terms_of_words(WEAK_WORDS))


def terms_of_words(words: Iterable[str]) -> list[str]:
    return [stem(fold(word)) for word in words]


def worth(term: str) -> float:
    """What a term counts, in words."""
    return CJK_WORTH if CJK_RUN.fullmatch(term) else 1.0
