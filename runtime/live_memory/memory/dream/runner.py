"""Dreams as a server has them: one at a time for a repository, by itself when the gates open and a client is there, or by
command. Whoever asks for one waits a while, and then looks how far it is."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from live_memory.clock import Clock
from live_memory.errors import QuestionError, StoreError
from live_memory.memory.dream.gates import Gate, gate
from live_memory.memory.dream.report import Report, parse_figures
from live_memory.memory.dream.run import Dream, Means
from live_memory.memory.dream.undo import take_back
from live_memory.memory.dream.workbook import Rehearsal, Workbook
from live_memory.memory.place import Place, Places
from live_memory.memory.planning import new_batch
from live_memory.memory.processes import is_alive
from live_memory.notes.rendering import day
from live_memory.settings import Settings
from live_memory.store.base import Store
from live_memory.store.dream_log import DreamRow

logger = logging.getLogger(__name__)

Mode: TypeAlias = Literal["run", "force", "dry-run", "status", "undo"]
LOOK_S = 300.0  # how often it is looked whether a gate is open
BEAT_S = 10.0
STALE_S = 60.0  # without a sign of life, after which a run is taken over
ANSWER_S = 20.0  # how long a request waits for a run to end
CLOSING_S = 2.0
MAX_RECENT = 200
MAX_TOLD = 100  # runs that are summed up
BATCH = "dream"
SUMMED = ("merged", "disputed", "expired")


@dataclass(frozen=True, slots=True)
class DreamBench:
    """What dreams work with."""

    store: Store
    means: Means
    clock: Clock


@dataclass(slots=True)
class _Running:
    """A run of this process."""

    task: asyncio.Task[None]
    book: Workbook


class Dreams:
    """Owned by one event loop; `answer_s` is how long a request waits."""

    def __init__(self, bench: DreamBench, places: Places, answer_s: float = ANSWER_S) -> None:
        self._bench = bench
        self._places = places
        self._answer_s = answer_s
        self._owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._running: dict[tuple[str, Rehearsal], _Running] = {}
        self._watching: asyncio.Task[None] | None = None

    async def dream(self, cwd: str, mode: Mode) -> dict[str, object]:
        """What `POST /dream` answers: `state` and what was done, or stands in the way. QuestionError, StoreError."""
        place = await self._places.of(cwd)
        if mode == "status":
            return self._status(place)
        if mode == "undo":
            return await self._undo(place)
        opening = self._gate(place)
        if mode == "run" and not opening.is_open:
            return {"state": "gated", "gate": opening.figures()}
        running = self._begun(place, "dry-run" if mode == "dry-run" else "run")
        if running is None:
            return {**self._status(place), "state": "running"}
        await asyncio.wait((running.task,), timeout=self._answer_s)
        if not running.task.done():
            return {"state": "running", "report": running.book.report.figures()}
        running.task.result()  # raises what ended it
        return {"state": "done", "batch": running.book.batch, "report": running.book.report.figures()}

    def start(self) -> None:
        """Begin to watch the gates, in the loop that is running."""
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """End what is under way: it is taken up again by whoever looks next."""
        tasks = [running.task for running in self._running.values()]
        tasks += [self._watching] if self._watching is not None else []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSING_S)
        self._watching = None

    async def look(self) -> int:
        """Dream of every repository whose gate is open, or whose run was broken off; how many that were."""
        count = 0
        settings = self._settings
        if settings.dream_disabled or not self._bench.means.background.has_client:
            return 0
        for place in self._recent():
            held = self._bench.store.dreams.current(place.repo_id)
            is_broken = held is not None and self._is_dead(held)
            if (is_broken or (held is None and self._gate(place).is_open)) and place.root.is_dir():
                running = self._begun(place, "run")
                if running is not None:
                    await asyncio.wait((running.task,))
                    count += 1
        return count

    def figures(self) -> dict[str, object]:
        """What `/stats` shows of dreams."""
        rows = self._bench.store.dreams.ended(MAX_TOLD)
        counts = [parse_figures(row.report).get("counts", {}) for row in rows]
        return {
            "state": "off" if self._settings.dream_disabled else "running" if self._running else "on",
            "runs": len(rows),
            **{name: sum(int(each.get(name, 0)) for each in counts) for name in SUMMED},
            "last_run_s_ago": round(self._bench.clock.wall_s() - rows[0].ended_at_s) if rows else None,
        }

    async def _watch(self) -> None:
        while True:
            try:
                await self.look()
            except Exception:  # a background task's runner: the next look may find things mended
                logger.exception("gates not looked at")
            await asyncio.sleep(LOOK_S)

    @property
    def _settings(self) -> Settings:
        return self._bench.means.background.settings

    def _gate(self, place: Place) -> Gate:
        return gate(self._bench.store, place, self._settings, self._bench.clock.wall_s())

    def _recent(self) -> tuple[Place, ...]:
        """The repositories that sessions were told of lately, each at the tree of its last one."""
        by_repo: dict[str, Place] = {}
        for row in self._bench.store.transcripts.sessions(MAX_RECENT):
            by_repo.setdefault(row.repo_id, Place(Path(row.root), row.repo_id))
        return tuple(by_repo.values())

    def _begun(self, place: Place, mode: Rehearsal) -> _Running | None:
        """The run of the place, begun or joined; None where another process dreams."""
        key = (place.repo_id, mode)
        if key in self._running:
            return self._running[key]
        bench, now_s = self._bench, self._bench.clock.wall_s()
        row = DreamRow(new_batch(BATCH), place.repo_id, self._owner, now_s, now_s)
        last = bench.store.dreams.last(place.repo_id)
        if mode == "run":
            held = bench.store.dreams.current(place.repo_id)
            # A clock that was set back says nothing about a process that is gone.
            stale_s = -math.inf if held is not None and self._is_dead(held) else STALE_S
            claimed = bench.store.dreams.claim(row, stale_s)
            if claimed is None:
                return None
            row = claimed
        report = Report(phase="gather", sessions=self._gate(place).sessions)
        report.changes = len(bench.store.note_store.batch(row.batch, 1)) and int(
            parse_figures(row.report).get("changes", 0)
        )
        beat = _Beat(bench, row)
        book = Workbook(bench.store.note_store, place, bench.clock, row.batch, mode, report, beat.is_held)
        dream = Dream(book, bench.means, self._settings, last.ended_at_s if last else 0.0)
        task = asyncio.create_task(self._run(dream, beat if mode == "run" else None))
        running = self._running[key] = _Running(task, book)
        task.add_done_callback(lambda done: self._ended(key, done))
        return running

    async def _run(self, dream: Dream, beat: _Beat | None) -> None:
        report, clock = dream.book.report, self._bench.clock
        began_s = clock.monotonic_s()
        beating = asyncio.create_task(beat.keep(report)) if beat else None
        try:
            await dream.run()
            report.phase = "done"
        except Exception:
            report.why["the rest"] = "it failed; the log says why"
            raise
        finally:
            report.took_s = clock.monotonic_s() - began_s
            if beating is not None:
                beating.cancel()
            # One that was cancelled is still under way: whoever looks next goes on with it.
            if beat is not None and (report.phase == "done" or report.why.get("the rest")):
                self._bench.store.dreams.finish(beat.row.batch, self._owner, clock.wall_s(), report.to_json())
                logger.info("dreamt batch=%s changes=%d took_s=%.1f", beat.row.batch, report.changes, report.took_s)

    def _ended(self, key: tuple[str, Rehearsal], task: asyncio.Task[None]) -> None:
        self._running.pop(key, None)
        if not task.cancelled() and task.exception() is not None:
            logger.error("dream broken off", exc_info=task.exception())

    def _status(self, place: Place) -> dict[str, object]:
        log = self._bench.store.dreams
        held, last = log.current(place.repo_id), log.last(place.repo_id)
        running = self._running.get((place.repo_id, "run"))
        report: Mapping[str, Any] | None = running.book.report.figures() if running else None
        if held is not None and report is None:
            report = parse_figures(held.report)
        return {
            "state": "running"
            if running
            else "broken off"
            if held and self._is_stale(held)
            else "running"
            if held
            else "idle",
            "gate": self._gate(place).figures(),
            "report": report,
            "last": _told(last) if last else None,
        }

    async def _undo(self, place: Place) -> dict[str, object]:
        log = self._bench.store.dreams
        row = log.current(place.repo_id) or log.last(place.repo_id)
        if row is None:
            raise QuestionError("no-change", "There was no dream here that could be undone.", status=404)
        if not row.ended_at_s and not self._is_stale(row):
            raise QuestionError("running", "A dream is under way: undo it once it is over.", status=409)
        book = Workbook(self._bench.store.note_store, place, self._bench.clock, row.batch, "run", Report())
        undone = await take_back(book, self._bench.means.facts, self._bench.means.texts)
        if not row.ended_at_s:  # it was broken off: it is not gone on with
            self._end(row)
        return {"state": "undone", "batch": row.batch, "changes": len(undone)}

    def _end(self, row: DreamRow) -> None:
        with suppress(StoreError):
            self._bench.store.dreams.finish(row.batch, row.owner, self._bench.clock.wall_s(), row.report)

    def _is_stale(self, row: DreamRow) -> bool:
        return self._is_dead(row) or self._bench.clock.wall_s() >= row.seen_at_s + STALE_S

    def _is_dead(self, row: DreamRow) -> bool:
        """Whether the process that dreams has surely ended, or has not been heard of for long."""
        if row.owner == self._owner:
            return (row.repo_id, "run") not in self._running
        if self._bench.clock.wall_s() >= row.seen_at_s + STALE_S:
            return True
        pid = row.owner.partition("-")[0]
        return pid.isdigit() and not is_alive(int(pid))


class _Beat:
    """The signs of life of a run, and whether it is still this process's."""

    def __init__(self, bench: DreamBench, row: DreamRow) -> None:
        self.row = row
        self._bench = bench
        self._is_held = True

    def is_held(self) -> bool:
        return self._is_held

    async def keep(self, report: Report) -> None:
        """Until cancelled."""
        while self._is_held:
            with suppress(StoreError):
                log, now_s = self._bench.store.dreams, self._bench.clock.wall_s()
                self._is_held = log.beat(self.row.batch, self.row.owner, now_s, report.to_json())
            await asyncio.sleep(BEAT_S)


def _told(row: DreamRow) -> dict[str, object]:
    return {
        "batch": row.batch,
        "day": day(row.ended_at_s),
        "ended_at_s": row.ended_at_s,
        "report": parse_figures(row.report),
    }
