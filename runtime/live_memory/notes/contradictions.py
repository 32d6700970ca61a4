"""Whether two notes contradict each other: one thing, one property, two values; or one sentence said and denied. Pure.

Strict on purpose: a contradiction marks two notes as disputed, and a wrong mark makes both worth less. `timeout_ms` and
`timeout_s` are two properties, `max_retries` and `min_retries` as well; 30s and 30 s are one value; what was said for
another date, version or environment contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from live_memory.notes.claims import Claim, claims, meaning
from live_memory.notes.duplicates import TURNING
from live_memory.notes.frames import Frame, frames
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
_OPPOSED = frozenset().union(*_OPPOSITES)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What the one note says and the other says against it, as their own sentences."""

    one: str
    other: str

    def __str__(self) -> str:
        return f"\u201c{self.one}\u201d against \u201c{self.other}\u201d"


class Stance:
    """A note taken apart as far as it is asked for: whoever compares many notes takes each apart once."""

    def __init__(self, note: Note) -> None:
        self.note = note

    @cached_property
    def title(self) -> frozenset[str]:
        return meaning(self.note.title)

    @cached_property
    def body(self) -> frozenset[str]:
        return meaning(self.note.body)

    @cached_property
    def words(self) -> frozenset[str]:
        return self.title | self.body

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        return claims(self.note)

    @cached_property
    def spoken(self) -> tuple[_Spoken, ...]:
        return tuple(map(_spoken, sentences(self.note.body)))

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(frame for sentence in sentences(self.note.body) for frame in frames(sentence))

    @cached_property
    def handles(self) -> frozenset[str]:
        """What it can be contradicted by: only notes that share one of these may contradict each other. Those of an
        identifier begin with `=`, of a frame with `~`, of a sentence's words with `"`."""
        found = {f"={claim.identifier}" for claim in self.claims if claim.identifier}
        for claim in self.claims:
            if not claim.identifier:
                found |= claim.name
        found |= {f"~{frame.key}" for frame in self.frames}
        said = (each for each in self.spoken if len(each.words) >= MIN_DENIED_TERMS)
        return frozenset(found) | {'"' + " ".join(sorted(each.words)) for each in said}


def contradictions(one: Note, other: Note) -> tuple[Contradiction, ...]:
    """All of them; empty for two notes that can both be true."""
    return between(Stance(one), Stance(other))


def contradiction(one: Note, other: Note) -> str:
    """The first contradiction in words; empty where there is none."""
    found = contradictions(one, other)
    return str(found[0]) if found else ""


def between(one: Stance, other: Stance) -> tuple[Contradiction, ...]:
    """As `contradictions`, of notes that were taken apart before."""
    mine, theirs = one.note.sources, other.note.sources
    if mine and theirs and not mine.keys() & theirs.keys():
        return ()
    found = tuple(dict.fromkeys((*_in_values(one, other), *_in_frames(one, other), *_in_words(one, other))))
    return () if found and differ(one, other) else found


def differ(one: Stance, other: Stance) -> bool:
    """Whether each title names something of which the other note does not speak."""
    left = one.title - other.words - GENERIC
    right = other.title - one.words - GENERIC
    return bool(_telling(left) and _telling(right))


def _telling(words: frozenset[str]) -> frozenset[str]:
    """The words that are no number and no word of a value."""
    return frozenset(word for word in words if not any(char.isdigit() for char in word) and word not in TURNING)


def _in_values(one: Stance, other: Stance) -> Iterator[Contradiction]:
    for mine in one.claims:
        for theirs in other.claims:
            if _is_one_thing(mine, theirs, one.words, other.words) and _clash(mine, theirs):
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


def _in_frames(one: Stance, other: Stance) -> Iterator[Contradiction]:
    """Sentences that differ in one value."""
    for mine in one.frames:
        for theirs in other.frames:
            if mine.contradicts(theirs):
                yield Contradiction(mine.sentence, theirs.sentence)


def _in_words(one: Stance, other: Stance) -> Iterator[Contradiction]:
    """Sentences of the same words of which one is a denial of the other."""
    for theirs in other.spoken:
        for mine in one.spoken:
            if mine.denies(theirs):
                yield Contradiction(mine.text, theirs.text)


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
    opposites = tokens & _OPPOSED - denials
    aside = {*denials, *opposites, "do", "does", "did", "is", "are"}
    words = meaning(" ".join(token for token in sorted(tokens) if token not in aside))
    return _Spoken(sentence, words, frozenset(opposites), len(denials) % 2 == 1)
