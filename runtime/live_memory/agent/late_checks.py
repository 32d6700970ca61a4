"""Checks of a window's files that go on while questions do: what they find is told with the question after."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from live_memory.agent.freshness import Findings
from live_memory.window.window import Window

if TYPE_CHECKING:
    from live_memory.agent.workspace import Workspace

logger = logging.getLogger(__name__)


class LateChecks:
    """The checks of one workspace that no question waits for any more. They end by themselves."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._checks: set[asyncio.Future[Findings]] = set()
        self._hanging: asyncio.Future[Findings] | None = None

    @property
    def is_at_work(self) -> bool:
        return bool(self._checks)

    @property
    def is_hanging(self) -> bool:
        """Whether the file system has still not answered a question that asked it in vain."""
        return self._hanging is not None

    def add(self, check: asyncio.Future[Findings], window: Window) -> None:
        """Take over what `check` of the files of `window` will find."""
        self._checks.add(check)
        check.add_done_callback(partial(self._end, window))

    def add_hanging(self, check: asyncio.Future[Findings], window: Window) -> None:
        self._hanging = check
        self.add(check, window)

    def _end(self, window: Window, check: asyncio.Future[Findings]) -> None:
        self._checks.discard(check)
        if self._hanging is check:
            self._hanging = None
        if check.cancelled():
            return
        try:
            self._workspace.observe(check.result().news, based_on=window)
        except Exception:  # a background task's runner: the next question looks itself
            logger.exception("files not checked root=%s", self._workspace.root)
