"""Secrets kept out of a window: the files of a workspace as its redaction leaves them, how many were taken out, and where that
is turned off."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock

from live_memory.agent.explorers import TreeFiles
from live_memory.explore.base import SeenText
from live_memory.settings import Settings, roots_without_redaction
from live_memory.text.redaction import Mode, Redaction

OFF_MARK = "(Redaction is off in this workspace: secrets that stand in its files are shown.)"


class Tally:
    """How many secrets were taken out, each time counted, here and in `above`. Several threads count."""

    def __init__(self, above: Tally | None = None) -> None:
        self.count = 0
        self._above = above
        self._lock = Lock()

    def add(self, count: int) -> None:
        if count:
            with self._lock:
                self.count += count
            if self._above is not None:
                self._above.add(count)


def cleaned_files(files: TreeFiles, redaction: Callable[[], Redaction]) -> TreeFiles:
    """`files`, whose texts come as the redaction in force leaves them."""

    def read(root: Path, path: str, max_bytes: int) -> SeenText:
        return _cleaned(files.read(root, path, max_bytes), redaction())

    def prepare(path: str, text: str, max_bytes: int) -> SeenText:
        return _cleaned(files.prepare(path, text, max_bytes), redaction())

    return replace(files, read=read, prepare=prepare)


def redaction_mode(root: Path, settings: Settings) -> Mode:
    """Whether secrets are taken out of the text of the canonical `root`."""
    return "off" if any(_is_same(each, root) for each in roots_without_redaction(settings)) else "on"


def _is_same(folder: str, root: Path) -> bool:
    """Whether both name one folder, over links and however a disk that folds case spells it."""
    try:
        return os.path.samefile(folder, root)
    except (OSError, ValueError):
        return False


def marked_tree(tree: str, mode: Mode) -> str:
    """The tree as a window carries it: one that holds secrets says so, to whoever reads it and to the next start."""
    return f"{OFF_MARK}\n{tree}" if mode == "off" and not is_marked(tree) else tree


def is_marked(tree: str) -> bool:
    return tree.startswith(OFF_MARK)


def _cleaned(seen: SeenText, redaction: Redaction) -> SeenText:
    return replace(seen, text=redaction.clean(seen.text))
