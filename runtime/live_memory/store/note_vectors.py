"""The port of the notes' vectors: what each note means, by the model that made it, and which notes still lack one.

A vector goes when its note goes or says something else. All calls are short and synchronous. They raise StoreError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from live_memory.notes.vectors import Vector
from live_memory.store.note_store import Key


@dataclass(frozen=True, slots=True)
class WantedText:
    """What a note without a vector says."""

    number: int
    title: str
    description: str
    body: str

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.title, self.description, self.body) if part)


@dataclass(frozen=True, slots=True)
class Signed:
    """A note's number and scope, and the signs of its vector."""

    number: int
    scope: str
    signs: int


class NoteVectors(Protocol):
    """One vector a note. Working state (kind `state`) has none."""

    def want(self, model: str) -> None:
        """Every note whose vector is not of `model` lacks one from now on."""
        ...

    def wanted(self, limit: int) -> tuple[WantedText, ...]:
        """Some of the notes that lack a vector, the newest first."""
        ...

    def keep(self, model: str, vectors: Sequence[tuple[WantedText, Vector[float]]]) -> tuple[Signed, ...]:
        """Keep vectors of texts that were wanted, unless the note says something else by now; those that were kept."""
        ...

    def count(self, model: str) -> tuple[int, int]:
        """How many notes have a vector of `model`, and how many there are to have one."""
        ...

    def signed(self, model: str, after: int, limit: int) -> tuple[Signed, ...]:
        """The next notes with vectors of `model`, by number, after that one."""
        ...

    def vectors(self, model: str, numbers: Iterable[int], keys: Iterable[Key]) -> Mapping[Key, Vector[float]]:
        """The vectors of `model` of these notes, as far as there are some."""
        ...
