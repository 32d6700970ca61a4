"""Search and listing: ripgrep where there is one, else the pure-Python engine, with the same results.

Both see the same files: hidden ones too, never `.git`, links not followed, .gitignore and .git/info/exclude honoured
inside a checkout (HEAVY_FOLDERS left out elsewhere), no other checkout of the same repository. A folder named as the
start is searched even when it is ignored. Files with a NUL byte are binary and do not match. Secret files do not exist here.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from live_memory.explore import plain
from live_memory.explore.child import Bounds, Child
from live_memory.explore.regexes import LOOK_AROUND, ONE_LINE, TOO_LARGE
from live_memory.explore.search import (
    HEAVY_FOLDERS,
    MAX_FILES,
    Counts,
    FileHits,
    FileList,
    Hit,
    Hits,
    PatternInvalid,
    PatternUnsupported,
    Search,
)
from live_memory.explore.secret_files import is_secret_file
from live_memory.explore.worktrees import checkout_top, nested_worktrees

Shown: TypeAlias = Literal["lines", "matches"]
MAX_OUTPUT_BYTES = 64 << 20
ARGUMENTS_MAX_CHARS = 24_000  # Windows takes 32,767 in all
STARTING_S = 10
RIPGREP_ERROR = 2
_HIT = re.compile(rb"(\d+):(?:(\d+):)?(.*)", re.DOTALL)  # an empty match at a file's end has no column
_FOUND = ("--heading", "--null", "--with-filename", "--line-number", "--column")
_TASK_FLAGS: Mapping[plain.Task, tuple[str, ...]] = {
    "count": ("--count", "--null", "--with-filename"),
    "lines": _FOUND,
    "matches": (*_FOUND, "--only-matching"),
    "files": ("--files", "--null"),
}
_SAME_EVERYWHERE = (
    "--no-config",
    "--hidden",
    "--no-ignore-dot",
    "--no-ignore-global",
    "--path-separator=/",
    "--glob=!.git",
    "--color=never",
    "--crlf",
    "--no-mmap",
    "--no-messages",
)


class Cut(Exception):
    """More was printed than may be."""


_GLOB_SIGNS = "\\*?[]{}!#"


@functools.cache
def find_ripgrep() -> str | None:
    """The wheel's `rg` beside the interpreter, else the one on PATH, whichever starts; None when there is none."""
    beside = Path(sys.executable).with_name("rg.exe" if os.name == "nt" else "rg")
    return next((program for program in (os.fspath(beside), shutil.which("rg")) if program and starts(program)), None)


def starts(program: str) -> bool:
    """Whether `program` runs here: a wheel for another machine would not."""
    try:
        told = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=STARTING_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return told.returncode == 0


def count(root: Path, search: Search) -> Counts:
    """How many lines match in each file that has any. PatternInvalid, PatternUnsupported."""
    engine = _engine("count", root, search)
    counts: dict[str, int] = {}
    for line in _split(engine, b"\n"):
        path, _, number = line.partition(b"\0")
        name = _name(path)
        if number and not is_secret_file(name):
            counts[name] = int(number)
        if len(counts) >= MAX_FILES:
            return Counts(tuple(sorted(counts.items())), is_whole=False)
    _raise_complaint(engine)
    return Counts(tuple(sorted(counts.items())), engine.is_whole)


def find(root: Path, search: Search, shown: Shown = "matches", *, files: Sequence[str] | None = None) -> Hits:
    """Where `search` matches: each matching line, or (`matches`) each matched part. With `files`, only in those, which
    must be text files that the jail has resolved. PatternInvalid, PatternUnsupported."""
    found: dict[str, FileHits] = {}
    is_whole = True
    for batch in [[search.start]] if files is None else _batches(files):
        engine = _engine(shown, root, search, batch)
        for name, hits in _file_hits(_split(engine, b"\n")):
            kept = tuple(
                hit for hit in hits if shown == "lines" or (hit.text and hit.column)
            )  # empty matches say nothing
            if kept and not is_secret_file(name):
                found[name] = FileHits(name, kept)
        _raise_complaint(engine)
        is_whole = is_whole and engine.is_whole
    return Hits(tuple(found[path] for path in sorted(found)), is_whole)


def printed_matches(root: Path, search: Search) -> bytes:
    """What `find` reads, unread: for each file its path, a NUL, `line:column:match` lines and an empty line; whatever was
    printed until the time was over. For those who count tens of thousands of matches. PatternInvalid, PatternUnsupported."""
    engine = _engine("matches", root, search)
    printed = engine.output()
    _raise_complaint(engine)
    return printed


