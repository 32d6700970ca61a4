"""Making room in a window: what leaves it is distilled into facts first. Without them goes only what can be read again
and, where the prompt would overflow otherwise, the oldest exchanges, whose facts stay owed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile

from live_memory.agent.attribution import Subject, facts_of
from live_memory.agent.seat import ModelSeat
from live_memory.agent.summarizer import Distillate, Material, Summarizer
from live_memory.agent.workspace import Workspace
from live_memory.clock import Clock
from live_memory.errors import StoreError
from live_memory.llm.base import Model
from live_memory.notes import ledger
from live_memory.store.base import NO_HARVEST, Harvest
from live_memory.window.compaction import (
    Dropped,
    Room,
    absorbed,
    beyond_floor,
    compacted,
    is_over,
    plan_compaction,
    prompt_tokens,
)
from live_memory.window.files import FileContext
from live_memory.window.window import Exchange

logger = logging.getLogger(__name__)

OWED_AT_ONCE = 20  # exchanges that had to leave without facts, distilled beside what leaves now
RETRY_S = 60.0  # from a summarizer's failure until it is asked again


@dataclass(frozen=True, slots=True)
class Occasion:
    """What room is made for: the seat and the model that answer, and the instant until which summaries may take."""

    seat: ModelSeat
    model: Model
    until_s: float


class Compactor:
    """Makes room in one window. Of several at once on a workspace one does it, the others go on with what there is."""

    def __init__(self, workspace: Workspace, clock: Clock) -> None:
        self._workspace = workspace
        self._state = workspace.compaction
        self._clock = clock

    async def make_room(self, room: Room, occasion: Occasion) -> None:
        """Have the window leave room for a question. One that is being compacted already is waited for only where the
        prompt would overflow."""
        if self._state.ended is not None and self._overflows(room):
            await self._wait(self._state.ended, occasion)
        if self._state.ended is None:
            await self._compact(room, occasion)
        if self._overflows(room):
            self._leave_out(room)

    async def _compact(self, room: Room, occasion: Occasion) -> None:
        window, generation = self._workspace.window, self._workspace.generation
        plan = plan_compaction(window, room) if window is not None else None
        if plan is None:
            return
        distilled_at_s = self._state.distilled_at_s
        subjects = self._subjects(plan, occasion)
        if not subjects:
            self._commit(room, replace(plan, exchanges=()))
            return
        # Taken before the first await: a fork that comes here meanwhile does not distil the same once more.
        self._state.ended = asyncio.Event()
        try:
            distillate = await self._distil(subjects, occasion)
            if self._workspace.generation == generation:
                self._take_in(room, plan, subjects, distillate)
        except asyncio.CancelledError:
            self._state.distilled_at_s = distilled_at_s
            raise
        finally:
            self._state.ended.set()
            self._state.ended = None

    def _subjects(self, plan: Dropped, occasion: Occasion) -> tuple[Subject, ...]:
        """What to distil now: texts only where the last time was long enough ago, nothing while the summarizer rests."""
        now_s = self._clock.monotonic_s()
        if now_s < self._state.retry_at_s:
            return ()
        is_due = now_s >= self._state.distilled_at_s + occasion.seat.settings.distill_min_interval_s
        texts = plan.texts if is_due else ()
        if texts:
            self._state.distilled_at_s = now_s
        if not (texts or plan.exchanges):
            return ()
        return (*texts, *self._workspace.owed(OWED_AT_ONCE), *plan.exchanges)

    async def _distil(self, subjects: Sequence[Subject], occasion: Occasion) -> Distillate:
        scribe = occasion.seat.scribe(occasion.model)
        summarizer = Summarizer(scribe, self._clock, self._workspace.cache_key)
        materials, window = [_material(each) for each in subjects], self._workspace.window
        try:
            return await summarizer.distil(materials, window.ledger if window else "", occasion.until_s)
        finally:
            with suppress(StoreError):  # the next account that can be saved is still right about itself
                self._workspace.charge("compaction", summarizer.account)

    def _take_in(self, room: Room, plan: Dropped, subjects: Sequence[Subject], distillate: Distillate) -> None:
        if len(distillate.done) < len(subjects):
            self._state.retry_at_s = self._clock.monotonic_s() + RETRY_S
        window = self._workspace.window
        if window is None:
            return
        done = {
            each.id for number, each in enumerate(subjects) if number in distillate.done and isinstance(each, Exchange)
        }
        carried = tuple(takewhile(lambda each: each.id in done, plan.exchanges))
        stay = {each.id for each in plan.exchanges[len(carried) :]}  # a later compaction distils them once more
        facts = facts_of(distillate.learned, subjects, absorbed(window), self._clock.wall_s())
        self._commit(room, replace(plan, exchanges=carried), Harvest(facts, tuple(sorted(done - stay))))

    def _leave_out(self, room: Room) -> None:
        window = self._workspace.window
        if window is not None:
            dropped = beyond_floor(window, room)
            if self._commit(room, dropped):
                logger.warning("left out root=%s exchanges=%d", self._workspace.root, len(dropped.exchanges))

    def _commit(self, room: Room, dropped: Dropped, harvest: Harvest = NO_HARVEST) -> bool:
        """Whether the window could be replaced by one without what is dropped, and saved with `harvest`."""
        window = self._workspace.window
        if window is None:
            return False
        try:
            known = {fact.id: fact for fact in (*self._workspace.notes.facts(self._workspace.key), *harvest.facts)}
            text = ledger.render(ledger.select(known.values(), room.ledger_tokens))
            shorter = compacted(window, dropped, text)
            is_idle = dropped == Dropped() and harvest == NO_HARVEST
            if is_idle and prompt_tokens(shorter, room) > room.budget.threshold_tokens:
                return False  # nothing would come of it but a cold cache
            self._workspace.refreeze(shorter, harvest)
        except StoreError:
            logger.exception("not compacted root=%s", self._workspace.root)
            return False
        self._state.count += 1
        self._state.last_at_s = self._clock.wall_s()
        logger.info(
            "compacted root=%s texts=%d names=%d exchanges=%d facts=%d",
            self._workspace.root,
            len(dropped.texts),
            len(dropped.names),
            len(dropped.exchanges),
            len(harvest.facts),
        )
        return True

    def _overflows(self, room: Room) -> bool:
        return self._workspace.window is not None and is_over(self._workspace.window, room)

    async def _wait(self, ended: asyncio.Event, occasion: Occasion) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, occasion.until_s - self._clock.monotonic_s())):
                await ended.wait()


def _material(subject: Subject) -> Material:
    if isinstance(subject, FileContext):
        return Material(subject.path, subject.content or "")
    return Material(f"question and answer {subject.id}", f"Question: {subject.question}\n\nAnswer: {subject.answer}")
