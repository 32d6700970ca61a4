"""Folders counted from a stream of paths: what a directory tree needs to know, in memory bounded by MAX_WEIGHT.

When there are more folders and names than that, the deepest level is folded into counts; a tree that is cut to a few
thousand tokens would not show it anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

MAX_WEIGHT = 120_000
NAMES_KEPT = 60
MAX_DEPTH = 64


class Folder:
    """One folder: how many files lie in it (`own_files`) and below what is kept of it (`deeper_files`), the names of its
    first files, and its folders by name."""

    __slots__ = ("deeper_files", "folders", "names", "own_files")

    def __init__(self) -> None:
        self.own_files = 0
        self.deeper_files = 0
        self.names: list[bytes] = []
        self.folders: dict[bytes, Folder] = {}

    def count_files(self) -> int:
        """All files in and below this folder."""
        return self.own_files + self.deeper_files + sum(folder.count_files() for folder in self.folders.values())


class Folders:
    """The folder that holds all paths added."""

    def __init__(self) -> None:
        self.top = Folder()
        self._weight = 0
        self._max_depth = MAX_DEPTH
        self._is_full = False

    def add(self, paths: Iterable[bytes]) -> None:
        """Count in the files at `paths` (with `/`); quickest when those of one folder follow each other."""
        last: bytes | None = None
        folder, is_kept = self.top, True
        for path in paths:
            parent, _, name = path.rpartition(b"/")
            if parent != last:
                last = parent
                folder, is_kept = self._kept(parent)
                if self._weight > MAX_WEIGHT and not self._is_full:
                    self._fold()
                    folder, is_kept = self._kept(parent)
            if not is_kept:
                folder.deeper_files += 1
                continue
            folder.own_files += 1
            if len(folder.names) < NAMES_KEPT:
                folder.names.append(name)
                self._weight += 1

    def _kept(self, path: bytes) -> tuple[Folder, bool]:
        """The folder at `path`, or what is kept above it, and which of the two it is."""
        folder = self.top
        if not path:
            return folder, True
        parts = path.split(b"/")
        for part in parts[: self._max_depth]:
            inner = folder.folders.get(part)
            if inner is None:
                if self._is_full:
                    return folder, False
                inner = folder.folders[part] = Folder()
                self._weight += 1
            folder = inner
        return folder, len(parts) <= self._max_depth

    def _fold(self) -> None:
        while self._weight > MAX_WEIGHT and not self._is_full:
            level = [self.top]
            depth = 0
            while below := [inner for folder in level for inner in folder.folders.values()]:
                level, depth, above = below, depth + 1, level
            if depth <= 1:
                self._is_full = True
                return
            for folder in above:
                self._weight -= sum(1 + len(inner.names) for inner in folder.folders.values())
                folder.deeper_files += sum(inner.count_files() for inner in folder.folders.values())
                folder.folders = {}
            self._max_depth = depth - 1


def split_paths(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The paths in a stream of pieces, each ended by a NUL."""
    rest = b""
    for piece in pieces:
        *paths, rest = (rest + piece).split(b"\0")
        yield from paths
