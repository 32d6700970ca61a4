"""Which runs of lines of a file fit a question best: BM25 over windows of equal length, and what is defined in them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from live_memory.explore.passages.definitions import Definition
from live_memory.explore.passages.pattern import Resolver
from live_memory.text.languages import STOP_WORDS
from live_memory.text.terms import split_identifier

BIN_LINES = 10
WINDOW_BINS = 4
WINDOW_LINES = BIN_LINES * WINDOW_BINS
WINDOWS_PER_FILE = 3
SATURATION = 1.0
NAMED_BONUS = 2.0  # per weight of a name of the question that is defined here
COVERED_BONUS = 1.5  # per weight of the question's words that a defined name is made of
ONE_WORD_SHARE = 0.7  # a name of one word is covered by chance more easily

Bins: TypeAlias = Mapping[int, Mapping[int, float]]  # place of the bin → place of a concept → how often

_LINE_AND_MATCH = re.compile(rb"^(\d+):\d+:(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Window:
    """A run of lines by its first bin (of BIN_LINES lines), the concepts in it, and the definition it is about, if any."""

    first_bin: int
    score: float
    concepts: tuple[int, ...]
    definition: Definition | None


def matched_lines(block: bytes) -> list[int]:
    """The numbers of the lines that hold a match, in order."""
    return list(dict.fromkeys(int(line) for line, _ in _LINE_AND_MATCH.findall(block)))


def binned(block: bytes, resolver: Resolver) -> Bins:
    """How often each concept occurs in each bin of a file's matches."""
    bins: dict[int, dict[int, float]] = {}
    for line, raw in _LINE_AND_MATCH.findall(block):
        counts = bins.setdefault((int(line) - 1) // BIN_LINES, {})
        for at, factor in resolver.meanings(raw.decode("utf-8", "replace")):
            counts[at] = counts.get(at, 0.0) + factor
    return bins


def best_windows(
    bins: Bins, defined: Sequence[Definition], resolver: Resolver, weights: Sequence[float]
) -> list[Window]:
    """Windows that do not overlap, best first, at most WINDOWS_PER_FILE. Each starts at a bin that has something."""
    bonuses: dict[int, tuple[float, Definition]] = {}
    for definition in defined:
        bonus = definition_bonus(definition, resolver, weights)
        place = (definition.line - 1) // BIN_LINES
        if bonus > bonuses.get(place, (0.0, definition))[0]:
            bonuses[place] = (bonus, definition)
    windows = [_window(start, bins, bonuses, weights) for start in bins]
    return _apart(sorted(windows, key=lambda window: (-window.score, window.first_bin)))


def _window(
    start: int,
    bins: Bins,
    bonuses: Mapping[int, tuple[float, Definition]],
    weights: Sequence[float],
) -> Window:
    counts: dict[int, float] = {}
    best: tuple[float, Definition | None] = (0.0, None)
    for place in range(start, start + WINDOW_BINS):
        for at, n in bins.get(place, {}).items():
            counts[at] = counts.get(at, 0.0) + n
        if place in bonuses and bonuses[place][0] > best[0]:
            best = bonuses[place]
    score = best[0] + sum(weights[at] * (SATURATION + 1) * n / (n + SATURATION) for at, n in counts.items())
    return Window(start, score, tuple(sorted(counts, key=lambda at: (-weights[at], at))), best[1])


def _apart(windows: Sequence[Window]) -> list[Window]:
    chosen: list[Window] = []
    for window in windows:
        if all(abs(window.first_bin - other.first_bin) >= WINDOW_BINS for other in chosen):
            chosen.append(window)
            if len(chosen) == WINDOWS_PER_FILE:
                break
    return chosen


def definition_bonus(definition: Definition, resolver: Resolver, weights: Sequence[float]) -> float:
    """What it adds that the question names, or nearly names, what is defined here."""
    parts = [part for part in split_identifier(definition.name) if len(part) > 1 and part not in STOP_WORDS["en"]]
    if not parts:
        return 0.0
    whole = (at for at, factor in resolver.meanings("".join(parts)) if factor == 1 and resolver.concepts[at].is_name)
    covered: dict[int, float] = {}
    matched = 0.0
    for part in parts:
        meanings = resolver.meanings(part)
        matched += max((factor for _, factor in meanings), default=0.0)
        for at, factor in meanings:
            covered[at] = max(factor, covered.get(at, 0.0))
    share = matched / len(parts) if len(parts) > 1 else matched * ONE_WORD_SHARE
    mass = sum(weights[at] * factor for at, factor in covered.items())
    return NAMED_BONUS * sum(weights[at] for at in whole) + COVERED_BONUS * mass * share
