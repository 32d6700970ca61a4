"""The files that notes rest on, as a dream reads them: their text without secrets, and the hash of their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from live_memory.agent.explorers import Threads
from live_memory.errors import ToolRefusal
from live_memory.explore.base import SeenText, Standing
from live_memory.text.secrets import redact

MAX_FILE_BYTES = 1 << 20
READ_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Sight:
    """A file as it is now: `sha256` None where it surely is gone, empty where that cannot be told."""

    sha256: str | None
    text: str = ""


UNSEEN = Sight("")


@dataclass(frozen=True, slots=True)
class TreeTexts:
    """`read` raises ToolRefusal; `is_gone` is not so where the disk does not tell."""

    threads: Threads
    read: Callable[[Path, str, int], SeenText]
    is_gone: Callable[[Path, str], bool]
    standing: Callable[[Path], Standing]

    async def is_there(self, root: Path) -> bool:
        """Whether the tree can be seen at all."""
        try:
            return await self.threads.run(READ_TIMEOUT_S, self.standing, root) != "unreachable"
        except TimeoutError:
            return False

    async def look(self, root: Path, paths: Iterable[str]) -> dict[str, Sight]:
        """What each of `paths` is now; UNSEEN for all where the tree cannot be seen in time."""
        wanted = tuple(dict.fromkeys(paths))
        try:
            return await self.threads.run(READ_TIMEOUT_S, self._look, root, wanted)
        except TimeoutError:
            return dict.fromkeys(wanted, UNSEEN)

    def _look(self, root: Path, paths: tuple[str, ...]) -> dict[str, Sight]:
        if self.standing(root) == "unreachable":
            return dict.fromkeys(paths, UNSEEN)
        return {path: self._sight(root, path) for path in paths}

    def _sight(self, root: Path, path: str) -> Sight:
        try:
            seen = self.read(root, path, MAX_FILE_BYTES)
        except ToolRefusal:
            return Sight(None) if self.is_gone(root, path) else UNSEEN
        return Sight(seen.stamp.sha256, redact(seen.text))
