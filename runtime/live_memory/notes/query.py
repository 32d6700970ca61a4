"""What somebody asks of the notes, as terms: those that carry meaning, which stand side by side, which are mere names. Pure;
no text makes it raise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from live_memory.text.languages import (
    CJK_GLOSSARY,
    EVERYDAY_WORDS,
    STOP_PAIRS,
    STOP_WORDS,
    WEAK_WORDS,
    in_english,
    language_of,
)
from live_memory.text.terms import CJK_RUN, TOKEN, fold, stem, terms, without_marks

MAX_TERMS = 64  # of a question; what is pasted below it says less and less
MAX_CHARS = 10_000  # that are looked at
NOUNS_ARE_CAPITALS = "de"
PAIR_WORTH = 0.75  # of a pair of Chinese, Japanese or Korean characters, in words: pairs overlap
PARTS_A_WORD = 2  # an identifier of two parts says as much as a word, however many terms it makes
_NAME = re.compile(r"[A-Z][a-z]+")
_SENTENCE_BEGINS = re.compile(r"[.!?:\n\"'(\[\u201c\u300c-]\s*$")
_LOOK_BACK_CHARS = 4


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` are distinct and in order, `pairs` those that follow each other, `names` those that are only written as names;
    `worths` says how much of a word a term is, where it is not one; `meanings` which English terms one of another language
    may stand for."""

    terms: tuple[str, ...]
    pairs: frozenset[tuple[str, str]] = frozenset()
    names: frozenset[str] = frozenset()
    worths: Mapping[str, float] = field(default_factory=dict)
    meanings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def words(self) -> float:
        """How many words these are."""
        return sum(map(self.worth, self.terms))

    def worth(self, term: str) -> float:
        known = self.worths.get(term)
        if known is not None or term.isascii():
            return 1.0 if known is None else known
        return PAIR_WORTH if CJK_RUN.fullmatch(term) else 1.0

    def without_short(self, min_chars: int) -> Query:
        """The query without the words that are shorter than that; pairs of characters stay."""
        kept = tuple(term for term in self.terms if len(term) >= min_chars or not term.isascii())
        return replace(self, terms=kept, pairs=frozenset(pairwise(kept)))


def query_of(text: str, stop: frozenset[str] = frozenset()) -> Query:
    """The meaning of `text`: the words without meaning of English, of its own language and those in `stop` (terms) are left
    out."""
    text = text[:MAX_CHARS]
    language = language_of(fold(text).split())
    left_out = stop | stop_terms("en") | stop_terms(language)
    kept = [term for term in terms(text) if term not in left_out and term not in STOP_PAIRS]
    distinct = tuple(dict.fromkeys(kept))[:MAX_TERMS]
    names = frozenset[str]() if language == NOUNS_ARE_CAPITALS else names_of(text)
    return Query(distinct, frozenset(pairwise(distinct)), names, _worths(text), _meanings(text, language))


def names_of(text: str) -> frozenset[str]:
    """The terms of `text` that stand in it with a capital letter alone, inside of a sentence."""
    text = without_marks(text)
    names, others = set(), set()
    for match in TOKEN.finditer(text):
        word = match.group()
        term = stem(fold(word))
        if not _NAME.fullmatch(word):
            others.add(term)
        elif match.start() and not _SENTENCE_BEGINS.search(
            text[max(0, match.start() - _LOOK_BACK_CHARS) : match.start()]
        ):
            names.add(term)
    return frozenset(names - others)


def _worths(text: str) -> dict[str, float]:
    """The terms that identifiers are taken apart into, with their shares."""
    worths: dict[str, float] = {}
    for match in TOKEN.finditer(without_marks(text)):
        made = dict.fromkeys(terms(match.group()))
        if len(made) > 1:
            share = max(1.0, (len(made) - 1) / PARTS_A_WORD) / len(made)
            worths.update({term: max(share, worths.get(term, 0.0)) for term in made})
    return worths


def _meanings(text: str, language: str) -> dict[str, tuple[str, ...]]:
    """Terms of `text` with those of the English words that the glossary has for them."""
    meanings: dict[str, tuple[str, ...]] = {}
    if language != "en":
        for match in TOKEN.finditer(without_marks(text)):
            word = fold(match.group())
            if english := in_english(word, language):
                meanings[stem(word)] = tuple(stem(other) for other in english)
    for run in CJK_RUN.finditer(text):
        for written, english in CJK_GLOSSARY:
            at = run.group().find(written)
            if at >= 0:
                meanings.setdefault(run.group()[at : at + 2], tuple(stem(other) for other in english))
    return meanings


@cache
def stop_terms(language: str) -> frozenset[str]:
    """The terms of the words without meaning of a language; empty for one that is not built in."""
    return stemmed(STOP_WORDS.get(language, ()))


@cache
def weak_terms() -> frozenset[str]:
    """Terms that prompts about any code use: that a note holds them says little."""
    return stemmed(WEAK_WORDS | EVERYDAY_WORDS)


def stemmed(words: Iterable[str]) -> frozenset[str]:
    """Words as the term maker has them."""
    return frozenset(stem(fold(word)) for word in words)
