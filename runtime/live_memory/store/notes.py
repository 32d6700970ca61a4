"""The notes port: facts that outlive the window they were distilled from, found by what they are about.

All calls are short and synchronous, and come from one thread at a time. They raise StoreError; no question is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from live_memory.notes.note import Fact


class Notes(Protocol):
    """Facts by root (a canonical path as text)."""

    def add(self, root: str, facts: Iterable[Fact]) -> None:
        """Keep `facts`. One that is kept already (the same id) is verified: it rests on its new sources from now on."""
        ...

    def facts(self, root: str) -> tuple[Fact, ...]:
        """All facts of `root`, in the order they were learned."""
        ...

    def search(self, root: str, question: str, limit: int) -> tuple[Fact, ...]:
        """The facts of `root` that bear on `question`, best first."""
        ...

    def count_use(self, root: str, facts: Iterable[Fact]) -> None:
        """These facts were given to a question."""
        ...

    def stale(self, root: str) -> tuple[Fact, ...]:
        """The demoted facts of `root`, in the order they were learned."""
        ...

    def demote(self, root: str, path: str, sha256_now: str | None) -> tuple[Fact, ...]:
        """Compare the facts of `root` that rest on `path` with what the file holds now (None: it is gone), and return
        those that are stale since. A file that is again what it was makes its facts good again."""
        ...

    def forget(self, root: str) -> None:
        """Drop the facts of `root`."""
        ...
