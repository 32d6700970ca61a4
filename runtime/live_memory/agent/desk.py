"""The question desk: the one entrance to questions, for every server and every client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from live_memory.agent.answers import Answer, Question
from live_memory.agent.roots import canonical_root
from live_memory.clock import Clock
from live_memory.errors import QuestionError
from live_memory.llm.base import Usage
from live_memory.settings import Configuration


@dataclass(frozen=True, slots=True)
class Explorers:
    """What the desk may do to a tree; all of it blocking."""

    find_passages: Callable[[Path, str], str]


def ignore_progress(_line: str) -> None:
    """For a caller that wants no progress."""


class QuestionDesk:
    """Answers questions about any number of workspaces. Owned by one event loop."""

    def __init__(
        self,
        configuration: Configuration,
        explorers: Explorers,
        clock: Clock,
        read_settings: Callable[[], Configuration],
    ) -> None:
        self._configuration = configuration
        self._explorers = explorers
        self._clock = clock
        self._read_settings = read_settings
        self._started_s = clock.monotonic_s()

    async def ask(self, question: Question, on_progress: Callable[[str], None] = ignore_progress) -> Answer:
        """The answer, always within the time limit; QuestionError when the question cannot be taken."""
        started_s = self._clock.monotonic_s()
        if not question.text.strip():
            raise QuestionError("no-question", "The question is empty: say what you want to know about the code.")
        root = await asyncio.to_thread(self._root, question.cwd)
        on_progress("Searching the code")
        found = await asyncio.to_thread(self._explorers.find_passages, root, question.text)
        latency_ms = round((self._clock.monotonic_s() - started_s) * 1000)
        return Answer(found, "passages", latency_ms, False, 0, 0, Usage(), 0.0, True, 0, 0, ())

    def stats(self, cwd: str) -> dict[str, object]:
        """What `/stats` shows of the workspace of `cwd`."""
        return {"root": str(self._root(cwd)), "uptime_s": round(self._clock.monotonic_s() - self._started_s)}

    async def clear(self, cwd: str) -> None:
        """Forget the workspace's window; the next question starts a new one."""
        self._root(cwd)

    async def reset(self, cwd: str) -> None:
        """Forget the workspace's window and start a new one at once."""
        self._root(cwd)

    def reload(self) -> Configuration:
        """Take over changed settings, keeping every window; ConfigError keeps what was in force."""
        self._configuration = self._read_settings()
        return self._configuration

    def needs_packages(self) -> bool:
        """Whether answering takes a provider's SDK."""
        return False

    async def close(self, grace_s: float) -> None:
        """Let answers in flight finish for up to `grace_s`, end the rest, save."""

    def _root(self, cwd: str) -> Path:
        return canonical_root(cwd, self._configuration.home, self._configuration.settings)
