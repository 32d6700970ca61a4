"""Which files a session should watch: those the window knows, never a folder. Blocking; run in a thread."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from live_memory.agent.explorers import TreeFiles
from live_memory.window.window import Window

MAX_WATCHED = 500  # each one costs Claude Code a watch of the system's, for as long as the session runs


def watched_paths(files: TreeFiles, root: Path, window: Window) -> tuple[str, ...]:
    """Absolute paths of the files below `root` that `window` knows and that are there, those used last first."""
    used_at_s = {path: max(file.used_at_s, file.read_at_s) for path, file in window.files.items()}
    used_at_s |= {path: seen.at_s for path, seen in window.pending.items()}
    newest = sorted(used_at_s, key=lambda path: -used_at_s[path])
    there = (path for path in newest if files.signature(root, path) is not None)
    return tuple(str(root / path) for path in islice(there, MAX_WATCHED))
