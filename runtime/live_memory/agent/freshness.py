"""Whether the files that a window knows are still what it knows: each looked at before a question, and read where its
looks changed. No hook is needed for it. Blocking; run in a thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from live_memory.agent.explorers import TreeFiles
from live_memory.agent.ingest import gone, known_only, observed, outgrown
from live_memory.errors import ToolRefusal
from live_memory.explore.base import FileSignature
from live_memory.window.files import FileState, Observation
from live_memory.window.window import Window

SETTLED_NS = 2_000_000_000  # a file that changed less than this ago may change again without looking different
MAX_HASHED_BYTES = 16 << 20  # of a file that is only named; no tool reads larger ones


@dataclass(slots=True)
class Freshness:
    """The files of one tree that were found to be as the window knows them, with their looks; for the life of a process."""

    files: TreeFiles
    root: Path
    _looks: dict[str, tuple[FileSignature, tuple[FileState, str]]] = field(default_factory=dict)

    def check(self, window: Window, max_bytes: int, now_s: float) -> tuple[Observation, ...]:
        """What changed of the files that `window` knows, by path; texts of at most `max_bytes` are taken over."""
        seen = (self._news(window, path, max_bytes, now_s) for path in sorted({*window.files, *window.pending}))
        return tuple(each for each in seen if each is not None)

    def _news(self, window: Window, path: str, max_bytes: int, now_s: float) -> Observation | None:
        looks, expected = self.files.signature(self.root, path), _expected(window, path)
        if looks is not None and self._looks.get(path) == (looks, expected):
            return None
        seen = gone(path, now_s) if looks is None else self._look_again(window, path, max_bytes, now_s)
        if seen is not None and window.with_observation(seen) is not window:
            return seen
        if looks is not None and now_s * 1e9 - max(looks.mtime_ns, looks.ctime_ns) > SETTLED_NS:
            self._looks[path] = (looks, expected)
        return None

    def _look_again(self, window: Window, path: str, max_bytes: int, now_s: float) -> Observation | None:
        """What the file has become; None where it is the very version that is expected."""
        held, waiting = window.files.get(path), window.pending.get(path)
        is_named_only = held is not None and held.content is None and (waiting is None or waiting.text is None)
        try:
            stamp = self.files.stamp(self.root, path, MAX_HASHED_BYTES if is_named_only else max_bytes)
            if _expected(window, path) == ("fresh", stamp.sha256):
                return None
            if held is not None and is_named_only:
                return known_only(held, stamp, now_s)
            return observed(self.files.read(self.root, path, max_bytes), now_s, held.origin if held else "tee")
        except ToolRefusal:
            return gone(path, now_s) if self.files.signature(self.root, path) is None else outgrown(path, now_s)


def _expected(window: Window, path: str) -> tuple[FileState, str]:
    """The state and the version that the window will say of a file once all that it has seen is told."""
    known = window.pending.get(path) or window.files[path]
    return (known.state, known.sha256)
