"""Folders written as an indented tree within a number of tokens. Pure.

One line a folder, its first files behind it: `src/ (120 files): app.py, main.py, … 7 more`. The lines are chosen level
by level, folders before files; a level that does not fit whole is thinned out evenly before any of it is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from live_memory.explore.folders import NAMES_KEPT, Folder
from live_memory.explore.jail import shown
from live_memory.text.tokens import CHARS_PER_TOKEN, estimate_tokens

INDENT = "  "
FOLDERS_LISTED = (10_000, 40, 15, 6)
FILES_LISTED = (NAMES_KEPT, 20, 8, 3)


@dataclass(slots=True)
class _Line:
    """A folder that may be shown, and how much of it is."""

    label: str
    folder: Folder
    depth: int
    files: int
    inner: list[_Line] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def text(self) -> str:
        listed = len(self.names) + sum(line.files for line in self.inner)
        is_whole = listed == self.files and len(self.inner) == len(self.folder.folders)
        count = "" if is_whole else f" ({self.files:,} {'file' if self.files == 1 else 'files'})"
        rest = self.folder.own_files - len(self.names)
        more = f", … {rest:,} more" if rest else ""
        return f"{INDENT * self.depth}{self.label}/{count}{': ' + ', '.join(self.names) + more if self.names else ''}"


def render(top: Folder, max_tokens: int, remark: str) -> str:
    """The tree below `top`, which is called `.`, with `remark` as its last line, in at most `max_tokens`."""
    root = _Line(".", top, 0, top.count_files())
    left = max_tokens * CHARS_PER_TOKEN - _cost(root.text()) - (_cost(remark) if remark else 0)
    if left < 0:
        return ""
    left -= _list_files([root], left)
    level = [root]
    while level:
        spent, is_whole = _list_folders(level, left)
        left -= spent
        level = [inner for line in level for inner in line.inner]
        left -= _list_files(level, left)
        if not is_whole:  # what is deeper would say little without its neighbours
            break
    lines = [line.text() for line in _in_order(root)]
    return "\n".join([*lines, *([remark] if remark else [])])


def _in_order(line: _Line) -> Iterator[_Line]:
    yield line
    for inner in line.inner:
        yield from _in_order(inner)


def _cost(text: str) -> int:
    """What a line takes, in characters of which CHARS_PER_TOKEN make a token; never less than the estimate's share."""
    return len(text) + 1 if text.isascii() else CHARS_PER_TOKEN * estimate_tokens(text) + CHARS_PER_TOKEN


def _list_files(level: Sequence[_Line], left: int) -> int:
    """Give the lines of `level` the names of their files, as many as fit evenly; what that costs."""
    holders = [line for line in level if line.folder.names]
    for most in FILES_LISTED:
        chosen = [_file_names(line, most) for line in holders]
        costs = [_files_cost(line, names) for line, names in zip(holders, chosen, strict=True)]
        if sum(costs) <= left or most == FILES_LISTED[-1]:
            break
    else:
        return 0
    spent = 0
    for line, names, cost in zip(holders, chosen, costs, strict=True):
        if spent + cost <= left:
            line.names = names
            spent += cost
    return spent


def _file_names(line: _Line, most: int) -> list[str]:
    return [_name(raw) for raw in sorted(line.folder.names)[:most]]


def _files_cost(line: _Line, names: list[str]) -> int:
    return _cost(": " + ", ".join(names) + f", … {line.folder.own_files:,} more")


def _list_folders(level: Sequence[_Line], left: int) -> tuple[int, bool]:
    """Give the lines of `level` their folders, as many as fit evenly, those with most files first; what that costs, and
    whether every line got some."""
    holders = [line for line in level if line.folder.folders]
    every = [_inner_lines(line) for line in holders]
    for most in FOLDERS_LISTED:
        chosen = [_largest(lines, most) for lines in every]
        costs = [sum(_cost(line.text()) for line in lines) for lines in chosen]
        if sum(costs) <= left:
            break
    spent = 0
    is_whole = True
    order = sorted(range(len(holders)), key=lambda i: (-holders[i].files, i))
    for i in order:
        if spent + costs[i] <= left:
            holders[i].inner = chosen[i]
            spent += costs[i]
        else:
            is_whole = False
    return spent, is_whole


def _inner_lines(line: _Line) -> list[_Line]:
    depth = line.depth + 1 if line.label != "." else 0
    lines = []
    for raw, folder in sorted(line.folder.folders.items()):
        label, inner = _name(raw), folder
        while not inner.own_files and not inner.deeper_files and len(inner.folders) == 1:
            ((only, inner),) = inner.folders.items()
            label = f"{label}/{_name(only)}"
        lines.append(_Line(label, inner, depth, inner.count_files()))
    return lines


def _largest(lines: list[_Line], most: int) -> list[_Line]:
    if len(lines) <= most:
        return lines
    kept = {id(line) for line in sorted(lines, key=lambda line: -line.files)[:most]}
    return [line for line in lines if id(line) in kept]


def _name(raw: bytes) -> str:
    return shown(os.fsdecode(raw))
