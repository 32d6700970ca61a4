"""The model as work gets it that no question waits for: lent for one purpose, within the background's share of the budget."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

from live_memory.agent.seat import Models, ModelSeat, Scribe, scribe_named
from live_memory.agent.spend import Cause, Spend
from live_memory.clock import Clock
from live_memory.errors import ConfigError, StoreError
from live_memory.llm.base import Purpose
from live_memory.settings import Settings
from live_memory.store.base import Account, Store

logger = logging.getLogger(__name__)

NotNow: TypeAlias = Cause | Literal["no-model", "store", "setting"]
REFUSED: dict[NotNow, str] = {
    "budget": "the day's budget is spent",
    "background-share": "the background's share of the day's budget is spent",
    "no-client": "no client is active",
    "no-model": "there is no model",
    "store": "what was spent is unknown",
    "setting": "the model that is set cannot be used",
}


class NoModelNow(Exception):
    """Background work may not ask a model now; `cause` says why."""

    def __init__(self, cause: NotNow) -> None:
        super().__init__(REFUSED[cause])
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Seats:
    """The model's seat as it is, and as it is once it was looked for a model where there was none."""

    in_force: Callable[[], ModelSeat]
    current: Callable[[], Awaitable[ModelSeat]]


class Background:
    """Lends the model in force. Whoever borrows it pays by `charge`."""

    def __init__(self, seats: Seats, models: Models, spend: Spend, store: Store) -> None:
        self._seats = seats
        self._models = models
        self._spend = spend
        self._store = store

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._seats.in_force().settings

    def refusal(self) -> NotNow | None:
        """Why the model in force may not be asked now, as far as is known without looking for another."""
        try:
            self._require(self._seats.in_force())
        except NoModelNow as error:
            return error.cause
        return None

    @asynccontextmanager
    async def lent(self, name: str = "") -> AsyncIterator[Scribe]:
        """The model of that name at the provider in force, else the one that writes summaries; it stays open until given
        back. NoModelNow."""
        seat = await self._seats.current()
        self._require(seat)
        try:
            scribe = scribe_named(name, self._models, seat)
        except ConfigError as error:
            raise NoModelNow("setting") from error
        seat.users += 1
        try:
            yield scribe
        finally:
            seat.users -= 1

    def _require(self, seat: ModelSeat) -> None:
        """NoModelNow where the model of `seat` may not be asked."""
        if seat.model is None:
            raise NoModelNow("no-model")
        try:
            cause = self._spend.background_refusal(seat)
        except StoreError as error:
            raise NoModelNow("store") from error
        if cause is not None:
            raise NoModelNow(cause)

    @property
    def has_client(self) -> bool:
        """Whether somebody was there lately."""
        return self._spend.has_client

    async def check(self) -> None:
        """NoModelNow where a model may not be asked now."""
        self._require(await self._seats.current())

    def charge(self, root: str, purpose: Purpose, account: Account, clock: Clock) -> None:
        """Enter what requests took."""
        if account == Account():
            return
        try:
            self._store.charge(root, purpose, account, clock.wall_s())
        except StoreError:
            logger.exception("cost not saved root=%s purpose=%s", root, purpose)
