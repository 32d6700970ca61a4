"""What models may still be asked today: the day's budgets, and the narrower bounds of work that nobody waits for.

Nothing is reserved ahead: what a question took counts from its end on. One that uses up by itself what was left of the
day's money is asked for its answer then.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from live_memory.agent import wording
from live_memory.agent.seat import ModelSeat
from live_memory.clock import Clock
from live_memory.llm.base import Purpose
from live_memory.store.base import Account, Store, utc_day

BACKGROUND: tuple[Purpose, ...] = ("compaction", "keep-warm", "capture", "dream")
CLIENT_ACTIVE_S = 1800.0  # how long after a client's last sign of life it counts as active

Cause: TypeAlias = Literal["budget", "background-share", "no-client"]


class Spend:
    """Judges by the accounts in the store, so that every process over them keeps to one budget."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._client_seen_s = float("-inf")

    def note_client(self) -> None:
        """A client has asked or told something."""
        self._client_seen_s = self._clock.monotonic_s()

    @property
    def has_client(self) -> bool:
        """Whether a client gave a sign of life lately."""
        return self._clock.monotonic_s() - self._client_seen_s <= CLIENT_ACTIVE_S

    def refusal(self, seat: ModelSeat) -> str:
        """The sentence why no model may be asked for the rest of the day; empty while one may."""
        settings, spent = seat.settings, self._spent()
        if _is_over(spent.cost_usd, settings.daily_budget_usd) and not seat.is_on_subscription:
            return wording.spent_usd(settings.daily_budget_usd)
        if _is_over(budget_tokens(spent), settings.daily_budget_tokens):
            return wording.spent_tokens(settings.daily_budget_tokens)
        return ""

    def left_usd(self, seat: ModelSeat) -> float:
        """What is left of the day's money; infinite where it is not bound."""
        cap_usd = seat.settings.daily_budget_usd
        if not cap_usd or seat.is_on_subscription:
            return math.inf
        return max(0.0, cap_usd - self._spent().cost_usd)

    def background_refusal(self, seat: ModelSeat) -> Cause | None:
        """Why a model may not be asked now while no question waits for it; None where it may."""
        if not self.has_client:
            return "no-client"
        if self.refusal(seat):
            return "budget"
        settings, ratio = seat.settings, seat.settings.background_budget_ratio
        day = utc_day(self._clock.wall_s())
        spent = sum((self._store.account(day=day, purpose=purpose) for purpose in BACKGROUND), Account())
        is_over_usd = _is_over(spent.cost_usd, settings.daily_budget_usd * ratio) and not seat.is_on_subscription
        if ratio == 0 or is_over_usd or _is_over(budget_tokens(spent), settings.daily_budget_tokens * ratio):
            return "background-share"
        return None

    def _spent(self) -> Account:
        return self._store.account(day=utc_day(self._clock.wall_s()))


def budget_tokens(account: Account) -> int:
    """What counts against `daily_budget_tokens`: all but what was read from a provider's cache."""
    usage = account.usage
    return usage.input_tokens + usage.cache_write_tokens + usage.output_tokens


def _is_over(spent: float, cap: float) -> bool:
    """Whether a budget is used up; 0 sets none."""
    return cap > 0 and spent >= cap
