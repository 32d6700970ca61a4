"""What the running server knows about itself. One value, shared by every route; no route keeps anything elsewhere."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from live_memory.agent.desk import QuestionDesk
from live_memory.clock import Clock
from live_memory.settings import Settings

Status: TypeAlias = Literal["ok", "installing", "degraded", "draining"]


@dataclass(frozen=True, slots=True)
class Phase:
    """Where the server stands: `step` says what is being done while installing, `reason` why it is degraded."""

    status: Status
    step: str = ""
    reason: str = ""


@dataclass(slots=True)
class ServerState:
    """`started_s` and `last_request_s` are readings of `clock.monotonic_s`. A health probe is not a request: whoever
    only looks whether the server is alive must not keep it alive."""

    version: str
    token: str = field(repr=False)
    data_dir: Path
    port: int
    clock: Clock
    started_s: float
    desk: QuestionDesk
    phase: Phase
    shutdown: asyncio.Event
    last_request_s: float
    settings: Settings = field(default_factory=Settings)
    requests_in_flight: int = 0

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Around the work on a request: it puts off the idle exit, until it has ended."""
        self.requests_in_flight += 1
        self.last_request_s = self.clock.monotonic_s()
        try:
            yield
        finally:
            self.requests_in_flight -= 1
            self.last_request_s = self.clock.monotonic_s()

    @property
    def idle_left_s(self) -> float:
        """Seconds until the server has been idle for long enough to end; infinite while it works."""
        if self.requests_in_flight:
            return math.inf
        return self.last_request_s + self.settings.idle_exit_s - self.clock.monotonic_s()

    def drain(self) -> None:
        """Take no new question from now on, and let the server's owner know that it shall end."""
        self.phase = Phase("draining")
        self.shutdown.set()
