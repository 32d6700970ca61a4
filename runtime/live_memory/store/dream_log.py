"""The port of the log of dreams: who tidies which repository's notes now, and what the last runs did.

All calls are short and synchronous, and come from one thread at a time. They raise StoreError. Several processes may share
a log: who dreams holds the repository, and gives it back or is found dead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DreamRow:
    """One run: `batch` is that of its changes in the log of the notes. `seen_at_s` is its last sign of life, `ended_at_s`
    0 while it is under way; `report` is JSON, what it did so far."""

    batch: str
    repo_id: str
    owner: str
    began_at_s: float
    seen_at_s: float
    ended_at_s: float = 0.0
    report: str = ""


class DreamLog(Protocol):
    """Runs by repository."""

    def claim(self, row: DreamRow, stale_s: float) -> DreamRow | None:
        """Begin `row`, or take over the run of its repository that gave no sign of life for `stale_s`, under its batch; None
        while another one is under way."""
        ...

    def beat(self, batch: str, owner: str, now_s: float, report: str) -> bool:
        """A sign of life; False where the run is another's by now."""
        ...

    def finish(self, batch: str, owner: str, now_s: float, report: str) -> bool:
        """The run is over; False where it is another's by now."""
        ...

    def drop(self, batch: str, owner: str) -> None:
        """Give back a run that wrote nothing, as if it had never begun."""
        ...

    def last(self, repo_id: str) -> DreamRow | None:
        """The last run of a repository that is over."""
        ...

    def current(self, repo_id: str) -> DreamRow | None:
        """The run that is under way."""
        ...

    def ended(self, limit: int) -> tuple[DreamRow, ...]:
        """The last runs that are over, of all repositories, newest first."""
        ...
