"""Who may run now: a bounded queue in order of arrival, and the rule that a cold prefix goes alone."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

from live_memory.clock import Clock
from live_memory.errors import QuestionError
from live_memory.llm.lifetime import MAX_PAUSES

WARM_S = 300.0  # a provider's shortest cache lifetime
PrefixEnd: TypeAlias = Literal["compaction", "reset", "model change", "new tree"]
FAILED_LEAD_S = 5.0  # how long all may pass after one who went ahead came back without a reply


class NoPlaceInTime(Exception):  # not an error: the question is answered without a place
    """A question waited for as long as it may."""


class Admission:
    """At most `parallel` questions run, at most `queue` wait, first come first served."""

    def __init__(self, parallel: int, queue: int) -> None:
        self._parallel = parallel
        self._queue = queue
        self._free = asyncio.Semaphore(parallel)  # wakes its waiters in order
        self.running = 0
        self.waiting = 0

    @asynccontextmanager
    async def admitted(self, timeout_s: float) -> AsyncIterator[None]:
        """Hold a place. QuestionError (`busy`) at once when the queue is full; NoPlaceInTime when none came free in time."""
        if self.running + self.waiting >= self._parallel + self._queue:
            raise QuestionError(
                "busy",
                f"{self.running} questions about this workspace are being answered and {self.waiting} are waiting: "
                "ask again in a moment.",
                status=429,
            )
        self.waiting += 1
        try:
            async with asyncio.timeout(max(0.0, timeout_s)):
                await self._free.acquire()
        except TimeoutError:
            raise NoPlaceInTime from None
        finally:
            self.waiting -= 1
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._free.release()


@dataclass(frozen=True, slots=True)
class Broken:
    """Why a prefix was not continued, and when (Unix seconds)."""

    why: PrefixEnd
    at_s: float


class PrefixGate:
    """Lets one question go ahead on a prefix that no provider has cached, until its first reply; the rest would be
    billed for the whole prefix each. Knows how long the provider keeps it after each use, and the rhythm of uses."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = asyncio.Lock()  # wakes its waiters in order
        self._warm_until_s = float("-inf")
        self._touched_at_s = float("-inf")
        self.replied_at_s = float("-inf")  # to a question
        self._is_continued = False
        self.lifetime_s = WARM_S
        self.pauses_s: deque[float] = deque(
            maxlen=MAX_PAUSES
        )  # between one question's last reply and the next question
        self.broken: Broken | None = None

    @property
    def is_warm(self) -> bool:
        return self.warm_left_s > 0

    @property
    def warm_left_s(self) -> float:
        """How long the provider is going to keep the prefix if nobody asks; 0 where it has none."""
        return max(0.0, self._warm_until_s - self._clock.monotonic_s())

    @property
    def idle_s(self) -> float:
        """How long ago a question last got a reply; infinite where none has."""
        return self._clock.monotonic_s() - self.replied_at_s

    @property
    def untouched_s(self) -> float:
        """How long ago the provider last read or wrote the prefix."""
        return self._clock.monotonic_s() - self._touched_at_s

    def warm(self) -> None:
        """The provider has just read or written the prefix."""
        self._is_continued = True
        self._touched_at_s = self._clock.monotonic_s()
        self._warm_until_s = self._touched_at_s + self.lifetime_s

    def cool(self, why: PrefixEnd) -> None:
        """The prefix has changed, or its model has."""
        if self._is_continued:
            self.broken = Broken(why, self._clock.wall_s())
        self._is_continued = False
        self._warm_until_s = float("-inf")

    @asynccontextmanager
    async def passed(self, patience_s: float) -> AsyncIterator[Callable[[], None]]:
        """Go ahead alone, or wait for the one who does, `patience_s` at most. Yields what to call at each reply."""
        if not math.isinf(self.replied_at_s):
            self.pauses_s.append(self.idle_s)
        is_leading = not self.is_warm and await self._leads(patience_s)

        def on_reply() -> None:
            nonlocal is_leading
            self.warm()
            self.replied_at_s = self._clock.monotonic_s()
            if is_leading:
                is_leading = False
                self._ahead.release()

        try:
            yield on_reply
            # Not reached when the caller has gone: then the next in line goes ahead.
            if is_leading:  # no reply came, and waiting behind the next one would help nobody
                self._warm_until_s = self._clock.monotonic_s() + FAILED_LEAD_S
        finally:
            if is_leading:
                self._ahead.release()

    async def _leads(self, patience_s: float) -> bool:
        """Whether the caller now holds the lead; without it the prefix has become warm, or patience has run out."""
        try:
            async with asyncio.timeout(patience_s):
                await self._ahead.acquire()
        except TimeoutError:
            return False
        if self.is_warm:
            self._ahead.release()
            return False
        return True
