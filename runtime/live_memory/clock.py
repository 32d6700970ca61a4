"""Time as an argument: the port, the system's clock, and a manual one for tests. Nothing here sleeps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """Two readings: `monotonic_s` for durations and deadlines, `wall_s` (Unix seconds, UTC) for records."""

    def monotonic_s(self) -> float: ...

    def wall_s(self) -> float: ...


class SystemClock:
    """The machine's own clock."""

    def monotonic_s(self) -> float:
        return time.monotonic()

    def wall_s(self) -> float:
        return time.time()


@dataclass(slots=True)
class ManualClock:
    """A clock that moves only when told to."""

    now_s: float = 1_800_000_000.0

    def monotonic_s(self) -> float:
        return self.now_s

    def wall_s(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> None:
        self.now_s += seconds
