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
from live_memory.memory.capture.runner import Capture
from live_memory.memory.dream.runner import Dreams
from live_memory.memory.library import Library
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
    library: Library
    capture: Capture
    dreams: Dreams
    phase: Phase
    shutdown: asyncio.Event
    last_request_s: float
    settings: Settings = field(default_factory=Settings)
    requests_in_flight: int = 0
    token_file: Path | None = None

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

    @property
    def is_orphan(self) -> bool:
        """Whether the token in the data folder is no longer this server's. Then the token was replaced, or the folder
        removed, and nobody who reads it anew can talk to this server, not even to end it."""
        if self.token_file is None:
            return False
        try:
            return self.token_file.read_text(encoding="ascii").strip() != self.token
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return True
        except OSError:
            return False  # it may well be there: no descriptor is free, or the disk does not answer

    def drain(self) -> None:
        """Take no new question from now on, and let the server's owner know that it shall end."""
        self.phase = Phase("draining")
        self.shutdown.set()
