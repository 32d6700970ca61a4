"""Walking a folder as ripgrep does: by name, links not followed, git's ignore files honoured inside a checkout."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from live_memory.explore.ignores import IgnoreRules, parse
from live_memory.explore.worktrees import checkout_top, common_folder

Kind: TypeAlias = Literal["file", "folder", "link", "other"]
MAX_IGNORE_FILE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """Something found: `path` is relative to the root, `depth` counts from 1 for the start's own members."""

    path: str
    kind: Kind
    depth: int


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore rules of one folder, and what holds above it. `folder` is absolute; `is_top` ends the search upwards."""

    folder: str
    gitignore: IgnoreRules
    exclude: IgnoreRules
    is_top: bool
    above: _Rules | None

    def is_ignored(self, path: str, kind: Literal["file", "folder"]) -> bool:
        """Whether the entry at the absolute `path` is ignored: any .gitignore beats info/exclude, the nearest first."""
        rules: _Rules | None = self
        while rules is not None:
            verdict = rules.gitignore.verdict(path[len(rules.folder) + 1 :], kind)
            if verdict is not None:
                return verdict == "ignored"
            if rules.is_top:
                return rules.exclude.verdict(path[len(rules.folder) + 1 :], kind) == "ignored"
            rules = rules.above
        return False


def walk(root: Path, start: str, left_out: Sequence[str] = (), max_depth: int = 1 << 30) -> Iterator[Entry]:
    """Everything below `start` (relative to the canonical `root`) that is not ignored, level by level, in the order of
    names; `start` itself when it is a file. Never `.git`, nor what the globs `left_out` name; unreadable folders
    count as empty. The consumer bounds it by stopping."""
    first = root / start
    if not os.path.isdir(first):
        if os.path.isfile(first):
            yield Entry(start, "file", 0)
        return
    overrides = parse(left_out)
    pending = deque([(os.fspath(first), "" if start == "." else start, _rules_above(first), 1)])
    while pending:
        folder, name, rules, depth = pending.popleft()
        entries = _entries(folder)
        rules = _rules_of(folder, {entry.name for entry in entries}, rules)
        for entry in entries:
            path = f"{name}/{entry.name}" if name else entry.name
            kind = _kind(entry)
            judged: Literal["file", "folder"] = "folder" if kind == "folder" else "file"
            if entry.name == ".git" or overrides.verdict(path, judged) == "ignored":
                continue
            if rules is not None and rules.is_ignored(entry.path, judged):
                continue
            yield Entry(path, kind, depth)
            if kind == "folder" and depth < max_depth:
                pending.append((entry.path, path, rules, depth + 1))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _kind(entry: os.DirEntry[str]) -> Kind:
    try:
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "file" if entry.is_file(follow_symlinks=False) else "other"
    except OSError:
        return "other"


def _rules_above(folder: Path) -> _Rules | None:
    """The rules of the folders between the checkout's top and `folder`, without its own; None outside of a checkout."""
    top = checkout_top(folder)
    rules: _Rules | None = None
    if top is None or top == folder:
        return None
    for ancestor in reversed(folder.parents):
        if ancestor.is_relative_to(top):
            rules = _rules_of(os.fspath(ancestor), _rule_files(ancestor), rules)
    return rules


def is_ignored(root: Path, path: str) -> bool:
    """Whether git ignores the file at `path` (relative to the canonical `root`), by itself or with a folder above it."""
    place, rules = checkout_top(root) or root, None
    parts = (root / path).relative_to(place).parts
    for depth, part in enumerate(parts, 1):
        rules = _rules_of(os.fspath(place), _rule_files(place), rules)
        place = place / part
        if rules is not None and rules.is_ignored(os.fspath(place), "file" if depth == len(parts) else "folder"):
            return True
    return False


def _rule_files(folder: Path) -> set[str]:
    return {name for name in (".git", ".gitignore") if (folder / name).exists()}


def _rules_of(folder: str, names: set[str], above: _Rules | None) -> _Rules | None:
    """The rules that hold in a folder with these `names` in it, of which `.git` and `.gitignore` matter."""
    is_top = ".git" in names
    if not is_top and (above is None or ".gitignore" not in names):
        return above
    gitignore = _read_rules(Path(folder, ".gitignore")) if ".gitignore" in names else IgnoreRules()
    exclude = _read_rules(common_folder(Path(folder)) / "info" / "exclude") if is_top else IgnoreRules()
    return _Rules(folder, gitignore, exclude, is_top, above)


def _read_rules(path: Path) -> IgnoreRules:
    try:
        if not path.is_file():
            return IgnoreRules()
        with path.open("rb") as file:
            content = file.read(MAX_IGNORE_FILE_BYTES)
    except OSError:
        return IgnoreRules()
    return parse(content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n"))
