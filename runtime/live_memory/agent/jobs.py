"""Questions that are answered while nobody waits: taken at once, their answers fetched once, or forgotten after a while."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from live_memory.agent.answers import Answer, Question
from live_memory.clock import Clock
from live_memory.errors import QuestionError

MAX_JOBS = 64  # at work or waiting to be fetched
KEPT_S = 3600.0  # how long an answer waits to be fetched
ID_BYTES = 6


@dataclass(slots=True)
class Job:
    """A question at work; `ended_at_s` is when it was answered, None while it is not."""

    question: Question
    work: asyncio.Task[Answer]
    ended_at_s: float | None = None


class Jobs:
    """The jobs of one server. They end with it: what was not fetched by then is asked again."""

    def __init__(self, ask: Callable[[Question], Awaitable[Answer]], clock: Clock) -> None:
        self._ask = ask
        self._clock = clock
        self._jobs: dict[str, Job] = {}

    def submit(self, question: Question) -> str:
        """The id under which the answer can be fetched; QuestionError (`busy`) where too many wait already."""
        self._sweep()
        if len(self._jobs) >= MAX_JOBS:
            raise QuestionError(
                "busy", f"{MAX_JOBS} questions are at work or wait to be fetched: fetch some first.", status=429
            )
        job_id = secrets.token_hex(ID_BYTES)
        job = Job(question, asyncio.create_task(self._answered(question)))
        job.work.add_done_callback(lambda _work: self._note_end(job))
        self._jobs[job_id] = job
        return job_id

    async def collect(self, job_id: str, patience_s: float) -> Answer | None:
        """The answer, which is then forgotten; None where it is not there after `patience_s`. QuestionError for an id that
        is unknown (also: fetched already), and what the question itself came to."""
        self._sweep()
        job = self._jobs.get(job_id)
        if job is None:
            raise QuestionError(
                "no-job",
                f"There is no job {job_id}: its answer was fetched, or has waited for over an hour, or the server was "
                "started anew. Ask again.",
                status=404,
            )
        await asyncio.wait((job.work,), timeout=patience_s)
        if not job.work.done():
            return None
        self._jobs.pop(job_id, None)
        if job.work.cancelled():
            raise QuestionError("draining", "The server ended before the answer was ready: ask again.", status=503)
        return job.work.result()

    async def close(self) -> None:
        """End what is at work."""
        works = [job.work for job in self._jobs.values()]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)
        self._jobs.clear()

    async def _answered(self, question: Question) -> Answer:
        return await self._ask(question)

    def _note_end(self, job: Job) -> None:
        job.ended_at_s = self._clock.monotonic_s()
        if not job.work.cancelled():
            job.work.exception()  # told to whoever fetches it; nobody else is to complain

    def _sweep(self) -> None:
        """Forget the answers that nobody came for."""
        oldest_s = self._clock.monotonic_s() - KEPT_S
        self._jobs = {
            job_id: job for job_id, job in self._jobs.items() if job.ended_at_s is None or job.ended_at_s > oldest_s
        }
