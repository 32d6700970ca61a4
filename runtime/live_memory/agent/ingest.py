"""What others do with files, as observations: which paths are taken, and with what text. Blocking; run in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from live_memory.agent.freshness import Freshness
from live_memory.agent.sightings import gone, observed, outgrown
from live_memory.errors import ToolRefusal
from live_memory.explore.base import FileSignature, SeenText
from live_memory.explore.globbing import split_list
from live_memory.explore.spelling import fold
from live_memory.settings import Settings
from live_memory.window.files import Observation
from live_memory.window.window import Window

# touched: somebody read or wrote them, so their text is worth having; changed: only those matter that are known already;
# added: also those that a known file was moved to.
Event: TypeAlias = Literal["touched", "changed", "added"]


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
class News:
    """What is told of one file: `text` is what somebody else read there, None where nobody sent it."""

    path: str
    event: Event
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Ingest:
    """News of the files of one tree, for a window that is `known` so far. `departed` are the versions (SHA-256) of files that
    went before any question, with their paths."""

    tree: Freshness
    scope: Scope
    known: Window
    departed: Mapping[str, str] = field(default_factory=dict)

    def observations(self, news: News) -> tuple[Observation, ...]:
        """What `news` brings; nothing while the tree cannot be seen."""
        try:
            name = self._spelled(self.tree.files.locate(self.tree.root, news.path))
        except ToolRefusal:
            return ()
        if not self.scope.covers(name):
            return ()
        looks = self.tree.looks(name)
        if looks is None:
            return self._of_missing(name)
        return self._of_known(name, news, looks) if self._is_known(name) else self._of_unknown(name, news, looks)

    def _of_missing(self, name: str) -> tuple[Observation, ...]:
        is_news = self._is_known(name) and self.tree.is_gone(name) and self.tree.is_there(self.known)
        return (gone(name, self.tree.clock.wall_s()),) if is_news else ()

    def _of_unknown(self, name: str, news: News, looks: FileSignature) -> tuple[Observation, ...]:
        if news.event == "changed" or self.tree.files.is_ignored(self.tree.root, name):
            return ()
        try:
            seen = observed(self._seen(name, news, looks), self.tree.clock.wall_s(), "tee")
        except ToolRefusal:
            return ()
        return (seen,) if news.event == "touched" else self._moved(seen)

    def _of_known(self, name: str, news: News, looks: FileSignature) -> tuple[Observation, ...]:
        at_s = self.tree.clock.wall_s()
        try:
            if self._has_text(name) and self.tree.is_as_known(self.known, name, self.scope.max_bytes):
                return ()  # what we were told ourselves comes back as a change on disk
            return (observed(self._seen(name, news, looks), at_s, "tee"),)
        except ToolRefusal:
            return (outgrown(name, at_s),)

    def _seen(self, name: str, news: News, looks: FileSignature) -> SeenText:
        """The file's text. One that was sent is taken where it is as long as the file: else its bytes are not what the disk
        has (another encoding, a mark at its beginning, or a later version), and the disk is right."""
        if news.text is not None and len(news.text.encode("utf-8", "replace")) == looks.size_bytes:
            seen = self.tree.files.prepare(name, news.text, self.scope.max_bytes)
            return replace(seen, stamp=replace(seen.stamp, mtime_ns=looks.mtime_ns))
        return self.tree.files.read(self.tree.root, name, self.scope.max_bytes)

    def _moved(self, seen: Observation) -> tuple[Observation, ...]:
        """A file that came, where a known file of this version left its place: then both."""
        if seen.sha256 in self.departed:
            return (seen,)
        versions = {path: file.sha256 for path, file in self.known.files.items()}
        versions |= {path: each.sha256 for path, each in self.known.pending.items() if each.sha256}
        same = (path for path, version in versions.items() if version == seen.sha256)
        old = next((path for path in same if self.tree.is_gone(path)), None)
        return (gone(old, seen.at_s), seen) if old is not None and self.tree.is_there(self.known) else ()

    def _spelled(self, name: str) -> str:
        """`name` as the window knows it, where nothing on disk tells its spelling any more."""
        if self._is_known(name) or not self.tree.files.is_case_blind(self.tree.root):
            return name
        folded, known = fold(name), (*self.known.files, *self.known.pending)
        return next((path for path in known if fold(path) == folded), name)

    def _is_known(self, name: str) -> bool:
        return name in self.known.files or name in self.known.pending

    def _has_text(self, name: str) -> bool:
        waiting, held = self.known.pending.get(name), self.known.files.get(name)
        return waiting.text is not None if waiting else held is not None and held.content is not None
