"""Who may run, and who goes ahead on a cold prefix."""

from __future__ import annotations

import asyncio

import pytest

from live_memory.agent.admission import FAILED_LEAD_S, WARM_S, Admission, NoPlaceInTime, PrefixGate
from live_memory.clock import ManualClock
from live_memory.errors import QuestionError


async def settle() -> None:
    """Let every task go as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_places_are_given_in_order_of_arrival() -> None:
    admission, order = Admission(2, 10), list[int]()

    async def work(number: int) -> None:
        async with admission.admitted(5):
            order.append(number)
            await settle()

    await asyncio.gather(*(work(number) for number in range(8)))
    assert order == list(range(8))
    assert (admission.running, admission.waiting) == (0, 0)


async def test_one_who_stops_waiting_leaves_no_gap() -> None:
    admission, gate = Admission(1, 5), asyncio.Event()

    async def work() -> None:
        async with admission.admitted(5):
            await gate.wait()

    running, leaving, staying = (asyncio.create_task(work()) for _ in range(3))
    await settle()
    leaving.cancel()
    await asyncio.wait({leaving})
    assert (admission.running, admission.waiting) == (1, 1)
    gate.set()
    await asyncio.gather(running, staying)
    assert (admission.running, admission.waiting) == (0, 0)


async def test_waiting_ends_with_the_time_there_is() -> None:
    admission = Admission(1, 5)
    async with admission.admitted(5):
        with pytest.raises(NoPlaceInTime):
            async with admission.admitted(0.01):
                raise AssertionError("there was no place")
    assert (admission.running, admission.waiting) == (0, 0)


async def test_a_full_queue_turns_the_next_away_at_once() -> None:
    admission = Admission(1, 0)
    async with admission.admitted(5):
        with pytest.raises(QuestionError) as refusal:
            async with admission.admitted(5):
                raise AssertionError("there was no place")
    assert refusal.value.status == 429


class Crowd:
    """Questions at the gate: who has passed, and how to let each go on."""

    def __init__(self, gate: PrefixGate, count: int) -> None:
        self.passed: list[int] = []
        self.replies = [asyncio.Event() for _ in range(count)]
        self.ends = [asyncio.Event() for _ in range(count)]
        self.tasks = [asyncio.create_task(self._work(gate, number)) for number in range(count)]

    async def _work(self, gate: PrefixGate, number: int) -> None:
        async with gate.passed(5) as on_reply:
            self.passed.append(number)
            reply = asyncio.create_task(self.replies[number].wait())
            end = asyncio.create_task(self.ends[number].wait())
            try:
                await asyncio.wait({reply, end}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                reply.cancel()
                end.cancel()
            if self.replies[number].is_set():
                on_reply()
                await self.ends[number].wait()

    async def finish(self) -> None:
        for event in self.ends:
            event.set()
        await asyncio.wait(self.tasks)


async def test_one_goes_ahead_and_all_follow_its_first_reply() -> None:
    crowd = Crowd(PrefixGate(ManualClock()), 4)
    await settle()
    assert crowd.passed == [0]
    crowd.replies[0].set()
    await settle()
    assert crowd.passed == [0, 1, 2, 3]
    await crowd.finish()


async def test_when_the_one_ahead_hangs_up_the_next_goes_ahead_alone() -> None:
    crowd = Crowd(PrefixGate(ManualClock()), 3)
    await settle()
    crowd.tasks[0].cancel()
    await settle()
    assert crowd.passed == [0, 1]
    crowd.replies[1].set()
    await settle()
    assert crowd.passed == [0, 1, 2]
    await crowd.finish()


async def test_when_the_one_ahead_gets_no_reply_nobody_waits_behind_the_next() -> None:
    clock = ManualClock()
    gate = PrefixGate(clock)
    crowd = Crowd(gate, 3)
    await settle()
    crowd.ends[0].set()
    await settle()
    assert crowd.passed == [0, 1, 2]
    await crowd.finish()
    clock.advance(FAILED_LEAD_S)
    assert not gate.is_warm


async def test_a_prefix_cools_down_with_time_and_when_told() -> None:
    clock = ManualClock()
    gate = PrefixGate(clock)
    async with gate.passed(5) as on_reply:
        on_reply()
    assert gate.is_warm
    clock.advance(WARM_S)
    assert not gate.is_warm
    async with gate.passed(5) as on_reply:
        on_reply()
    gate.cool("reset")
    assert not gate.is_warm


async def test_patience_with_the_one_ahead_has_an_end() -> None:
    gate = PrefixGate(ManualClock())
    async with gate.passed(5), gate.passed(0.01):
        assert not gate.is_warm
