"""The background work on the queue of transcripts: one at a time, woken by reports, ended with the server."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from live_memory.agent.background import REFUSED, NoModelNow
from live_memory.errors import StoreError
from live_memory.memory import transcripts
from live_memory.memory.capture.distiller import Bench, ClaimLost, Distiller
from live_memory.memory.capture.reports import SessionReport, session_figures
from live_memory.memory.place import Places
from live_memory.memory.processes import is_alive
from live_memory.settings import Settings
from live_memory.store.transcript_queue import Due, QueuedTranscript, Rest, Sighting

logger = logging.getLogger(__name__)

LOOK_S = 30.0  # how often it is looked what has become due by itself
CLOSING_S = 2.0
FAULT_WAIT_S = 3600.0  # a transcript that brings out a fault of ours is not tried at once again
KEPT_DAYS = 90
DAY_S = 86_400.0
MAX_UNENDED = 64
MAX_CLIENTS = 256
MAX_LISTED = 200


class Capture:
    """Owns the queue's work for one server. `look` distils what is due; nothing is raised by it."""

    def __init__(self, bench: Bench, places: Places) -> None:
        self._bench = bench
        self._places = places
        self._owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._wake = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._noting: set[asyncio.Task[None]] = set()
        self._clients: dict[str, int] = {}  # session id → the pid of the Claude Code that runs it, while it does

    async def report(self, report: SessionReport) -> None:
        """Keep what a hook tells of a session, also where the hook does not wait for it. QuestionError, StoreError."""
        noting = asyncio.create_task(self._note(report))
        self._noting.add(noting)
        noting.add_done_callback(self._noted)
        await asyncio.shield(noting)

    def _noted(self, noting: asyncio.Task[None]) -> None:
        self._noting.discard(noting)
        if not noting.cancelled() and (error := noting.exception()) is not None:
            logger.info("report not kept error=%s", type(error).__name__)

    async def _note(self, report: SessionReport) -> None:
        self._note_client(report)
        place = await self._places.of(report.cwd)
        settings = self._bench.background.settings
        sighting = report.sighting(place, self._bench.clock.wall_s())
        if sighting is not None and settings.capture:
            self._bench.queue.see(sighting)
            if settings.capture_subagents and sighting.is_ended:
                await self._see_subagents(sighting)
        self._wake.set()

    def _note_client(self, report: SessionReport) -> None:
        """Remember who runs a session, as far as its process can be seen from here."""
        if report.event == "session-end":
            self._clients.pop(report.session_id, None)
        elif report.client_pid and is_alive(report.client_pid) and len(self._clients) < MAX_CLIENTS:
            self._clients[report.session_id] = report.client_pid

    def start(self) -> None:
        """Begin, in the loop that is running."""
        if self._running is None:
            self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Keep the last reports, and end what is under way; its claim is given back, and what is not saved is done again."""
        if self._noting:
            await asyncio.wait(self._noting, timeout=CLOSING_S)
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait((self._running,), timeout=CLOSING_S)
            self._running = None

    async def look(self) -> int:
        """Distil all that is due now, and say how many transcripts that were."""
        count = 0
        settings = self._bench.background.settings
        if not settings.capture or not await self._has_client():
            return 0
        await self._find_grown()
        self._find_orphaned()
        while (claimed := self._claimed(settings)) is not None:
            await self._distil(claimed, settings)
            count += 1
        return count

    async def sessions(self, cwd: str, session_id: str = "") -> tuple[Mapping[str, object], ...]:
        """The sessions of the place of `cwd`, of all places where it is empty, newest first; those whose id begins so, where
        one is named. QuestionError."""
        if session_id:
            rows = self._bench.queue.find(session_id)
        else:
            root = str((await self._places.of(cwd)).root) if cwd else ""
            rows = self._bench.queue.sessions(MAX_LISTED, root)
        return tuple(map(session_figures, rows))

    def figures(self) -> dict[str, object]:
        """What `/stats` shows of capture."""
        tally, done_at_s = self._bench.queue.totals()
        return {
            "state": self._state(),
            "captured": tally.created,
            "merged": tally.merged,
            "disputed": tally.disputed,
            "refused": tally.refused,
            "queue_length": self._bench.queue.waiting(),
            "last_run_s_ago": round(self._bench.clock.wall_s() - done_at_s) if done_at_s else None,
        }

    async def _run(self) -> None:
        while True:
            try:
                self._bench.queue.forget(self._bench.clock.wall_s() - KEPT_DAYS * DAY_S)
                await self.look()
            except Exception:  # a background task's runner: the next look may find things mended
                logger.exception("sessions not looked at")
            with suppress(TimeoutError):
                async with asyncio.timeout(min(LOOK_S, self._bench.background.settings.capture_idle_s)):
                    await self._wake.wait()
            self._wake.clear()

    def _state(self) -> str:
        if not self._bench.background.settings.capture:
            return "off"
        cause = self._bench.background.refusal()
        return f"waits: {REFUSED[cause]}" if cause else "on"

    async def _has_client(self) -> bool:
        """While nobody is there, nothing is tried: the first who comes wakes the queue."""
        try:
            await self._bench.background.check()
        except NoModelNow as error:
            return error.cause != "no-client"
        return True

    async def _see_subagents(self, session: Sighting) -> None:
        """Queue what a session's subagents said beside it."""
        for path in await self._bench.threads.run(LOOK_S, transcripts.subagents_of, session.path):
            seen = await self._bench.threads.run(LOOK_S, transcripts.modified, path)
            if seen is not None:
                self._bench.queue.see(replace(session, path=path, size_bytes=seen[0]))

    async def _find_grown(self) -> None:
        """Tell the queue of transcripts that grew unheard: a CLI that was killed told nothing of its last turn."""
        for row in self._bench.queue.unended(MAX_UNENDED):
            seen = await self._bench.threads.run(LOOK_S, transcripts.modified, row.path)
            if seen is not None and seen[0] > row.size_bytes:
                size_bytes, changed_at_s = seen
                at_s = max(row.seen_at_s, changed_at_s)
                self._bench.queue.see(
                    Sighting(row.session_id, row.path, row.root, row.repo_id, size_bytes, False, at_s)
                )

    def _find_orphaned(self) -> None:
        """End the sessions whose Claude Code has gone without a word: it was killed."""
        gone = [session_id for session_id, pid in self._clients.items() if not is_alive(pid)]
        for session_id in gone:
            del self._clients[session_id]
            for row in self._bench.queue.find(session_id):
                if row.session_id == session_id and not row.is_ended:
                    at_s = self._bench.clock.wall_s()
                    over = Sighting(session_id, row.path, row.root, row.repo_id, row.size_bytes, True, at_s)
                    self._bench.queue.see(over)

    def _claimed(self, settings: Settings) -> QueuedTranscript | None:
        due = Due(self._bench.clock.wall_s(), settings.capture_idle_s, settings.capture_stale_claim_s)
        return self._bench.queue.claim(self._owner, due)

    async def _distil(self, claimed: QueuedTranscript, settings: Settings) -> None:
        rest = Rest(self._bench.clock.wall_s(), "was interrupted", tries=claimed.tries)
        try:
            rest = await Distiller(self._bench, claimed, settings).run()
            what = "done" if rest.judged_bytes is not None else "left"
            logger.info("session %s session=%s why=%s", what, claimed.session_id, rest.why.replace(" ", "-"))
        except ClaimLost:
            logger.info("transcript taken over by another server")
        except StoreError as error:
            logger.warning("not distilled error=%s", type(error).__name__)
            rest = self._later(rest, claimed, settings)
        except Exception:  # a background task's runner: the other transcripts are still distilled
            logger.exception("not distilled")
            rest = self._later(rest, claimed, settings)
        finally:
            with suppress(StoreError):  # the claim goes stale then
                self._bench.queue.release(claimed.path, self._owner, rest)

    def _later(self, rest: Rest, claimed: QueuedTranscript, settings: Settings) -> Rest:
        tries = claimed.tries + 1
        wait_s = FAULT_WAIT_S if tries >= settings.capture_retries else tries * max(1, settings.capture_backoff_s)
        return replace(rest, why="failed; the log says why", tries=tries, next_try_at_s=rest.now_s + wait_s)
