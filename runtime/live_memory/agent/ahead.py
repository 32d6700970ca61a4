"""Compaction between questions: a window that an answer has filled makes room at once, so that the next question need not
wait for it."""

from __future__ import annotations

import asyncio
import logging

from live_memory.agent.compaction import Compactor, Occasion
from live_memory.agent.equipment import Equipment
from live_memory.agent.prompting import unfrozen_tokens
from live_memory.agent.seat import ModelSeat
from live_memory.agent.spend import Spend
from live_memory.agent.workspace import Workspace
from live_memory.errors import StoreError
from live_memory.llm.base import Model
from live_memory.window.compaction import Room, plan_compaction

logger = logging.getLogger(__name__)

TIMEOUT_S = 120.0  # for all summaries of one compaction
CLOSING_S = 1.0


class AheadOfQuestions:
    """Owns the compactions that no question waits for. They are background work, and bounded as such."""

    def __init__(self, spend: Spend, equipment: Equipment) -> None:
        self._spend = spend
        self._equipment = equipment
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_at_work(self) -> bool:
        return bool(self._tasks)

    def begin(self, workspace: Workspace, seat: ModelSeat) -> None:
        """Compact the window of `workspace` beside all else, where it has grown beyond the threshold and summaries may be
        paid for."""
        window, state, now_s = workspace.window, workspace.compaction, self._equipment.clock.monotonic_s()
        is_due = now_s >= max(state.retry_at_s, state.distilled_at_s + seat.settings.distill_min_interval_s)
        if window is None or seat.model is None or state.ended is not None or not is_due:
            return
        budget = seat.budget(seat.answer_tokens(0), workspace.scripts)
        fixed_tokens = unfrozen_tokens(window, self._equipment.explorers.specs)
        room = Room(budget, fixed_tokens, seat.settings.ledger_max_tokens)
        if plan_compaction(window, room) is None or not self._may_spend(seat):
            return
        seat.users += 1
        task = asyncio.create_task(self._compact(workspace, seat, seat.model, room))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End what is under way; nothing of it is kept."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSING_S)

    def _may_spend(self, seat: ModelSeat) -> bool:
        try:
            return self._spend.background_refusal(seat) is None
        except StoreError:
            logger.exception("spending unknown: not compacted ahead")
            return False

    async def _compact(self, workspace: Workspace, seat: ModelSeat, model: Model, room: Room) -> None:
        clock = self._equipment.clock
        try:
            await Compactor(workspace, clock).make_room(room, Occasion(seat, model, clock.monotonic_s() + TIMEOUT_S))
        except Exception:  # a background task's runner: the next question makes room for itself
            logger.exception("not compacted ahead root=%s", workspace.root)
        finally:
            seat.users -= 1
