"""The files that a note rests on, as they are when it is written: those that somebody named for it, and those in its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from live_memory.agent.explorers import FileSight, Threads
from live_memory.errors import ToolRefusal
from live_memory.notes.rendering import cut
from live_memory.notes.writing import MAX_FILES
from live_memory.text.fencing import one_line
from live_memory.text.secrets import redact

TIMEOUT_S = 5.0
SHOWN_CHARS = 120  # of a path in a remark


@dataclass(frozen=True, slots=True)
class Sources:
    """Path → SHA-256, and a remark on each file that was named for a note and cannot be read."""

    sha256_by_path: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """`look_at` (root, path) reads a file or raises ToolRefusal."""

    threads: Threads
    look_at: Callable[[Path, str], FileSight]

    async def find(self, root: Path, chosen: Sequence[str], mentioned: Sequence[str]) -> Sources:
        """What is there of the files that were `chosen` for a note, and of those that its words may mean."""
        paths = tuple(dict.fromkeys((*chosen, *mentioned)))
        if not paths:
            return Sources()
        try:
            found = await self.threads.run(TIMEOUT_S, self._hashes, root, paths)
        except TimeoutError:
            return Sources({}, ("The files that it names could not be read in time, so nothing is known of them.",))
        remarks = [
            f"There is no file {_shown(path)} that can be read; it is not among its sources."
            for path in chosen
            if path not in found
        ]
        return Sources(dict(list(dict(found.values()).items())[:MAX_FILES]), tuple(remarks))

    def _hashes(self, root: Path, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Path as it was named → the file's path and what it holds, for those that can be read."""
        found = {}
        for path in paths:
            try:
                stamp = self.look_at(root, path).stamp
            except ToolRefusal:
                continue
            if redact(stamp.path) == stamp.path:  # a name that holds a secret would stand wherever the note is shown
                found[path] = (stamp.path, stamp.sha256)
        return found


def _shown(path: str) -> str:
    return cut(redact(one_line(path)), SHOWN_CHARS)
