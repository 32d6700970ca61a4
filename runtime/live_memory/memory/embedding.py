"""The port of what tells the meaning of texts, and the ways it can fail. Its calls block, and belong in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from live_memory.notes.vectors import Vector

MAX_TEXT_CHARS = 1000  # of a note or a prompt; what follows changes its meaning little, and costs


class EmbeddingError(Exception):
    """No vectors can be had now; the text says why, without the texts and without a key."""


class Embedder(Protocol):
    """Turns texts into unit vectors. One thread prepares it and reads batches; another may ask for a single text meanwhile."""

    @property
    def name(self) -> str:
        """Which model it is, and where: vectors of different names do not compare."""
        ...

    @property
    def level(self) -> float:
        """How alike texts are that have nothing to do with each other, as far as is known beforehand."""
        ...

    @property
    def needs_installation(self) -> bool:
        """Whether `prepare` has to fetch something first."""
        ...

    def prepare(self) -> None:
        """Get ready for the first text; returns at once when it was. EmbeddingError when it cannot be used."""
        ...

    def embed(self, texts: Sequence[str]) -> list[Vector[float]]:
        """A vector a text, in their order. EmbeddingError."""
        ...

    def close(self) -> None:
        """End what `prepare` runs."""
        ...
