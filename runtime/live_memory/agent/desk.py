"""The question desk: the one entrance to questions, for every server and every client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from live_memory.agent import statistics, wording
from live_memory.agent.admission import NoPlaceInTime
from live_memory.agent.ahead import AheadOfQuestions
from live_memory.agent.answers import Answer, Question
from live_memory.agent.background import Background, Seats
from live_memory.agent.equipment import Equipment
from live_memory.agent.ingest import FileNotice
from live_memory.agent.intake import Intake
from live_memory.agent.keep_warm import KeepWarm
from live_memory.agent.question import Asked, QuestionRun
from live_memory.agent.roots import canonical_root
from live_memory.agent.seat import Models, ModelSeat, seat_or_passages, take_seat
from live_memory.agent.spend import Spend
from live_memory.agent.upkeep import Upkeep
from live_memory.agent.watching import watched_paths
from live_memory.agent.workspace import Workspace
from live_memory.agent.workspaces import Workspaces
from live_memory.configuration import Configuration
from live_memory.errors import QuestionError, StoreError
from live_memory.settings import Settings
from live_memory.store.base import Store, utc_day

logger = logging.getLogger(__name__)

ROOT_TIMEOUT_S = 5.0  # for a folder on a file system that hangs
RESET_TREE_S = 60.0
WATCH_TIMEOUT_S = 0.15  # below what a hook waits
CHOICE_TIMEOUT_S = 5.0
RECHOOSE_S = 30.0  # how often a desk without a model looks whether there is one by now


def ignore_progress(_line: str) -> None:
    """For a caller that wants no progress."""


class QuestionDesk:
    """Answers questions about any number of workspaces. Owned by one event loop."""

    def __init__(
        self,
        configuration: Configuration,
        read_configuration: Callable[[], Configuration],
        models: Models,
        store: Store,
        equipment: Equipment,
    ) -> None:
        self._configuration = configuration
        self._read_configuration = read_configuration
        self._models = models
        self._store = store
        self._spend = Spend(store, equipment.clock)
        self._background = Background(Seats(lambda: self._seat, self._current_seat), models, self._spend, store)
        self._keep_warm = KeepWarm(store, self._spend, equipment)
        self._keeping_warm: asyncio.Task[None] | None = None
        self._ahead = AheadOfQuestions(self._spend, equipment)
        self._equipment = equipment
        self._clock = equipment.clock
        self._started_s = self._clock.monotonic_s()
        self._seat = seat_or_passages(models, configuration, self._clock.wall_s())
        self._chosen_s = self._started_s
        self._retired: list[ModelSeat] = []
        self._workspaces = Workspaces(store, equipment, lambda: self._configuration.settings)
        self._intake = Intake(equipment, lambda: self._configuration, self._workspaces)
        self._doors: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._in_flight: set[asyncio.Task[object]] = set()
        self._is_closing = False

    async def ask(self, question: Question, on_progress: Callable[[str], None] = ignore_progress) -> Answer:
        """The answer, within the time limit; QuestionError when the question cannot be taken. Cancelling the call
        ends the work and commits nothing."""
        asked = Asked(question.cleaned(), self._clock.monotonic_s(), on_progress)
        self._spend.note_client()
        self._refuse_when_closing()
        task = asyncio.current_task()
        assert task is not None
        self._in_flight.add(task)
        try:
            workspace = self._workspaces.of(await self._root(asked.question.cwd))
            text = workspace.redaction.clean(asked.question.text)
            await self._intake.catch_up()
            return await self._admitted(replace(asked, question=replace(asked.question, text=text)), workspace)
        finally:
            self._in_flight.discard(task)

    def note_client(self) -> None:
        """A client has told something that asks for no answer."""
        self._spend.note_client()

    @property
    def background(self) -> Background:
        """How work that no question waits for gets a model."""
        return self._background

    def stats(self, cwd: str) -> dict[str, object]:
        """What `/stats` shows of the workspace of `cwd`; of all workspaces together when it is empty. QuestionError for
        a cwd that is no workspace."""
        seat = self._seat
        figures = statistics.seat_figures(seat) | {
            "uptime_s": round(self._clock.monotonic_s() - self._started_s),
            "database_bytes": self._store.size_bytes(),
            "notice": self._store.notice,
        }
        root = canonical_root(cwd, self._configuration.home, self._configuration.settings) if cwd else None
        workspace = self._workspaces.sight_of(root) if root else None
        now_s = self._clock.wall_s()
        figures["redaction"] = statistics.redaction_figures(
            workspace, self._equipment.tally, self._configuration.settings
        )
        figures |= statistics.account_figures(self._store, workspace, utc_day(now_s))
        figures |= statistics.budget_figures(self._store, seat.settings, now_s)
        figures |= statistics.window_figures(workspace, seat, self._equipment.explorers.specs, self._clock)
        if workspace is not None:
            figures["keep_warm"] = self._keep_warm.figures(workspace, seat)
        return figures

    async def clear(self, cwd: str) -> None:
        """Forget the workspace's window; the next question begins a new one. Accounts stay."""
        workspace = self._workspaces.of(await self._root(cwd))
        self._refuse_when_closing()  # by now the store may be closed
        workspace.forget()
        logger.info("cleared root=%s", workspace.root)

    async def reset(self, cwd: str) -> None:
        """Forget the workspace's window and begin a new one at once, with the directory tree as it is now."""
        await self.clear(cwd)
        seat = self._seat
        if seat.model is None:
            return  # passages need no window
        workspace = self._workspaces.of(await self._root(cwd))
        budget = seat.budget(seat.answer_tokens(0))
        await Upkeep(workspace, self._equipment, seat, budget).load(RESET_TREE_S, on_begin=lambda: None)

    async def observe(self, notice: FileNotice) -> int:
        """Learn from files that others worked with, for the next question; how many brought something new. QuestionError
        for a cwd that is no workspace."""
        self._refuse_when_closing()
        self._spend.note_client()
        return await self._intake.take(notice)

    async def watched_paths(self, cwd: str) -> tuple[str, ...]:
        """Absolute paths of the files that a session in `cwd` should watch; none where the disk is slow to tell.
        QuestionError for a cwd that is no workspace."""
        root = await self._root(cwd)
        window, files = self._workspaces.of(root).known_window(), self._equipment.files
        try:
            return await self._equipment.threads.run(WATCH_TIMEOUT_S, watched_paths, files, root, window)
        except TimeoutError:
            return ()

    @property
    def settings(self) -> Settings:
        """Those in force."""
        return self._configuration.settings

    async def root(self, cwd: str) -> Path:
        """The canonical root of the workspace of `cwd`; QuestionError for one that is none."""
        return await self._root(cwd)

    async def concern(self, cwd: str) -> str:
        """What who works in `cwd` has to know, in a sentence; mostly nothing."""
        workspace = self._workspaces.of(await self._root(cwd))
        return wording.unredacted(workspace.root) if workspace.redaction.mode == "off" else ""

    def reload(self) -> Configuration:
        """Take over changed settings, keeping every window; ConfigError keeps what was in force."""
        configuration = self._read_configuration()
        seat = take_seat(self._models, configuration, self._clock.wall_s())
        self._configuration = configuration
        for workspace in self._workspaces.values():
            workspace.limit(configuration.settings)
            workspace.redact(configuration.settings)
        self._change_seat(seat)
        logger.info("reloaded provider=%s model=%s", seat.choice.kind, seat.choice.model)
        return configuration

    def needs_packages(self) -> bool:
        """Whether answering takes a provider's SDK."""
        return self._seat.choice.kind in ("anthropic", "openai")

    async def close(self, grace_s: float) -> None:
        """Take no more questions, let those in flight finish for up to `grace_s`, end the rest, and close what is open."""
        self._is_closing = True
        if self._in_flight:
            _, late = await asyncio.wait(self._in_flight, timeout=grace_s)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=grace_s)
        await self._intake.close(grace_s)
        if self._keeping_warm is not None:
            self._keeping_warm.cancel()
            await asyncio.wait((self._keeping_warm,), timeout=grace_s)
        await self._ahead.close()
        for seat in (*self._retired, self._seat):
            await seat.close()
        self._equipment.threads.close()
        self._store.close()

    def _refuse_when_closing(self) -> None:
        if self._is_closing:
            raise QuestionError("draining", "The server is shutting down: ask again in a moment.", status=503)

    async def _admitted(self, asked: Asked, workspace: Workspace) -> Answer:
        timeout_s = self._configuration.settings.default_timeout_s
        left_s = asked.at_s + timeout_s - self._clock.monotonic_s()
        try:
            async with workspace.admission.admitted(left_s):
                return await self._answered(asked, workspace)
        except NoPlaceInTime:
            run = QuestionRun(asked, workspace, self._seat, self._equipment)
            return replace(await run.answer_by_passages(wording.waited_in_vain(timeout_s)), timed_out=True)

    async def _answered(self, asked: Asked, workspace: Workspace) -> Answer:
        seat = await self._current_seat()
        seat.users += 1
        self._start_keeping_warm()
        workspace.used_at_s = self._clock.monotonic_s()
        try:
            allowed = replace(asked, max_cost_usd=self._spend.left_usd(seat))
            run = QuestionRun(allowed, workspace, seat, self._equipment)
            if seat.model is None:
                return await run.answer_by_passages(wording.no_model(seat.why))
            if reason := self._spend.refusal(seat):
                return await run.answer_by_passages(reason)
            return await run.answer_by_model(seat.model)
        except StoreError as error:
            logger.exception("no window root=%s", workspace.root)
            return await QuestionRun(asked, workspace, seat, self._equipment).answer_by_passages(
                wording.no_model(f"its memory cannot be used: {error}")
            )
        finally:
            if not self._is_closing:
                self._ahead.begin(workspace, seat)
            seat.users -= 1
            await self._close_retired()

    def _start_keeping_warm(self) -> None:
        is_on = self._configuration.settings.keep_warm and not self._is_closing
        if is_on and (self._keeping_warm is None or self._keeping_warm.done()):
            self._keeping_warm = asyncio.create_task(self._keep_warm.run(lambda: self._seat, self._workspaces.values))

    async def _current_seat(self) -> ModelSeat:
        """The seat; where passages answer for want of a key, the choice is made anew from time to time."""
        now_s = self._clock.monotonic_s()
        is_settled = self._seat.model is not None or self._models.absence is not None
        if is_settled or self._configuration.settings.provider or now_s < self._chosen_s + RECHOOSE_S:
            return self._seat
        self._chosen_s = now_s
        configuration = self._configuration
        seat = await self._equipment.threads.run(
            CHOICE_TIMEOUT_S, seat_or_passages, self._models, configuration, self._clock.wall_s()
        )
        if seat.model is not None and configuration is self._configuration:
            self._change_seat(seat)
        return self._seat

    def _change_seat(self, seat: ModelSeat) -> None:
        if seat.choice != self._seat.choice:
            for workspace in self._workspaces.values():
                workspace.gate.cool("model change")
        self._retired.append(self._seat)
        self._seat = seat
        self._chosen_s = self._clock.monotonic_s()

    async def _close_retired(self) -> None:
        """Close the models that a reload replaced and nobody uses any more."""
        idle = [seat for seat in self._retired if not seat.users]
        self._retired = [seat for seat in self._retired if seat.users]
        for seat in idle:
            await seat.close()

    async def _root(self, cwd: str) -> Path:
        """The canonical root, looked up in a thread; questions from one folder keep their order of arrival."""
        self._refuse_when_closing()
        configuration = self._configuration
        door = self._doors.setdefault(cwd, asyncio.Lock())
        try:
            async with asyncio.timeout(ROOT_TIMEOUT_S), door:
                return await self._equipment.threads.run(
                    ROOT_TIMEOUT_S, canonical_root, cwd, configuration.home, configuration.settings
                )
        except TimeoutError:
            raise QuestionError("bad-cwd", f"The file system of {cwd} does not answer: try again later.") from None
