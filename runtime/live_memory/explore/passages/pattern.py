"""From a question's concepts to one regular expression (ripgrep's and Python's syntax alike), and from a match back to them.

Everything that comes from the question is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from live_memory.explore.passages.question import COGNATE_FACTOR, INFLECTED_FACTOR, LONGER_WORD_FACTORS, Concept, Form
from live_memory.text.terms import fold, stem

# A word starts after anything but a letter, or as a hump. No `\b`: with it, ripgrep leaves its fast engine at non-ASCII text.
_BEFORE = "(?:^|[^A-Za-z])"
_AFTER = "(?:[^A-Za-z]|$)"
START_CHARS = 4  # every beginning of a word has as many
_NOT_ALNUM = re.compile(r"[^a-z0-9]+")


def pattern_of(concepts: Sequence[Concept]) -> str:
    """The expression whose matches are the concepts' forms; empty when there are none."""
    names, phrases, starts, shorts = set(), set(), set(), set()
    for form in (form for concept in concepts for form in concept.forms):
        if form.kind == "name":
            names.add(form.key)
        elif form.kind == "phrase":
            phrases.add(form.key)
        elif form.kind == "short":
            shorts.add(form.key)
        else:
            starts.add(form.key)
    branches = [_BEFORE + f"(?i:{_either(_joined(name) for name in _longest_first(names))})"] if names else []
    branches += [f"(?i:{_either(re.escape(phrase) for phrase in _longest_first(phrases))})"] if phrases else []
    if starts:
        ordered = [re.escape(start) for start in _longest_first(starts)]
        branches.append(f"{_BEFORE}(?i:{_either(ordered)})[a-z]*")
        branches.append(f"(?:{_either(start.capitalize() for start in ordered)})[a-z]*")
    if shorts:
        ordered = [re.escape(short) for short in _longest_first(shorts)]
        branches.append(f"{_BEFORE}(?i:{_either(ordered)})s?{_AFTER}")
        branches.append(f"(?:{_either(short.capitalize() for short in ordered)})s?(?:[^a-z]|$)")
    return "|".join(branches)


def _joined(name: str) -> str:
    return "[_-]?".join(re.escape(part) for part in name.split("_"))


def _either(options: Iterable[str]) -> str:
    return "|".join(options)


def _longest_first(keys: Iterable[str]) -> list[str]:
    return sorted(keys, key=lambda key: (-len(key), key))


@dataclass(slots=True)
class Resolver:
    """What a matched text stands for: (concept, factor) pairs, remembered by text."""

    concepts: Sequence[Concept]
    _exact: dict[str, dict[int, float]] = field(default_factory=dict)
    _starts: dict[str, list[tuple[Form, int]]] = field(default_factory=dict)
    _cognates: list[tuple[str, int]] = field(default_factory=list)
    _known: dict[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for at, concept in enumerate(self.concepts):
            for form in concept.forms:
                if form.kind == "start":
                    self._starts.setdefault(form.key[:START_CHARS], []).append((form, at))
                elif form.kind == "cognate":
                    self._cognates.append((form.key, at))
                else:
                    key = form.key.replace("_", "") if form.kind == "name" else form.key
                    self._note(key, at, form.factor)

    def _note(self, key: str, at: int, factor: float) -> None:
        meanings = self._exact.setdefault(key, {})
        meanings[at] = max(factor, meanings.get(at, 0.0))

    def meanings(self, matched: str) -> tuple[tuple[int, float], ...]:
        """(place of the concept, factor ≤ 1) for each concept that `matched` may stand for."""
        known = self._known.get(matched)
        if known is None:
            known = self._known[matched] = tuple(sorted(self._look_up(fold(matched).strip()).items()))
        return known

    def _look_up(self, matched: str) -> dict[int, float]:
        found = dict(self._exact.get(matched, {}))
        letters = _NOT_ALNUM.sub("", matched)
        for key in {letters, letters.removesuffix("s")}:
            found.update(self._exact.get(key, {}))
        root = stem(letters)
        for form, at in self._starts.get(letters[:START_CHARS], ()):
            if letters.startswith(form.key):
                found[at] = max(form.factor * _likeness(letters, root, form), found.get(at, 0.0))
        for key, at in self._cognates:
            if letters.startswith(key):
                found[at] = max(COGNATE_FACTOR, found.get(at, 0.0))
        return found


def _likeness(letters: str, root: str, form: Form) -> float:
    """1 for the word itself, less for an inflection of it, least for a longer word that only begins alike."""
    if letters in (form.word, form.key):
        return 1.0
    return INFLECTED_FACTOR if root == form.stem else LONGER_WORD_FACTORS.get(len(form.key), COGNATE_FACTOR)
