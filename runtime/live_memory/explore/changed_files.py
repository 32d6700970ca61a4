"""get_changed_files: what differs from the last commit, as git status says it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore import git
from live_memory.explore.arguments import Arguments
from live_memory.explore.base import ToolOutput
from live_memory.explore.child import Bounds
from live_memory.explore.jail import relative, resolve, shown
from live_memory.explore.paging import page
from live_memory.explore.worktrees import checkout_top
from live_memory.window.messages import ToolSpec

DEFAULT_PATHS = 200
MAX_PATHS = 2000
BOUNDS = Bounds(timeout_s=15, max_bytes=4 << 20)
_WORDS = {"M": "modified", "A": "added", "D": "deleted", "R": "renamed", "C": "copied", "T": "type changed"}
_CONFLICTS = frozenset(["DD", "AU", "UD", "UA", "DU", "AA", "UU"])

SPEC = ToolSpec(
    name="get_changed_files",
    description="List the files that differ from the last commit (git status): modified, added, deleted, renamed, untracked, in conflict; and the branch.",
    input_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Only below this folder or file, relative to the workspace root"},
            "limit": {"type": "integer", "description": "How many paths to list (default 200)"},
            "offset": {"type": "integer", "description": "How many paths to skip, for the next page"},
        },
    },
)


def run(root: Path, arguments: Arguments) -> ToolOutput:
    within = relative(root, resolve(root, arguments.text("path", "file_path", "directory", default=".") or "."))
    offset = arguments.number("offset", default=0, most=1 << 31)
    limit = (
        arguments.number("limit", "max_results", "head_limit", default=DEFAULT_PATHS, most=MAX_PATHS) or DEFAULT_PATHS
    )
    command = [*git.without_filters(root), "status", "--porcelain=v1", "-z", "--branch"]
    command += ["--untracked-files=normal", "--ignore-submodules=all", "--", f":(literal){within}"]
    printed, child = git.output(root, command, BOUNDS)
    if child.is_timed_out:
        raise ToolRefusal("git needed too long to compare the working tree; name a smaller folder in `path`.")
    head, *changes = list(_changes(root, printed.decode("utf-8", "surrogateescape"))) or [""]
    if not changes:
        return ToolOutput(f"{head}\nNothing differs from the last commit.".strip())
    if offset >= len(changes):
        raise ToolRefusal(f"get_changed_files: there are {len(changes)} paths, so there is nothing at offset {offset}.")
    part = page(changes, offset=offset, limit=limit)
    more = f"({len(changes)} paths; go on with offset={part.next_offset}.)" if part.next_offset else ""
    return ToolOutput(f"{head}\n{part.text(more)}")


def _changes(root: Path, printed: str) -> Iterator[str]:
    """The branch, then a line for each path; git names them relative to the checkout's top."""
    fields = iter(printed.rstrip("\0").split("\0"))
    top = checkout_top(root) or root
    for field in fields:
        state, path = field[:2], field[3:]
        if state == "##":
            yield _branch(path)
        elif len(state) == 2 and path:  # noqa: PLR2004  # index and working tree
            old = next(fields, "") if "R" in state or "C" in state else ""
            yield f"{_state_in_words(state)}: {f'{_inside(root, top, old)} -> ' if old else ''}{_inside(root, top, path)}"


def _branch(text: str) -> str:
    name = text.removeprefix("No commits yet on ")
    if name != text:
        return f"On branch {shown(name)}, without any commit yet."
    if text.startswith("HEAD (no branch)"):
        return "On no branch (detached HEAD)."
    return f"On branch {shown(text.replace('...', ', which follows '))}."


def _state_in_words(state: str) -> str:
    if state == "??":
        return "untracked"
    if state in _CONFLICTS:
        return "conflict"
    index, tree = state[0], state[1]
    words = [f"{_WORDS[index]} (staged)"] if index in _WORDS else []
    words += [_WORDS[tree]] if tree in _WORDS else []
    return ", ".join(words) or "changed"


def _inside(root: Path, top: Path, path: str) -> str:
    return shown(os.path.relpath(top / path, root).replace(os.sep, "/") + ("/" if path.endswith("/") else ""))
