"""Whether the files that a window knows are still what it knows: each looked at before a question, and read where its
looks changed. No hook is needed for it (ADR-0025). Blocking; run in a thread."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from live_memory.agent.explorers import TreeFiles
from live_memory.agent.sightings import gone, known_only, observed, outgrown
from live_memory.clock import Clock
from live_memory.errors import ToolRefusal
from live_memory.explore.base import FileSignature
from live_memory.window.files import FileState, Observation
from live_memory.window.window import Window

# A file that changed less than this ago may change again without looking different: the tick of the kernel's clock where
# times are kept to the nanosecond, and what the coarsest file system keeps (FAT) where they are not.
TICK_NS, COARSE_TICK_NS = 100_000_000, 2_000_000_000
FINE_NS = 1_000_000  # no file system that keeps coarse times keeps a fraction of this
MAX_HASHED_BYTES = 16 << 20  # of a file that is only named; no tool reads larger ones
SURE_LOOKS, SURE_READS = 256, 32  # of the files used last, whatever the time it takes


@dataclass(frozen=True, slots=True)
class Findings:
    """What a check found: `news` by path, the files it had no time for, and whether the tree could be seen at all."""

    news: tuple[Observation, ...] = ()
    unchecked: tuple[str, ...] = ()
    is_tree_there: bool = True


@dataclass(frozen=True, slots=True)
class _Look:
    """A file that has to be read: how it looks, and whether its looks speak of another version than the known one."""

    path: str
    looks: FileSignature | None
    is_suspect: bool


@dataclass(slots=True)
class Freshness:
    """The files of one tree that were found to be as the window knows them, with their looks; for the life of a process."""

    files: TreeFiles
    root: Path
    clock: Clock
    _looks: dict[str, tuple[FileSignature, FileState, str]] = field(default_factory=dict)
    _was_checkout: bool = False

    def check(self, window: Window, max_bytes: int, budget_s: float = math.inf) -> Findings:
        """What changed of the files that `window` knows; texts of at most `max_bytes` are taken over. After `budget_s` it ends
        with those used last and those that look changed."""
        paths = by_last_use(window)
        if not paths:
            return Findings()
        if not self.is_there(window):
            return Findings(is_tree_there=False)
        until_s = self.clock.monotonic_s() + budget_s
        due, unchecked = self._due(window, paths, until_s)
        news: list[Observation] = []
        for number, look in enumerate(due):
            if number >= SURE_READS and self.clock.monotonic_s() > until_s:
                unchecked += [each.path for each in due[number:]]
                break
            news += self._news(window, look, max_bytes)
        return Findings(tuple(sorted(news, key=lambda each: each.path)), tuple(unchecked))

    def check_rest(self, window: Window, max_bytes: int, paths: Iterable[str]) -> Findings:
        """The same for `paths` alone, however long it takes."""
        news: list[Observation] = []
        for path in paths:
            looks = self.looks(path)
            if not self._is_as_before(window, path, looks):
                news += self._news(window, _Look(path, looks, is_suspect=False), max_bytes)
        return Findings(tuple(news)) if self.is_there(window) else Findings(is_tree_there=False)

    def looks(self, path: str) -> FileSignature | None:
        """How the file at `path` looks; None where there is none that can be seen."""
        return self.files.signature(self.root, path)

    def is_gone(self, path: str) -> bool:
        return self.files.is_gone(self.root, path)

    def is_as_known(self, window: Window, path: str, max_bytes: int) -> bool:
        """Whether the file is the version that `window` knows; ToolRefusal for none that is read. Costs no read where it
        looks as it did when it was that version."""
        looks, (state, sha256) = self.looks(path), expected(window, path)
        if state == "fresh" and self._is_as_before(window, path, looks):
            return True
        now_s = self.clock.wall_s()
        stamp = self.files.stamp(self.root, path, max_bytes)
        if (state, sha256) != ("fresh", stamp.sha256):
            return False
        self._remember(window, path, looks, now_s)
        return True

    def is_there(self, window: Window) -> bool:
        """Whether what is missing is gone, rather than out of reach: not mounted, forbidden, or without the `.git` that it
        had before and without any of the files that `window` knows."""
        standing = self.files.standing(self.root)
        self._was_checkout = self._was_checkout or standing == "checkout"
        if standing != "folder" or not self._was_checkout:
            return standing != "unreachable"
        return any(self.looks(path) is not None for path in (*window.files, *window.pending))

    def _due(self, window: Window, paths: list[str], until_s: float) -> tuple[list[_Look], list[str]]:
        """The files to read, those first that look like another version; and those that there was no time to look at."""
        due: list[_Look] = []
        for number, path in enumerate(paths):
            if number >= SURE_LOOKS and self.clock.monotonic_s() > until_s:
                return _suspects_first(due), paths[number:]
            looks = self.looks(path)
            if not self._is_as_before(window, path, looks):
                due.append(_Look(path, looks, _is_suspect(window, path, looks)))
        return _suspects_first(due), []

    def _is_as_before(self, window: Window, path: str, looks: FileSignature | None) -> bool:
        known = window.pending.get(path) or window.files[path]
        if looks is None:
            return known.state == "deleted"
        return self._looks.get(path) == (looks, known.state, known.sha256)

    def _news(self, window: Window, look: _Look, max_bytes: int) -> tuple[Observation, ...]:
        now_s, looks, path = self.clock.wall_s(), look.looks, look.path
        if looks is not None:
            seen = self._look_again(window, path, max_bytes, now_s)
        else:
            seen = gone(path, now_s) if self.is_gone(path) else None
        if seen is not None and window.with_observation(seen) is not window:
            return (seen,)
        self._remember(window, path, looks, now_s)
        return ()

    def _remember(self, window: Window, path: str, looks: FileSignature | None, now_s: float) -> None:
        """The file was as `window` knows it at `now_s`: while it looks so, it need not be read."""
        if looks is not None and now_s * 1e9 - max(looks.mtime_ns, looks.ctime_ns) > _tick_ns(looks):
            self._looks[path] = (looks, *expected(window, path))

    def _look_again(self, window: Window, path: str, max_bytes: int, now_s: float) -> Observation | None:
        """What the file has become; None where it is the very version that is expected, or nobody can tell."""
        held, waiting = window.files.get(path), window.pending.get(path)
        is_named_only = held is not None and held.content is None and (waiting is None or waiting.text is None)
        try:
            stamp = self.files.stamp(self.root, path, MAX_HASHED_BYTES if is_named_only else max_bytes)
            if expected(window, path) == ("fresh", stamp.sha256):
                return None
            if held is not None and is_named_only:
                return known_only(held, stamp, now_s)
            return observed(self.files.read(self.root, path, max_bytes), now_s, held.origin if held else "tee")
        except ToolRefusal:
            return gone(path, now_s) if self.is_gone(path) else outgrown(path, now_s)


def expected(window: Window, path: str) -> tuple[FileState, str]:
    """The state and the version that the window will say of a file it knows once all that it has seen is told."""
    known = window.pending.get(path) or window.files[path]
    return (known.state, known.sha256)


def by_last_use(window: Window) -> list[str]:
    """The files that `window` knows, those used last first."""
    used_at_s = {path: max(file.used_at_s, file.read_at_s) for path, file in window.files.items()}
    used_at_s |= {path: seen.at_s for path, seen in window.pending.items()}
    return sorted(used_at_s, key=lambda path: -used_at_s[path])


def _suspects_first(due: list[_Look]) -> list[_Look]:
    return sorted(due, key=lambda look: not look.is_suspect)


def _is_suspect(window: Window, path: str, looks: FileSignature | None) -> bool:
    known = window.pending.get(path) or window.files[path]
    return looks is None or (looks.mtime_ns, looks.size_bytes) != (known.mtime_ns, known.size_bytes)


def _tick_ns(looks: FileSignature) -> int:
    return TICK_NS if looks.ctime_ns % FINE_NS else COARSE_TICK_NS
