"""The directory tree of a workspace, cut to a number of tokens: broad before deep, with the number of files of what is cut.

In a checkout the files are git's: the index, and what is untracked and not ignored; elsewhere a bounded scan. Paths
are counted into folders as they stream by, so that a million of them take no more memory than the folders do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore import git
from live_memory.explore.child import Bounds
from live_memory.explore.folders import Folders, split_paths
from live_memory.explore.ripgrep import left_out
from live_memory.explore.search import Search
from live_memory.explore.tree_text import render
from live_memory.explore.walk import walk
from live_memory.explore.worktrees import checkout_top, nested_worktrees

INDEX_BOUNDS = Bounds(timeout_s=20, max_bytes=1 << 30)
UNTRACKED_BOUNDS = Bounds(timeout_s=2, max_bytes=1 << 24)
SCAN_S = 2.0
SCAN_ENTRIES = 200_000
CLOCK_CHECK_ENTRIES = 512
UNTRACKED_LEFT_OUT = "(Files that git does not track are left out: there are too many to list.)"
SCAN_CUT = "(The folder is too large to list whole; the counts are of what was seen.)"


def directory_tree(root: Path, max_tokens: int) -> str:
    """The tree of the canonical `root` in at most `max_tokens`; the same bytes for the same files. It raises nothing:
    what cannot be listed is said in the text."""
    folders = Folders()
    remark = _count_from_git(root, folders) if checkout_top(root) else None
    if remark is None:
        folders = Folders()
        remark = _count_from_scan(root, folders)
    return render(folders.top, max_tokens, remark)


def _count_from_git(root: Path, folders: Folders) -> str | None:
    """Count in what git lists; a remark for the reader, or None when git cannot list anything here."""
    try:
        others = git.child(root, ["ls-files", "-z", "--others", "--exclude-standard", "--", "."], UNTRACKED_BOUNDS)
        tracked = git.child(root, ["ls-files", "-z", "--cached", "--", "."], INDEX_BOUNDS)
        with ThreadPoolExecutor(1) as beside:  # git walks the working tree while the index is counted
            listed = beside.submit(others.output)
            folders.add(split_paths(tracked))
            untracked = listed.result()
    except (ToolRefusal, OSError):
        return None
    if tracked.code or not tracked.is_whole or (others.code and others.is_whole):
        return None
    nested = {os.fsencode(path) for path in nested_worktrees(root)}
    folders.add(path for path in split_paths([untracked]) if path.rstrip(b"/") not in nested)
    return "" if others.is_whole else UNTRACKED_LEFT_OUT


def _count_from_scan(root: Path, folders: Folders) -> str:
    """Count in what a walk finds within its bounds; a remark for the reader."""
    is_whole = True

    def found() -> Iterator[bytes]:
        nonlocal is_whole
        deadline_s = time.monotonic() + SCAN_S
        for number, entry in enumerate(walk(root, ".", left_out(root, Search("")))):
            if number >= SCAN_ENTRIES or (number % CLOCK_CHECK_ENTRIES == 0 and time.monotonic() > deadline_s):
                is_whole = False
                return
            if entry.kind in {"file", "link"}:
                yield os.fsencode(entry.path)

    folders.add(found())
    return "" if is_whole else SCAN_CUT
