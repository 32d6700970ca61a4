"""Where a folder stands in git's eyes, read from files alone: its checkout's top, and checkouts nested inside it."""

from __future__ import annotations

import os
from pathlib import Path

MAX_POINTER_BYTES = 4096


def checkout_top(folder: Path) -> Path | None:
    """The nearest ancestor (or `folder`) that holds a `.git`; None outside of any checkout."""
    return next((above for above in (folder, *folder.parents) if os.path.exists(above / ".git")), None)


def git_folder(top: Path) -> Path:
    """The checkout's git folder: `.git`, or where a `.git` file points."""
    pointer = _first_line(top / ".git")
    return top / pointer.removeprefix("gitdir: ") if pointer.startswith("gitdir: ") else top / ".git"


def common_folder(top: Path) -> Path:
    """The git folder that all worktrees of one repository share."""
    own = git_folder(top)
    pointer = _first_line(own / "commondir")
    return own / pointer if pointer else own


def nested_worktrees(root: Path) -> tuple[str, ...]:
    """Other checkouts of the same repository below `root`, relative to it, sorted: the same files all over again."""
    top = checkout_top(root)
    if top is None:
        return ()
    try:
        entries = sorted((common_folder(top) / "worktrees").iterdir())
    except OSError:
        return ()
    folders = (Path(_first_line(entry / "gitdir")).parent for entry in entries)
    return tuple(sorted(f.relative_to(root).as_posix() for f in folders if f != root and f.is_relative_to(root)))


def _first_line(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(MAX_POINTER_BYTES).decode("utf-8", "surrogateescape").split("\n", 1)[0].rstrip("\r")
    except OSError:
        return ""
