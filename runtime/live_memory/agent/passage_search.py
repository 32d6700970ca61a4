"""The passages for one question: searched at most once, and ahead of the moment they are needed."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from live_memory.agent.explorers import Explorers, Threads
from live_memory.errors import LiveMemoryError
from live_memory.text.redaction import Redaction

logger = logging.getLogger(__name__)

SEARCH_TIMEOUT_S = 10.0


class PassageSearch:
    """A search that runs beside the model. Whoever makes one closes it."""

    def __init__(self, explorers: Explorers, threads: Threads, root: Path, question: str, redaction: Redaction) -> None:
        self._explorers = explorers
        self._threads = threads
        self._root = root
        self._question = question
        self._redaction = redaction
        self._due = asyncio.Event()
        self._task: asyncio.Task[str] | None = None

    def start(self, delay_s: float = 0.0) -> None:
        """Begin the search after `delay_s`, or as soon as its passages are asked for."""
        if delay_s <= 0:
            self._due.set()
        if self._task is None:
            self._task = asyncio.create_task(self._search(delay_s))

    async def passages(self, timeout_s: float) -> str:
        """What the search finds; empty when there is nothing, or it takes longer than `timeout_s`."""
        self.start()
        assert self._task is not None
        done, _ = await asyncio.wait({self._task}, timeout=max(0.0, timeout_s))
        return self._task.result() if done else ""

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _search(self, delay_s: float) -> str:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._due.wait(), delay_s)
        try:
            return await self._threads.run(
                SEARCH_TIMEOUT_S, self._explorers.find_passages, self._root, self._question, self._redaction
            )
        except (OSError, LiveMemoryError) as error:
            logger.info("no passages root=%s reason=%s", self._root, type(error).__name__)
            return ""
