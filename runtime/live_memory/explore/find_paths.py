"""find_paths: files and folders by name, kind and depth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore.arguments import Arguments
from live_memory.explore.base import ToolOutput
from live_memory.explore.globbing import matcher
from live_memory.explore.jail import relative, shown
from live_memory.explore.nearby import existing
from live_memory.explore.paging import page
from live_memory.explore.ripgrep import left_out
from live_memory.explore.search import MAX_FILES, Search
from live_memory.explore.walk import Entry, walk
from live_memory.window.messages import ToolSpec

DEFAULT_PATHS = 200
MAX_PATHS = 2000
DEFAULT_DEPTH = 2
MAX_DEPTH = 100
WALKING_S = 5.0
CLOCK_CHECK_ENTRIES = 512
_KINDS = {
    "any": "any",
    "file": "file",
    "files": "file",
    "f": "file",
    "dir": "dir",
    "d": "dir",
    "directory": "dir",
    "folder": "dir",
}
_SIGNS = {"folder": "/", "link": "@", "file": "", "other": "="}

SPEC = ToolSpec(
    name="find_paths",
    description=(
        "List files and folders as `find` does: by name, kind and depth. Folders end in `/`, links in `@`, sockets and pipes in "
        "`=`. Without `name` it lists two levels. What git ignores is left out unless `path` names it."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Glob over names, case ignored, e.g. *auth* (default: all)"},
            "path": {
                "type": "string",
                "description": "Folder to start in, relative to the workspace root (default: the root)",
            },
            "type": {"type": "string", "enum": ["any", "file", "dir"], "description": "What to list (default any)"},
            "max_depth": {"type": "integer", "description": "Levels below `path` (default: all with `name`, else 2)"},
            "limit": {"type": "integer", "description": "How many paths to list (default 200)"},
            "offset": {"type": "integer", "description": "How many paths to skip, for the next page"},
        },
    },
)


def run(root: Path, arguments: Arguments) -> ToolOutput:
    name = arguments.text("name", "pattern", "file_pattern", "glob", "regex").strip()
    start = existing(root, arguments.text("path", "directory", default=".") or ".")
    kind = arguments.choice("type", "kind", choices=_KINDS, default="any")
    depth = arguments.number("max_depth", "depth", default=MAX_DEPTH if name else DEFAULT_DEPTH, most=MAX_DEPTH) or 1
    offset = arguments.number("offset", default=0, most=1 << 31)
    limit = (
        arguments.number("limit", "max_results", "head_limit", default=DEFAULT_PATHS, most=MAX_PATHS) or DEFAULT_PATHS
    )
    if not start.is_dir():
        raise ToolRefusal(f"{shown(relative(root, start))} is a file; read it with Read.")
    matches = matcher(root, name.lower()) if name else lambda _path: True
    bounded = _Bounded(walk(root, relative(root, start), left_out(root, Search("")), depth))
    found = sorted(
        f"{shown(entry.path)}{_SIGNS[entry.kind]}"
        for entry in bounded
        if _is_kind(entry, kind) and matches(entry.path.lower())
    )
    cut = "" if bounded.is_whole else " (The listing was stopped at its limit: name a smaller folder in `path`.)"
    if not found:
        what = f"Nothing named {shown(name)}" if name else "Nothing"
        return ToolOutput(f"{what} was found there. Ignored files are listed only when `path` names their folder.{cut}")
    if offset >= len(found):
        raise ToolRefusal(f"find_paths: there are {len(found)} paths, so there is nothing at offset {offset}.")
    part = page(found, offset=offset, limit=limit)
    more = f"({len(found)} paths; go on with offset={part.next_offset}.)" if part.next_offset else ""
    return ToolOutput(part.text((more + cut).strip()))


def _is_kind(entry: Entry, kind: str) -> bool:
    return kind == "any" or (entry.kind == "folder") == (kind == "dir")


class _Bounded:
    """A walk held to a number of entries and seconds; `is_whole` says whether it came to its end."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self.entries = entries
        self.is_whole = True

    def __iter__(self) -> Iterator[Entry]:
        deadline_s = time.monotonic() + WALKING_S
        for number, entry in enumerate(self.entries):
            if number >= MAX_FILES or (number % CLOCK_CHECK_ENTRIES == 0 and time.monotonic() > deadline_s):
                self.is_whole = False
                return
            yield entry
