"""Whether two notes contradict each other: one thing, one property, two values; or one sentence said and denied. Pure.

Strict on purpose: a contradiction marks two notes as disputed, and a wrong mark makes both worth less. `timeout_ms` and
`timeout_s` are two properties, `max_retries` and `min_retries` as well; 30s and 30 s are one value; what was said for
another date, version or environment contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from live_memory.notes.claims import Claim, claims, meaning
from live_memory.notes.duplicates import TURNING
from live_memory.notes.note import Note
from live_memory.notes.sentences import sentences
from live_memory.text.terms import TOKEN, fold, stem

ALIKE_RATIO = 0.99  # of a denied sentence's words
MIN_DENIED_TERMS = 3
# Words of titles that tell no thing from another.
_GENERIC = """decision policy value default setting settings config configuration raised lowered changed change update updated
    limit limits new current now fix note notes rule convention choice why how about use uses using"""
GENERIC = frozenset(map(stem, _GENERIC.split()))
_DENIALS = frozenset(
    ("not", "never", "no", "cannot", "dont", "doesnt", "isnt", "arent", "wont", "mustnt", "without", "non", "mai")
)
_OPPOSITES = (
    frozenset(("enabled", "disabled")),
    frozenset(("allow", "deny")),
    frozenset(("allowed", "denied")),
    frozenset(("allowed", "forbidden")),
    frozenset(("always", "never")),
    frozenset(("required", "optional")),
    frozenset(("sync", "async")),
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What the one note says and the other says against it, as their own sentences."""

    one: str
    other: str

    def __str__(self) -> str:
        return f"\u201c{self.one}\u201d against \u201c{self.other}\u201d"


def contradictions(one: Note, other: Note) -> tuple[Contradiction, ...]:
    """All of them; empty for two notes that can both be true."""
    if (one.sources and other.sources and not one.sources.keys() & other.sources.keys()) or _differ(one, other):
        return ()
    return tuple(dict.fromkeys((*_in_values(one, other), *_in_words(one, other))))


def contradiction(one: Note, other: Note) -> str:
    """The first contradiction in words; empty where there is none."""
    found = contradictions(one, other)
    return str(found[0]) if found else ""


def _differ(one: Note, other: Note) -> bool:
    """Whether each title names something of which the other note does not speak."""
    words, others = meaning(one.title), meaning(other.title)
    left = words - others - meaning(other.body) - GENERIC
    right = others - words - meaning(one.body) - GENERIC
    return bool(_telling(left) and _telling(right))


def _telling(words: frozenset[str]) -> frozenset[str]:
    """The words that are no number and no word of a value."""
    return frozenset(word for word in words if not any(char.isdigit() for char in word) and word not in TURNING)


def _in_values(one: Note, other: Note) -> Iterator[Contradiction]:
    spoken, against = meaning(f"{one.title} {one.body}"), meaning(f"{other.title} {other.body}")
    for mine in claims(one):
        for theirs in claims(other):
            if _is_one_thing(mine, theirs, spoken, against) and _clash(mine, theirs):
                yield Contradiction(mine.sentence, theirs.sentence)


def _is_one_thing(mine: Claim, theirs: Claim, spoken: frozenset[str], against: frozenset[str]) -> bool:
    if mine.conditions != theirs.conditions or mine.bound != theirs.bound:
        return False
    if mine.identifier or theirs.identifier:
        return mine.identifier == theirs.identifier
    return mine.name <= against and theirs.name <= spoken and bool(mine.name & theirs.name)


def _clash(mine: Claim, theirs: Claim) -> bool:
    compared = mine.value.compared(theirs.value)
    if mine.is_negated == theirs.is_negated:
        return compared == "different" and not mine.is_negated
    return compared == "same"


def _in_words(one: Note, other: Note) -> Iterator[Contradiction]:
    """Sentences of the same words of which one is a denial of the other."""
    mine = [_spoken(sentence) for sentence in sentences(one.body)]
    for theirs in map(_spoken, sentences(other.body)):
        for each in mine:
            if each.denies(theirs):
                yield Contradiction(each.text, theirs.text)


@dataclass(frozen=True, slots=True)
class _Spoken:
    text: str
    words: frozenset[str]
    turning: frozenset[str]
    is_denial: bool

    def denies(self, other: _Spoken) -> bool:
        if min(len(self.words), len(other.words)) < MIN_DENIED_TERMS:
            return False
        if 2 * len(self.words & other.words) < ALIKE_RATIO * (len(self.words) + len(other.words)):
            return False
        turned = self.turning ^ other.turning
        if self.is_denial != other.is_denial:
            return not turned
        return turned in _OPPOSITES


def _spoken(sentence: str) -> _Spoken:
    tokens = {fold(match.group()) for match in TOKEN.finditer(sentence.replace("'", "").replace("\u2019", ""))}
    denials = tokens & _DENIALS
    opposites = tokens & frozenset().union(*_OPPOSITES) - denials
    aside = {*denials, *opposites, "do", "does", "did", "is", "are"}
    words = meaning(" ".join(token for token in sorted(tokens) if token not in aside))
    return _Spoken(sentence, words, frozenset(opposites), len(denials) % 2 == 1)
