"""Trying again: a provider that cannot answer now is asked again with growing, jittered waits, inside the deadline."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from live_memory.clock import Clock
from live_memory.llm.base import BadReply, Completion, CompletionRequest, Model, Unavailable

MIN_ATTEMPT_S = 1.0  # with less than this left after a wait, an attempt is pointless


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often and how patiently: the n-th wait is between half of and the whole of `first_wait_s` * 2^n, at most
    `max_wait_s`, and never shorter than the provider asks. `jitter` yields 0..1; seed it to repeat a run."""

    max_attempts: int = 5
    first_wait_s: float = 0.5
    max_wait_s: float = 8.0
    jitter: Callable[[], float] = random.random
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    def wait_s(self, attempt: int, wished_s: float | None) -> float:
        """The wait after the `attempt`-th failure, counted from 1."""
        longest = min(self.max_wait_s, self.first_wait_s * float(2 ** (attempt - 1)))
        return max(longest * (0.5 + self.jitter() / 2), wished_s or 0.0)


DEFAULT_BACKOFF = Backoff()


async def complete_with_retry(  # noqa: PLR0913  # a request, its bound, and who is told
    model: Model,
    request: CompletionRequest,
    deadline_s: float,
    clock: Clock,
    on_text: Callable[[str], None],
    *,
    on_restart: Callable[[], None] = lambda: None,
    backoff: Backoff = DEFAULT_BACKOFF,
) -> Completion:
    """The completion, or the last error once trying again is pointless: after `max_attempts`, or when the wait would
    leave no time before `deadline_s` (an instant of `clock.monotonic_s`). A reply that makes no sense gets one more try.

    `on_restart` is called before a try that follows one which had delivered text: that text starts over.
    """
    is_text_delivered = False

    def deliver(piece: str) -> None:
        nonlocal is_text_delivered
        is_text_delivered = True
        on_text(piece)

    for attempt in range(1, backoff.max_attempts + 1):
        left_s = max(deadline_s - clock.monotonic_s(), 0.0)
        try:
            return await model.complete(replace(request, timeout_s=min(request.timeout_s, left_s)), deliver)
        except (Unavailable, BadReply) as error:
            wait_s = backoff.wait_s(attempt, error.retry_after_s if isinstance(error, Unavailable) else None)
            is_last = attempt == backoff.max_attempts or (isinstance(error, BadReply) and attempt > 1)
            if is_last or clock.monotonic_s() + wait_s + MIN_ATTEMPT_S > deadline_s:
                raise
        await backoff.sleep(wait_s)
        if is_text_delivered:
            on_restart()
            is_text_delivered = False
    raise AssertionError("the last attempt returns or raises")
