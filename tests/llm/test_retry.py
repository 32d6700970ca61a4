"""Trying again, on a clock that moves only when told to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest
from support.prompts import request

from live_memory.clock import ManualClock
from live_memory.llm.base import BadKey, BadReply, Completion, Unavailable
from live_memory.llm.retry import Backoff, complete_with_retry
from live_memory.llm.scripted import ScriptedModel, ScriptedReply

BUSY = Unavailable("busy")


@dataclass
class Attempts:
    """A scripted model behind the retry, what was waited, and the prose as a caller sees it."""

    model: ScriptedModel
    clock: ManualClock = field(default_factory=ManualClock)
    waits_s: list[float] = field(default_factory=list)
    prose: str = ""

    async def run(self, *, timeout_s: float = 60.0, jitter: float = 1.0) -> Completion:
        return await complete_with_retry(
            self.model,
            request(timeout_s=timeout_s),
            self.clock.now_s + 60,
            self.clock,
            self._take,
            on_restart=self._restart,
            backoff=Backoff(jitter=lambda: jitter, sleep=self._sleep),
        )

    def _take(self, piece: str) -> None:
        self.prose += piece

    def _restart(self) -> None:
        self.prose = ""

    async def _sleep(self, seconds: float) -> None:
        self.waits_s.append(seconds)
        self.clock.advance(seconds)


async def test_a_busy_provider_is_asked_again_after_growing_waits() -> None:
    attempts = Attempts(ScriptedModel([BUSY, BUSY, BUSY, "At last."]))
    assert (await attempts.run()).text == "At last."
    assert attempts.waits_s == [0.5, 1.0, 2.0]


async def test_the_jitter_shortens_a_wait_by_half_at_most() -> None:
    attempts = Attempts(ScriptedModel([BUSY, BUSY, "At last."]))
    await attempts.run(jitter=0.0)
    assert attempts.waits_s == [0.25, 0.5]


async def test_it_ends_with_the_last_error_after_five_attempts() -> None:
    attempts = Attempts(ScriptedModel([BUSY] * 4 + [Unavailable("still busy")]))
    with pytest.raises(Unavailable, match="still busy"):
        await attempts.run()
    assert len(attempts.model.requests) == 5


async def test_the_provider_s_own_wish_is_waited_for() -> None:
    attempts = Attempts(ScriptedModel([Unavailable("busy", retry_after_s=20.0), "At last."]))
    await attempts.run()
    assert attempts.waits_s == [20.0]


async def test_a_wait_past_the_deadline_is_not_begun() -> None:
    attempts = Attempts(ScriptedModel([Unavailable("busy", retry_after_s=3600.0), "Too late."]))
    with pytest.raises(Unavailable, match="busy"):
        await attempts.run()
    assert attempts.waits_s == []


async def test_an_attempt_gets_no_more_time_than_is_left() -> None:
    attempts = Attempts(ScriptedModel([Unavailable("busy", retry_after_s=50.0), "At last."]))
    await attempts.run()
    assert [sent.timeout_s for sent in attempts.model.requests] == [60.0, 10.0]


async def test_prose_of_an_attempt_that_failed_is_taken_back() -> None:
    attempts = Attempts(ScriptedModel([ScriptedReply(("It wor",), error=BUSY), "It works."]))
    await attempts.run()
    assert attempts.prose == "It works."


async def test_the_prose_of_the_last_attempt_stays() -> None:
    attempts = Attempts(ScriptedModel([ScriptedReply(("It wor",), error=Unavailable("busy", retry_after_s=99.0))]))
    with pytest.raises(Unavailable):
        await attempts.run()
    assert attempts.prose == "It wor"


async def test_nonsense_gets_one_more_try() -> None:
    attempts = Attempts(ScriptedModel([BadReply("?"), BadReply("??"), "Never asked."]))
    with pytest.raises(BadReply, match=r"\?\?"):
        await attempts.run()


async def test_what_waiting_cannot_mend_is_raised_at_once() -> None:
    attempts = Attempts(ScriptedModel([BadKey("no"), "Never asked."]))
    with pytest.raises(BadKey):
        await attempts.run()
    assert len(attempts.model.requests) == 1


async def test_a_caller_who_stops_waiting_ends_the_waits_too() -> None:
    asleep = asyncio.Event()

    async def sleep(_: float) -> None:
        asleep.set()
        await asyncio.Event().wait()

    clock = ManualClock()
    retrying = complete_with_retry(
        ScriptedModel([BUSY]), request(), clock.now_s + 60, clock, print, backoff=replace(Backoff(), sleep=sleep)
    )
    task = asyncio.create_task(retrying)
    await asyncio.wait_for(asleep.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
