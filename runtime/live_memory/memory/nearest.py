"""The signs of all notes' vectors, by scope, in memory: which notes may be near a text, without a look at the database.

150 bytes a note of 512 coordinates: 15 MB for a hundred thousand.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from live_memory.notes.vectors import Vector, mean, signs
from live_memory.store.note_vectors import Signed

MAX_SAMPLE = 256
PRIOR_NOTES = 20.0  # as many unrelated texts the level known beforehand counts for


class Nearest:
    """Signs by scope, and the level: how alike a text is to notes that it has nothing to do with."""

    def __init__(self, level: float) -> None:
        self._signs: dict[str, dict[int, int]] = {}
        self._prior = level
        self._sample: list[Vector[float]] = []
        self._mean: Vector[float] | None = None

    def put(self, signed: Iterable[Signed]) -> None:
        for each in signed:
            self._signs.setdefault(each.scope, {})[each.number] = each.signs

    def sample(self, vectors: Iterable[Vector[float]]) -> None:
        """Take the level from these vectors too, while there is room."""
        room = MAX_SAMPLE - len(self._sample)
        taken = [vector for vector, _ in zip(vectors, range(room), strict=False)]
        if taken:
            self._sample += [vector for vector in taken if len(vector) == len((self._sample or taken)[0])]
            self._mean = None

    def numbers(self, scopes: Sequence[str], vector: Vector[float], limit: int) -> list[int]:
        """The numbers of the notes whose signs differ least; one that is gone by now may be among them."""
        asked = signs(vector)
        apart = (
            ((held ^ asked).bit_count(), number)
            for scope in scopes
            for number, held in self._signs.get(scope, {}).items()
        )
        return [number for _, number in heapq.nsmallest(limit, apart)]

    def level(self, vector: Vector[float]) -> float:
        """How alike this text is to notes at large; mostly what is known beforehand, where there are few."""
        if not self._sample:
            return self._prior
        if self._mean is None:
            self._mean = mean(self._sample)
        seen = sum(one * other for one, other in zip(vector, self._mean, strict=False))
        count = len(self._sample)
        return (count * seen + PRIOR_NOTES * self._prior) / (count + PRIOR_NOTES)
