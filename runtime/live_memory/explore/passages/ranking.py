"""How well whole files fit a question: BM25 over its concepts, and what the path says.

Pure. The constants here and in windows.py were chosen on one half of the benchmark's questions; the other half judges them
(tests/bench/bench_passages.py).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from live_memory.explore.passages.pattern import Resolver
from live_memory.explore.passages.question import Concept, Question
from live_memory.explore.passages.windows import Bins, Window
from live_memory.text.terms import split_identifier

FILE_SATURATION = 2.0
FILE_SHARE = 0.1  # of the whole file's score, beside its best window's
FOLDER_SHARE = 1.0
FILE_NAME_SHARE = 1.7
GIVEN_PATH_BONUS = 12.0
# The tree is taken to have so many times the files that matched: to count them would cost a second pass.
ASSUMED_SHARE = 3

_MATCH = re.compile(rb"^\d+:\d+:(.*)$", re.MULTILINE)

Meanings: TypeAlias = Mapping[int, float]  # place of a concept → how much of it, in whatever is looked at


@dataclass(slots=True)
class File:
    """A candidate on its way through the ranking. `block` has its matches, `content_score` is the BM25 of all of them."""

    path: str
    block: bytes
    content_score: float
    factor: float
    path_score: float = 0.0
    path_concepts: tuple[int, ...] = ()
    bins: Bins = field(default_factory=dict)
    windows: list[Window] = field(default_factory=list)
    score: float = 0.0


def counted(block: bytes, resolver: Resolver) -> Meanings:
    """How often each concept occurs in a file, inflections and relatives at their own weight."""
    counts: dict[int, float] = {}
    for raw, number in Counter(_MATCH.findall(block)).items():
        for at, factor in resolver.meanings(raw.decode("utf-8", "replace")):
            counts[at] = counts.get(at, 0.0) + number * factor
    return counts


def weigh(concepts: Sequence[Concept], counts: Collection[Meanings]) -> list[float]:
    """Each concept's weight times its inverse document frequency, ln(1 + (N - n + .5) / (n + .5))."""
    total = ASSUMED_SHARE * len(counts)
    frequency = Counter(at for count in counts for at in count)
    return [
        concept.weight * math.log(1 + (total - frequency[at] + 0.5) / (frequency[at] + 0.5))
        for at, concept in enumerate(concepts)
    ]


def content_score(counts: Meanings, weights: Sequence[float]) -> float:
    """BM25 without lengths, which are not known: a file's windows are of one length anyway."""
    return sum(weights[at] * (FILE_SATURATION + 1) * n / (n + FILE_SATURATION) for at, n in counts.items())


def score_paths(files: Sequence[File], question: Question, resolver: Resolver, weights: Sequence[float]) -> None:
    """What folders and file names say about the question; a word in every path (the project's own name) says nothing."""
    known: dict[str, Meanings] = {}
    told = [_told_by(file.path, resolver, known) for file in files]
    spread = Counter(at for meanings in told for at in meanings)
    for file, meanings in zip(files, told, strict=True):
        file.path_concepts = tuple(sorted(at for at, share in meanings.items() if share >= FOLDER_SHARE / 2))
        file.path_score = sum(
            share * weights[at] * _rarity(spread[at], len(files)) for at, share in meanings.items()
        ) + GIVEN_PATH_BONUS * sum(_is_given(file.path.lower(), given) for given in question.paths)


def _told_by(path: str, resolver: Resolver, known: dict[str, Meanings]) -> Meanings:
    *folders, name = path.split("/")
    told: dict[int, float] = {}
    for folder in folders:
        for at, factor in _meanings(folder, resolver, known).items():
            told[at] = max(factor * FOLDER_SHARE, told.get(at, 0.0))
    for at, factor in _meanings(name, resolver, known).items():
        told[at] = told.get(at, 0.0) + factor * FILE_NAME_SHARE
    return told


def _meanings(part: str, resolver: Resolver, known: dict[str, Meanings]) -> Meanings:
    if part not in known:
        words = split_identifier(part)
        meanings: dict[int, float] = {}
        for word in (*words, "".join(words)):
            for at, factor in resolver.meanings(word):
                meanings[at] = max(factor, meanings.get(at, 0.0))
        known[part] = meanings
    return known[part]


def _rarity(count: int, total: int) -> float:
    """1 for a word that few paths hold, 0 for one in all of them."""
    return 1 - math.log(1 + count) / math.log(2 + total)


def _is_given(path: str, given: str) -> bool:
    """Whether `given` is the path, its end, or its file name without the suffix."""
    name = path.rpartition("/")[2]
    return path == given or path.endswith("/" + given) or name.partition(".")[0] == given


def score(file: File) -> None:
    """What is known of the file so far as one number: its best window (before windows are known, all of it) and its path."""
    best = file.windows[0].score + FILE_SHARE * file.content_score if file.windows else file.content_score
    file.score = file.factor * (best + file.path_score)
