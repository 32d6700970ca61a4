"""An embedder that tells meaning by a list of words, for tests: as many directions as there are meanings, and one besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from live_memory.memory.embedding import EmbeddingError
from live_memory.notes.vectors import Vector, unit

APART = 0.1  # every text has a little of what none of the words mean


@dataclass(slots=True)
class ScriptedEmbedder:
    """`meanings` gives words their directions by number; `failure` is what every call fails with, while there is one."""

    meanings: Mapping[str, int]
    name: str = "scripted"
    level: float = 0.0
    needs_installation: bool = False
    failure: str = ""
    asked: list[str] = field(default_factory=list)
    is_closed: bool = False

    def prepare(self) -> None:
        self._fail()
        self.needs_installation = False

    def embed(self, texts: Sequence[str]) -> list[Vector[float]]:
        self._fail()
        self.asked += texts
        return [self._vector(text.lower()) for text in texts]

    def close(self) -> None:
        self.is_closed = True

    def _fail(self) -> None:
        if self.failure:
            raise EmbeddingError(self.failure)

    def _vector(self, text: str) -> Vector[float]:
        values = [0.0] * (max(self.meanings.values(), default=0) + 1)
        for word, number in self.meanings.items():
            values[number] += text.count(word)
        return unit([*values, APART])
