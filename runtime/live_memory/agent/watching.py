"""Which files a session should watch: those the window knows, never a folder. Blocking; run in a thread."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from live_memory.agent.explorers import TreeFiles
from live_memory.agent.freshness import by_last_use
from live_memory.window.window import Window

MAX_WATCHED = 500  # each one costs Claude Code a watch of the system's, for as long as the session runs


def watched_paths(files: TreeFiles, root: Path, window: Window) -> tuple[str, ...]:
    """Absolute paths of the files below `root` that `window` knows and that are there, those used last first."""
    there = (path for path in by_last_use(window) if files.signature(root, path) is not None)
    return tuple(str(root / path) for path in islice(there, MAX_WATCHED))
