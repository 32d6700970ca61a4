"""What others do with files, as observations: which paths are taken, and with what text. Blocking; run in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, TypeAlias

from live_memory.agent.explorers import TreeFiles
from live_memory.errors import ToolRefusal
from live_memory.explore.base import FileStamp, SeenText
from live_memory.explore.globbing import split_list
from live_memory.settings import Settings
from live_memory.window.files import FileContext, FileState, Observation, Origin

# touched: somebody read or wrote them, so their text is worth having; changed: only those matter that are known already.
Event: TypeAlias = Literal["touched", "changed"]


@dataclass(frozen=True, slots=True)
class FileNotice:
    """News of files, from a hook: `paths` absolute or relative to `cwd`; `contents` are texts by path, read where missing."""

    cwd: str
    event: Event
    paths: tuple[str, ...]
    contents: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files are observed, and how large they may be. `globs` empty: all."""

    max_bytes: int
    globs: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> Scope:
        return cls(settings.passive_max_file_bytes, tuple(split_list(settings.file_globs)))

    def covers(self, path: str) -> bool:
        """As the shell's patterns, but that `*` also crosses `/`."""
        return not self.globs or any(fnmatchcase(path, glob) for glob in self.globs)


@dataclass(frozen=True, slots=True)
class Ingest:
    """One notice about the files of one tree, as of `at_s`."""

    files: TreeFiles
    root: Path
    scope: Scope
    at_s: float

    def observations(self, notice: FileNotice, known: Sequence[str]) -> tuple[Observation, ...]:
        """What `notice` brings; `known` are the paths that the window knows."""
        names = set(known)
        seen = (self._observation(notice, path, names) for path in dict.fromkeys(notice.paths))
        return tuple(each for each in seen if each is not None)

    def _observation(self, notice: FileNotice, path: str, known: set[str]) -> Observation | None:
        try:
            name = self.files.locate(self.root, str(Path(notice.cwd, path)))
        except ToolRefusal:
            return None
        if not self.scope.covers(name) or (notice.event == "changed" and name not in known):
            return None
        if self.files.signature(self.root, name) is None:
            return gone(name, self.at_s) if name in known else None
        if name not in known and self.files.is_ignored(self.root, name):
            return None
        try:
            if path in notice.contents:
                seen = self.files.prepare(name, notice.contents[path], self.scope.max_bytes)
            else:
                seen = self.files.read(self.root, name, self.scope.max_bytes)
        except ToolRefusal:
            return outgrown(name, self.at_s) if name in known else None
        return observed(seen, self.at_s, "tee")


def observed(seen: SeenText, at_s: float, origin: Origin) -> Observation:
    """A file with its text."""
    stamp = seen.stamp
    return Observation(stamp.path, stamp.sha256, stamp.size_bytes, stamp.mtime_ns, at_s, origin, text=seen.text)


def gone(path: str, at_s: float) -> Observation:
    """A file that is no longer there."""
    return Observation(path, "", 0, 0, at_s, state="deleted")


def outgrown(path: str, at_s: float) -> Observation:
    """A file that changed into something whose text is not taken over."""
    return Observation(path, "", 0, 0, at_s, state="stale")


def known_only(file: FileContext, stamp: FileStamp, at_s: float) -> Observation:
    """A file that prompts only name, in the version of `stamp`: stale unless it is the one that was known."""
    state: FileState = "fresh" if stamp.sha256 == file.sha256 else "stale"
    return Observation(stamp.path, stamp.sha256, stamp.size_bytes, stamp.mtime_ns, at_s, file.origin, state)
