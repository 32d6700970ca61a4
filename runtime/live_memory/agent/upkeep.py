"""What a window goes through before a question: it is loaded or begun, its files are checked, and what changed is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from live_memory.agent import wording
from live_memory.agent.compaction import Compactor, Occasion
from live_memory.agent.equipment import Equipment
from live_memory.agent.freshness import Findings
from live_memory.agent.preload import preloaded
from live_memory.agent.recollection import recheck
from live_memory.agent.seat import ModelSeat
from live_memory.agent.trees import directory_tree, tree_tokens
from live_memory.agent.workspace import Workspace
from live_memory.llm.base import Model
from live_memory.window.budget import Budget
from live_memory.window.compaction import Room, room_for_news
from live_memory.window.files import Observation
from live_memory.window.window import Window

logger = logging.getLogger(__name__)

CHECK_BUDGET_S = 0.05  # for looking at all files that are held, and reading those that look changed
CHECK_TIMEOUT_S = 1.0  # for a file system that hangs: the question is then answered with what is known
PRELOAD_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Unchecked:
    """The files that are not known to be as the window says, because there was no time to look or no tree to be seen."""

    paths: frozenset[str] = frozenset()
    is_tree_there: bool = True

    def __bool__(self) -> bool:
        return bool(self.paths) or not self.is_tree_there

    def remark(self) -> str:
        """What the model is told of it, in one line."""
        return wording.unchecked_files(len(self.paths)) if self.is_tree_there else wording.unreachable_tree()

    def may_concern(self, paths: Iterable[str]) -> bool:
        return not self.is_tree_there or not self.paths.isdisjoint(paths)


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The care of one window on behalf of one question."""

    workspace: Workspace
    equipment: Equipment
    seat: ModelSeat
    budget: Budget

    async def load(self, timeout_s: float, on_begin: Callable[[], None]) -> None:
        """Have the window in memory: as it was saved, or begun (after `on_begin`) with a new tree."""
        workspace, max_tokens = self.workspace, tree_tokens(self.seat, self.budget)
        async with workspace.loading:
            if workspace.window is not None:
                return
            saved = workspace.saved_window(max_tokens)
            await recheck(workspace, self.equipment)
            if saved is not None:
                documents = await self._documents(timeout_s)
                workspace.window = workspace.known_window()
                workspace.observe(documents)
                return
            on_begin()
            listed = await directory_tree(self.equipment, workspace.root, max_tokens, timeout_s)
            tree = workspace.redaction.clean(listed)
            documents = await self._documents(timeout_s)
            known = workspace.known_window()
            findings = await self._findings(known, timeout_s)
            news = findings.news if findings else ()
            workspace.begin(tree, (*documents, *news), self.budget.floor_tokens)

    async def refresh(self, timeout_s: float) -> Unchecked:
        """Look what became of the window's files since the question before, and say which are left: those are looked at
        meanwhile, for the question after."""
        workspace, window = self.workspace, self.workspace.window
        if window is None:
            return Unchecked()
        findings = await self._findings(window, timeout_s)
        if findings is None:
            return Unchecked(frozenset((*window.files, *window.pending)))
        workspace.observe(findings.news, based_on=window)
        if findings.unchecked and not workspace.checks.is_at_work:
            max_bytes = self.seat.settings.passive_max_file_bytes
            rest = self.equipment.threads.begin(workspace.freshness.check_rest, window, max_bytes, findings.unchecked)
            workspace.checks.add(rest, window)
        return Unchecked(frozenset(findings.unchecked), findings.is_tree_there)

    async def make_room(self, model: Model, fixed_tokens: int, timeout_s: float) -> None:
        """Compact the window where it has grown too large for a question, and tell it what is pending. `fixed_tokens` is
        the prompt besides the window: tools, instructions, tree, question; `timeout_s` is for the summaries."""
        room = Room(self.budget, fixed_tokens, self.seat.settings.ledger_max_tokens)
        clock = self.equipment.clock
        occasion = Occasion(self.seat, model, clock.monotonic_s() + timeout_s)
        await Compactor(self.workspace, clock).make_room(room, occasion)
        if self.workspace.window is not None:
            self.workspace.settle(room_for_news(self.workspace.window, room))

    async def _findings(self, window: Window, timeout_s: float) -> Findings | None:
        """What became of the files; None where the file system hangs, or hung at the question before and still does."""
        if not (window.files or window.pending):
            return Findings()
        if self.workspace.checks.is_hanging:
            return None
        max_bytes, threads = self.seat.settings.passive_max_file_bytes, self.equipment.threads
        check = threads.begin(self.workspace.freshness.check, window, max_bytes, CHECK_BUDGET_S)
        done, _ = await asyncio.wait((check,), timeout=min(CHECK_TIMEOUT_S, timeout_s))
        if done:
            return check.result()
        logger.warning("files not checked in time root=%s", self.workspace.root)
        self.workspace.checks.add_hanging(check, window)
        return None

    async def _documents(self, timeout_s: float) -> tuple[Observation, ...]:
        settings, root = self.seat.settings, self.workspace.root
        if not settings.preload_globs:
            return ()
        room_tokens = self.budget.floor_tokens - tree_tokens(self.seat, self.budget)
        limit_s, now_s = min(PRELOAD_TIMEOUT_S, timeout_s), self.equipment.clock.wall_s()
        try:
            return await self.equipment.threads.run(
                limit_s, preloaded, self.workspace.freshness.files, root, settings, room_tokens, now_s
            )
        except TimeoutError:
            logger.warning("not preloaded in time root=%s timeout_s=%.0f", root, limit_s)
            return ()