def matched(root: Path, search: Search, max_bytes: int) -> Iterator[bytes]:
    """The matched parts in the order in which they are found, file names left out, until `max_bytes` were printed or the time
    is over; Cut is raised then. PatternInvalid, PatternUnsupported."""
    engine = _engine("matches", root, search)
    engine.bounds = replace(engine.bounds, max_bytes=max_bytes)
    for line in _split(engine, b"\n"):
        hit = _HIT.match(line.rpartition(b"\0")[2])
        if hit:
            yield hit[3].rstrip(b"\r")
    _raise_complaint(engine)
    if engine.is_timed_out:
        raise TimeoutError
    if engine.is_cut:
        raise Cut


def list_files(root: Path, search: Search) -> FileList:
    """The files that a search would look into, whatever their size and content, and secret ones too, whose names are no
    secret; the pattern is not looked at."""
    engine = _engine("files", root, replace(search, max_file_bytes=0))
    paths = tuple(_name(raw) for raw in itertools.islice(_split(engine, b"\0"), MAX_FILES + 1))
    is_whole = engine.is_whole and len(paths) <= MAX_FILES
    return FileList(tuple(sorted(paths[:MAX_FILES])), is_whole)


def _engine(task: plain.Task, root: Path, search: Search, starts: list[str] | None = None) -> Child:
    starts = [search.start] if starts is None else starts
    program = find_ripgrep()
    omitted = left_out(root, search)
    if program is None:
        argv = plain.command(task, search, starts, omitted)
    else:
        argv = [program, *_TASK_FLAGS[task], *_flags(search, omitted)]
        argv += [] if task == "files" else ["-e", search.pattern]
        argv += ["--", *("." if start == "." else f"./{start}" for start in starts)]
    return Child(argv, root, Bounds(search.timeout_s, MAX_OUTPUT_BYTES))


def _flags(search: Search, omitted: Iterable[str]) -> list[str]:
    """CRLF ends a line, too; without mmap, what is binary is decided the same way each time."""
    flags = [*_SAME_EVERYWHERE, "--ignore-case" if search.case == "ignore" else "--case-sensitive"]
    if search.max_file_bytes:
        flags.append(f"--max-filesize={search.max_file_bytes}")
    if search.max_per_file:
        flags.append(f"--max-count={search.max_per_file}")
    if search.names:
        flags += [f"--type-add=wanted:{name}" for name in search.names] + ["--type=wanted"]
    return flags + [f"--glob=!{glob}" for glob in omitted]


def left_out(root: Path, search: Search) -> tuple[str, ...]:
    """The globs, in .gitignore's syntax and relative to `root`, that keep files and folders out of every search."""
    heavy = HEAVY_FOLDERS if checkout_top(root) is None else ()
    worktrees = tuple("/" + "".join(f"\\{c}" if c in _GLOB_SIGNS else c for c in w) for w in nested_worktrees(root))
    return (*heavy, *worktrees, *search.skipped)


def _batches(files: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    length = 0
    for file in files:
        if batch and length + len(file) > ARGUMENTS_MAX_CHARS:
            yield batch
            batch, length = [], 0
        batch.append(file)
        length += len(file) + 3
    if batch:
        yield batch


def _split(pieces: Iterable[bytes], separator: bytes) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(separator)
        yield from whole
    if rest:
        yield rest


def _name(raw: bytes) -> str:
    return os.fsdecode(raw.removeprefix(b"./"))


def _file_hits(lines: Iterable[bytes]) -> Iterator[tuple[str, list[Hit]]]:
    """A file's block is its path, a NUL, its matches, an empty line; a binary file's also holds a notice."""
    name, is_binary = "", False
    hits: list[Hit] = []
    for raw in itertools.chain(lines, [b""]):
        path, nul, line = raw.rpartition(b"\0")
        if nul:
            name, hits, is_binary = _name(path), [], False
        if match := _HIT.match(line):
            hits.append(Hit(int(match[1]), int(match[2] or 0), match[3].rstrip(b"\r").decode("utf-8", "replace")))
        elif line.rstrip(b"\r"):
            is_binary = True
        elif hits:
            if not is_binary:
                yield name, hits
            hits = []


def _raise_complaint(engine: Child) -> None:
    complaint = engine.stderr.strip()
    if engine.code == plain.EXIT_UNSUPPORTED:
        raise PatternUnsupported(complaint)
    if engine.code == plain.EXIT_INVALID:
        raise PatternInvalid(complaint)
    if engine.code != RIPGREP_ERROR or not complaint:
        return
    if "look-around" in complaint or "backreferences" in complaint:
        raise PatternUnsupported(LOOK_AROUND)
    if "not allowed in a regex" in complaint:
        raise PatternUnsupported(ONE_LINE)
    if "exceeds size limit" in complaint:
        raise PatternUnsupported(TOO_LARGE)
    reasons = [line.removeprefix("error: ") for line in complaint.splitlines() if line.startswith("error: ")]
    raise PatternInvalid(reasons[0] if reasons else complaint.splitlines()[0].removeprefix("rg: "))
