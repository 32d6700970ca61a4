"""Keeps a provider's cache of a window while nobody asks: one token asked for now and then, through the prompt's own path.

Opt-in, and never dearer than doing nothing: it stops where it has cost as much as writing the prefix once more would.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from live_memory.agent.background import REFUSED
from live_memory.agent.equipment import Equipment
from live_memory.agent.prompting import prompt_text
from live_memory.agent.seat import ModelSeat
from live_memory.agent.spend import Spend
from live_memory.agent.workspace import Workspace
from live_memory.errors import ModelError, StoreError
from live_memory.llm.base import CompletionRequest, Model
from live_memory.llm.lifetime import cheaper_lifetime
from live_memory.llm.pricing import TOKENS_PER_PRICE, PriceOverrides, rates_in_force
from live_memory.store.base import Account, Store
from live_memory.window.messages import Prompt, Text, Turn
from live_memory.window.prompt import build_prompt, prefix_tokens
from live_memory.window.window import Window

logger = logging.getLogger(__name__)

INTERVAL_RATIO = 0.8  # of the cache's lifetime: 4 minutes of 5
LOOK_S = 30.0  # how often it is looked whose time has come
REQUEST_TIMEOUT_S = 30.0
MIN_OUTPUT_TOKENS = 1
WORD = Turn("user", (Text("."),))  # the API takes no empty turn


@dataclass(frozen=True, slots=True)
class Prices:
    """What one request costs that reads the prefix, and how much dearer the next question is where it must be written."""

    read_usd: float
    rewrite_usd: float

    @property
    def break_even(self) -> int:
        """How many reads cost as much as one re-write."""
        return int(self.rewrite_usd / self.read_usd) if self.read_usd > 0 else 0


@dataclass(slots=True)
class Watch:
    """What was spent on one window since its last question (`asked_at_s` says which that was)."""

    asked_at_s: float
    requests: int = 0
    spent_usd: float = 0.0
    failed_at_s: float = float("-inf")


class KeepWarm:
    """Keeps watch over the windows of one desk."""

    def __init__(self, store: Store, spend: Spend, equipment: Equipment) -> None:
        self._store = store
        self._spend = spend
        self._equipment = equipment
        self._clock = equipment.clock
        self._watches: dict[Path, Watch] = {}

    async def run(
        self,
        seat: Callable[[], ModelSeat],
        workspaces: Callable[[], Iterable[Workspace]],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Look at all `workspaces` again and again, as long as the setting is on."""
        while (now := seat()).settings.keep_warm:
            await sleep(min(LOOK_S, now.settings.keep_warm_interval_s or LOOK_S))
            for workspace in tuple(workspaces()):
                await self.visit(workspace, seat())

    async def visit(self, workspace: Workspace, seat: ModelSeat) -> None:
        """Have the provider read the prefix once, if its time has come; nothing is raised."""
        window = workspace.window
        if window is None or seat.model is None or self.reason_to_wait(workspace, seat):
            return
        seat.users += 1
        try:
            await self._read_once(workspace, window, seat, seat.model)
        except ModelError as error:
            self._watch(workspace).failed_at_s = self._clock.monotonic_s()
            logger.info("not kept warm root=%s error=%s", workspace.root, type(error).__name__)
        except Exception:  # a background task's runner: the next window is still looked after
            self._watch(workspace).failed_at_s = self._clock.monotonic_s()
            logger.exception("not kept warm root=%s", workspace.root)
        finally:
            seat.users -= 1

    def reason_to_wait(self, workspace: Workspace, seat: ModelSeat) -> str:
        """Why nothing is sent for the window now, in words; empty when its time has come."""
        return next(self._reasons(workspace, seat), "")

    def _reasons(self, workspace: Workspace, seat: ModelSeat) -> Iterator[str]:
        settings, gate, watch = seat.settings, workspace.gate, self._watch(workspace)
        if not settings.keep_warm:
            yield "off"
        if workspace.window is None or not workspace.window.history.entries or not gate.is_warm:
            yield "nothing is warm"
        if gate.idle_s > settings.keep_warm_max_idle_s:
            yield f"idle for longer than {settings.keep_warm_max_idle_s} s"
        prices = self.prices(workspace, seat)
        if prices is not None and watch.requests + 1 > prices.break_even:
            yield "it has cost as much as a re-write" if watch.requests else "a re-write costs no more"
        if cause := self._spend.background_refusal(seat):
            yield REFUSED[cause]
        interval_s = self.interval_s(workspace, seat)
        since_s = min(gate.untouched_s, self._clock.monotonic_s() - watch.failed_at_s)
        if not workspace.is_idle or since_s < interval_s:
            yield f"every {interval_s:.0f} s"

    def interval_s(self, workspace: Workspace, seat: ModelSeat) -> float:
        """The time between two requests: the setting, else somewhat less than the provider's cache lives."""
        return seat.settings.keep_warm_interval_s or workspace.gate.lifetime_s * INTERVAL_RATIO

    def prices(self, workspace: Workspace, seat: ModelSeat) -> Prices | None:
        """What is at stake for the window; None where no price is known."""
        if workspace.window is None:
            return None
        estimated = prefix_tokens(prompt_text("system"), workspace.window, self._equipment.explorers.specs)
        tokens = seat.counted(estimated, workspace.scripts)
        overrides = PriceOverrides.from_settings(seat.settings)
        rates = rates_in_force(seat.card, tokens, self._clock.wall_s(), overrides)
        if rates is None:
            return None
        write_usd = rates.write_usd(cheaper_lifetime(seat.card, workspace.gate.pauses_s))
        price = tokens / TOKENS_PER_PRICE
        return Prices(rates.read_usd * price, max(0.0, write_usd - rates.read_usd) * price)

    def figures(self, workspace: Workspace, seat: ModelSeat) -> dict[str, object]:
        """What `/stats` shows of it."""
        if not seat.settings.keep_warm:
            return {"state": "off"}
        watch, prices = self._watch(workspace), self.prices(workspace, seat)
        return {
            "state": self.reason_to_wait(workspace, seat) or "due",
            "requests_since_question": watch.requests,
            "spent_since_question_usd": round(watch.spent_usd, 6),
            "break_even_requests": prices.break_even if prices else None,
            "rewrite_cost_usd": round(prices.rewrite_usd, 6) if prices else None,
        }

    async def _read_once(self, workspace: Workspace, window: Window, seat: ModelSeat, model: Model) -> None:
        specs, sent_s = self._equipment.explorers.specs, self._clock.wall_s()
        prompt: Prompt = build_prompt(prompt_text("system"), window, specs, (WORD,))
        lifetime = cheaper_lifetime(seat.card, workspace.gate.pauses_s)
        request = CompletionRequest(
            prompt, MIN_OUTPUT_TOKENS, REQUEST_TIMEOUT_S, workspace.cache_key, lifetime, "keep-warm"
        )
        completion = await model.complete(request, _unread)
        if workspace.window is window:
            workspace.gate.warm()
        cost_usd = seat.cost_usd(completion.usage, sent_s)
        watch = self._watch(workspace)
        watch.requests += 1
        watch.spent_usd += cost_usd or 0.0
        unpriced = int(cost_usd is None and not seat.is_on_subscription)
        spent_usd = cost_usd or 0.0
        account = Account(0, 1, completion.usage, spent_usd, unpriced, -spent_usd)  # without a cache, none of it
        try:
            self._store.charge(workspace.key, "keep-warm", account, sent_s)
        except StoreError:
            logger.exception("cost not saved root=%s", workspace.root)
        logger.info("kept warm root=%s cached_tokens=%d", workspace.root, completion.usage.cache_read_tokens)

    def _watch(self, workspace: Workspace) -> Watch:
        """The watch since the last question; a new question begins a new one."""
        watch = self._watches.get(workspace.root)
        if watch is None or watch.asked_at_s != workspace.gate.replied_at_s:
            watch = self._watches[workspace.root] = Watch(workspace.gate.replied_at_s)
        return watch


def _unread(_piece: str) -> None:
    """The one token says nothing."""
