"""How much work fits between two chances for others: as much as took no longer than it may, the last time."""

from __future__ import annotations

from types import TracebackType

from live_memory.clock import Clock

MS = 1000.0


class Pace:
    """`notes` is how many to take next; around their work stands `with pace`."""

    def __init__(self, clock: Clock, *, slice_ms: float, most: int) -> None:
        self.notes = 4
        self._clock = clock
        self._slice_ms = slice_ms
        self._most = most
        self._began_s = 0.0

    def __enter__(self) -> None:
        self._began_s = self._clock.monotonic_s()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        took_ms = max((self._clock.monotonic_s() - self._began_s) * MS, self._slice_ms / self._most)
        self.notes = max(1, min(self._most, 2 * self.notes, int(self.notes * self._slice_ms / took_ms)))
