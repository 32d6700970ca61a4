"""The port of nearness in meaning, as search and recall ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from live_memory.store.note_store import Key


class Semantic(Protocol):
    """How near in meaning notes are to a text: 1 for the same, about 0 for nothing in common."""

    @property
    def model(self) -> str:
        """What tells it now; empty while nothing does."""
        ...

    async def near(
        self, text: str, scopes: Sequence[str], keys: Sequence[Key], within_s: float
    ) -> Mapping[Key, float] | None:
        """The notes of `keys`, and those of `scopes` that are nearest. None when it cannot be told, or not in time."""
        ...

    def near_note(self, key: Key, scopes: Sequence[str]) -> Mapping[Key, float] | None:
        """The notes of `scopes` that are nearest to a note; None when it cannot be told."""
        ...
