"""Which of many names and paths a tree knows: all of them in few searches, by the engine that every other search uses.

Blocking, and bounded: what could not be looked for in time is neither there nor gone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from live_memory.explore.held_files import is_gone, standing
from live_memory.explore.ripgrep import Cut, list_files, matched
from live_memory.explore.search import PatternInvalid, PatternUnsupported, Search
from live_memory.explore.walk import is_ignored

PATTERN_MAX_CHARS = 12_000  # below what a command line takes, and what an engine compiles
OUTPUT_MAX_BYTES = 1 << 20  # of one search: names that are everywhere are not looked for again
MIN_CLOCK_S = 0.1


@dataclass(frozen=True, slots=True)
class Presence:
    """What was found, and what surely is not there; the rest could not be told."""

    found: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()


NOTHING = Presence()


def names_in(root: Path, names: Collection[str], timeout_s: float) -> Presence:
    """Which of `names`, identifiers of one word, stand anywhere in the text of the tree, as words of their own."""
    until_s = time.monotonic() + timeout_s
    found: set[str] = set()
    absent: set[str] = set()
    if standing(root) == "unreachable":
        return NOTHING
    for some in _chunks(sorted(set(names))):
        missing = set(some)
        while missing:
            left_s = until_s - time.monotonic()
            if left_s < MIN_CLOCK_S:
                return Presence(frozenset(found), frozenset(absent))
            try:
                before = len(missing)
                for name in _hits(root, missing, left_s):
                    missing.discard(name)
                    if not missing:
                        break
            except Cut:
                if len(missing) < before:
                    continue  # once more, without those that are everywhere
                break
            except (TimeoutError, PatternInvalid, PatternUnsupported):
                break
            absent |= missing
            break
        found |= {name for name in some if name not in missing}
    return Presence(frozenset(found), frozenset(absent))


def paths_in(root: Path, paths: Collection[str], timeout_s: float) -> Presence:
    """Which of `paths` are files or folders of the tree, by their whole name or by its end. What git ignores comes and goes:
    that it is not there says nothing."""
    wanted = set(paths)
    if not wanted or standing(root) == "unreachable":
        return NOTHING
    listed = list_files(root, Search("", timeout_s=timeout_s))
    if not listed.paths:
        return NOTHING
    ends = _ends(wanted, listed.paths)
    found = {path for path in wanted if path in ends or not is_gone(root, path) or (root / path).is_dir()}
    if not listed.is_whole:
        return Presence(frozenset(found))
    absent = {path for path in wanted - found if not is_ignored(root, path)}
    return Presence(frozenset(found), frozenset(absent))


def _hits(root: Path, names: Collection[str], timeout_s: float) -> Iterator[str]:
    alternatives = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    search = Search(rf"\b(?:{alternatives})\b", case="sensitive", timeout_s=timeout_s)
    for raw in matched(root, search, OUTPUT_MAX_BYTES):
        yield raw.decode("utf-8", "replace")


def _chunks(names: Sequence[str]) -> Iterator[list[str]]:
    some: list[str] = []
    length = 0
    for name in names:
        if some and length + len(name) >= PATTERN_MAX_CHARS:
            yield some
            some, length = [], 0
        some.append(name)
        length += len(name) + 1
    if some:
        yield some


def _ends(wanted: Collection[str], listed: Sequence[str]) -> frozenset[str]:
    """Those of `wanted` that are the end of a listed path, or of a folder on one."""
    by_last: dict[str, list[str]] = {}
    for path in wanted:
        by_last.setdefault(path.rstrip("/").rpartition("/")[2], []).append(path)
    ends: set[str] = set()
    for path in listed:
        for part in path.split("/"):
            for candidate in by_last.get(part, ()):
                if f"/{candidate.rstrip('/')}/" in f"/{path}/":
                    ends.add(candidate)
    return frozenset(ends)
