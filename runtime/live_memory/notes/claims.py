"""What a note claims: that something has a value, read out of its sentences by their shape. Pure; no text makes it raise.

Only shapes that are hard to misread are taken (`max_retries = 5`, "the request timeout is 30 s", "defaults to `main`"); a
sentence about the past, about a range or about two things at once claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from live_memory.notes.note import Note
from live_memory.notes.quantities import NUMBER, Value, quantity, switch
from live_memory.notes.sentences import sentences
from live_memory.text.languages import STOP_WORDS
from live_memory.text.terms import TOKEN, fold, is_identifier, terms

Bound: TypeAlias = Literal["exactly", "at most", "at least", "about"]

MAX_SENTENCE_CHARS = 400
MAX_NAME_TERMS = 8  # a longer left side is a clause, not a name
_PAST = re.compile(
    r"\b(?:used to|previously|formerly|no longer|was once|until|before|earlier|originally|in the past|prima era|vorher|avant)\b"
    r"|\b(?:was|were|era|erano|war)\b(?!\s+(?:set|raised|lowered|changed|increased|reduced|bumped)\b)",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:if|when|unless|should|could|might|may|between|either|or|proposed|suggest\w*|consider\w*|for example|e\.g\.|se|wenn|si)\b"
    r"|\?|\d\s*(?:-|\u2013|\.\.|to)\s*\d",
    re.IGNORECASE,
)
_CHANGED = r"(?:was|were|is|has been|have been)?\s*(?:set|raised|lowered|changed|increased|reduced|bumped)\s+(?:from\s+\S+(?:\s[a-z]{1,7})?\s+)?to"
_SAYS = re.compile(
    rf"\s*(?::=|==?|\u2192|=>|:(?=\s)|\s(?:{_CHANGED}|(?:now\s+)?defaults\s+to|now\s+is|is\s+now|(?:is|are|equals|\u00e8|vale|es|est|ist|\u00e9))(?=\s|`|\"))\s*",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"(?<![\w.])\d(?![\w.])")  # no term, and yet it tells `step 1` from `step 2`
_NOT = re.compile(r"^(?:not|never|non|nicht|pas|no)\s+", re.IGNORECASE)
_BOUND = re.compile(
    r"^(?:(?P<most>at most|up to|no more than|max(?:imum)? of|<=|\u2264|al massimo)|(?P<least>at least|no less than|min(?:imum)? of|>=|\u2265|almeno)"
    r"|(?P<about>about|around|roughly|approximately|~|circa))\s*",
    re.IGNORECASE,
)
_BOUND_END = re.compile(
    r"(?:at most|up to|no more than|at least|no less than|more than|less than|about|around|roughly|approximately|[<>]=?|[\u2264\u2265~])\s*$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"^[`\"'\u201c]([^`\"'\u201d\n]{1,80})[`\"'\u201d]")
_NAME = re.compile(r"^[A-Z][\w.+#-]*(?:\s(?:\d[\w.]*))?(?=[\s.,;)]|$)")
_CONDITION = re.compile(
    r"\b(?:\d{4}-\d{2}(?:-\d{2})?|(?:19|20)\d{2}|v\d+(?:\.\d+)*|staging|production|prod|development|dev|test|tests|testing|ci"
    r"|linux|windows|macos|ios|android|free|paid|enterprise|local|remote|legacy)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an|our|its|il|la|lo|le|der|die|das|el|el|o)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """That what `name` says (its terms; the one identifier it is, else empty `identifier`) has a value, or has it not.
    `conditions` are the dates, versions and environments it is said for."""

    sentence: str
    identifier: str
    name: frozenset[str]
    value: Value
    bound: Bound
    is_negated: bool
    conditions: frozenset[str]


def claims(note: Note) -> tuple[Claim, ...]:
    """All that `note` claims, in order."""
    return _claims(note.body) or _claims(note.title)


@lru_cache(maxsize=4096)
def _claims(text: str) -> tuple[Claim, ...]:
    return tuple(claim for sentence in sentences(text) for claim in _of(sentence))


def _of(sentence: str) -> Iterator[Claim]:
    if len(sentence) > MAX_SENTENCE_CHARS or is_unsure(sentence):
        return
    said = _SAYS.search(sentence)
    if said is None:
        return
    left, right = _ARTICLE.sub("", sentence[: said.start()].strip()), sentence[said.end() :].strip()
    is_negated = bool(_NOT.match(right))
    right = _NOT.sub("", right)
    bound = _BOUND.match(right)
    value = _value(right[bound.end() :] if bound else right)
    identifier = _identifier(left)
    name = meaning(left) | frozenset(_DIGIT.findall(left))
    if value is None or not name or (len(name) > MAX_NAME_TERMS and not identifier):
        return
    yield Claim(sentence, identifier, name, value, _bound(bound), is_negated, conditions_of(sentence))


def is_unsure(sentence: str) -> bool:
    """Whether it speaks of the past, of a range, or of what may be."""
    return _PAST.search(sentence) is not None or _UNSURE.search(sentence) is not None


def conditions_of(sentence: str) -> frozenset[str]:
    """The dates, versions and environments that it is said for."""
    return frozenset(fold(found.group()) for found in _CONDITION.finditer(sentence))


def bound_of(before: str) -> str:
    """The words of a bound that a text ends with; empty where it ends with none."""
    found = _BOUND_END.search(before)
    return " ".join(fold(found.group()).split()) if found else ""


def meaning(text: str) -> frozenset[str]:
    """The terms of `text` that say something."""
    return frozenset(terms(text)) - STOP_WORDS["en"] - STOP_WORDS["it"]


def _identifier(left: str) -> str:
    """The last identifier of a left side, folded: what `In http.py, max_retries` is about."""
    found = [match.group() for match in TOKEN.finditer(left) if is_identifier(match.group())]
    last = found[-1] if found else ""
    return fold(last) if last and left.rstrip("` ").endswith(last) else ""


def _value(text: str) -> Value | None:
    quoted = _QUOTED.match(text)
    inner = quoted[1] if quoted else text
    number = NUMBER.match(inner)
    if number:
        return quantity(number)
    if quoted:
        return switch(inner) or Value(word=" ".join(fold(inner).split()))
    word = re.match(r"[^\s.,;:)]+", text)
    if word is None:
        return None
    named = _NAME.match(text)
    if named:
        return Value(word=fold(named.group()))
    return switch(word.group()) or (Value(word=fold(word.group())) if is_identifier(word.group()) else None)


def _bound(match: re.Match[str] | None) -> Bound:
    if match is None:
        return "exactly"
    return "at most" if match["most"] else "at least" if match["least"] else "about"
