"""Questions asked now and fetched later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from agent.scene import until
from server.desks import HandDesk

from live_memory.agent.answers import Question
from live_memory.agent.jobs import KEPT_S, MAX_JOBS, Jobs
from live_memory.clock import ManualClock
from live_memory.errors import QuestionError

WHERE = Question("where is main?", "/repo")
LONG_S = 5.0


@pytest.fixture
def desk() -> HandDesk:
    return HandDesk()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def jobs(desk: HandDesk, clock: ManualClock) -> AsyncIterator[Jobs]:
    jobs = Jobs(desk.ask, clock)
    yield jobs
    await jobs.close()


async def test_an_answer_is_fetched_once(jobs: Jobs) -> None:
    job_id = jobs.submit(WHERE)
    answer = await jobs.collect(job_id, LONG_S)
    assert answer is not None
    assert answer.text == "about: where is main?"
    with pytest.raises(QuestionError, match=f"There is no job {job_id}"):
        await jobs.collect(job_id, LONG_S)


async def test_while_it_is_at_work_there_is_nothing_to_fetch_and_nothing_is_lost(jobs: Jobs, desk: HandDesk) -> None:
    desk.gate.clear()
    job_id = jobs.submit(WHERE)
    assert await jobs.collect(job_id, 0) is None
    fetching = asyncio.create_task(jobs.collect(job_id, LONG_S))
    await desk.arrived.wait()
    desk.gate.set()
    assert await fetching is not None


async def test_a_caller_that_stops_waiting_leaves_the_question_at_work(jobs: Jobs, desk: HandDesk) -> None:
    desk.gate.clear()
    job_id = jobs.submit(WHERE)
    fetching = asyncio.create_task(jobs.collect(job_id, LONG_S))
    await desk.arrived.wait()
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    desk.gate.set()
    assert await jobs.collect(job_id, LONG_S) is not None


async def test_a_question_that_was_refused_says_so_when_it_is_fetched(jobs: Jobs, desk: HandDesk) -> None:
    desk.error = QuestionError("bad-cwd", "There is no folder /repo.")
    job_id = jobs.submit(WHERE)
    with pytest.raises(QuestionError, match="There is no folder /repo"):
        await jobs.collect(job_id, LONG_S)


async def test_what_nobody_came_for_is_forgotten_after_an_hour(jobs: Jobs, desk: HandDesk, clock: ManualClock) -> None:
    old, slow = jobs.submit(WHERE), ""
    await until(lambda: jobs._jobs[old].ended_at_s is not None)
    desk.gate.clear()
    slow = jobs.submit(WHERE)
    clock.advance(KEPT_S + 1)
    with pytest.raises(QuestionError, match="There is no job"):
        await jobs.collect(old, 0)
    assert await jobs.collect(slow, 0) is None, "a question at work is never swept"


async def test_only_so_many_are_taken(jobs: Jobs, desk: HandDesk) -> None:
    desk.gate.clear()
    for _ in range(MAX_JOBS):
        jobs.submit(WHERE)
    with pytest.raises(QuestionError, match="fetch some first"):
        jobs.submit(WHERE)


async def test_the_server_s_end_is_the_end_of_its_jobs(desk: HandDesk, clock: ManualClock) -> None:
    desk.gate.clear()
    jobs = Jobs(desk.ask, clock)
    jobs.submit(WHERE)
    await desk.arrived.wait()
    await jobs.close()
    assert desk.cancelled.get_nowait() == WHERE
