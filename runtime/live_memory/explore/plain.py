"""The search engine for machines without ripgrep: a program of its own that prints what ripgrep would print.

It runs in a child process, because a pattern that backtracks for hours can only be stopped by ending the process, and
because a server must not stand still while one question is searched for. Standard library only.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from live_memory.explore.globs import to_regex
from live_memory.explore.regexes import compile_pattern
from live_memory.explore.search import PatternInvalid, PatternUnsupported, Search
from live_memory.explore.walk import walk

Task: TypeAlias = Literal["count", "lines", "matches", "files"]
EXIT_INVALID = 3
GRACE_S = 2.0  # beyond the time that the starter gives
EXIT_UNSUPPORTED = 4
_PACKAGE_PARENT = Path(__file__).resolve().parents[2]
_START = "import sys; sys.path.insert(0, sys.argv[1]); from live_memory.explore.plain import main; sys.exit(main(sys.argv[2]))"
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
# Python folds these two to `i`, Unicode's simple folding does not: a letter without case stands in for them.
_TURKISH = str.maketrans("ıİ", "ʔʔ")


def command(task: Task, search: Search, starts: list[str], left_out: tuple[str, ...]) -> list[str]:
    """The child's command line; it is to run in the root."""
    request = {"task": task, "search": asdict(search), "starts": starts, "left_out": left_out}
    return [sys.executable, "-ESs", "-c", _START, os.fspath(_PACKAGE_PARENT), json.dumps(request)]


def main(request_json: str) -> int:
    """Run the request in the current folder; the exit status says whether the pattern could be used."""
    _end_in(json.loads(request_json)["search"]["timeout_s"] + GRACE_S)
    status, complaint = answer(request_json, sys.stdout.buffer)
    sys.stdout.buffer.flush()
    sys.stderr.write(complaint)
    return status


def _end_in(seconds: float) -> None:
    """Let the system end this process: whoever started it does so sooner, unless it was killed itself, and a pattern that
    backtracks hears nothing else."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def answer(request_json: str, out: BinaryIO) -> tuple[int, str]:
    """Print what ripgrep would, for the current folder; the exit status, and why it is not 0."""
    request = json.loads(request_json)
    fields = request["search"]
    search = Search(**{**fields, "names": tuple(fields["names"]), "skipped": tuple(fields["skipped"])})
    try:
        engine = _Engine(request["task"], search)
    except PatternInvalid as error:
        return EXIT_INVALID, str(error)
    except PatternUnsupported as error:
        return EXIT_UNSUPPORTED, str(error)
    for start in request["starts"]:
        for path in _files(start, search, tuple(request["left_out"])):
            engine.look_into(path, out)
    return 0, ""


def _files(start: str, search: Search, left_out: tuple[str, ...]) -> Iterator[str]:
    wanted = re.compile("|".join(to_regex(name) for name in search.names)) if search.names else None
    for entry in walk(Path.cwd(), start, left_out):
        if entry.kind == "file" and (
            wanted is None or entry.depth == 0 or wanted.fullmatch(entry.path.rpartition("/")[2])
        ):
            yield entry.path


class _Engine:
    """A search with its pattern compiled, and the files it is shown one by one."""

    def __init__(self, task: Task, search: Search) -> None:
        self.task = task
        self.search = search
        if task != "files":
            self.simple = compile_pattern(search.pattern, search.case, "simple")

    @cached_property
    def any(self) -> re.Pattern[str]:
        return compile_pattern(self.search.pattern, self.search.case, "any")

    def look_into(self, path: str, out: BinaryIO) -> None:
        """Print what the task wants to know about the file at `path`; nothing when it does not match."""
        name = os.fsencode(f"./{path}")
        if self.task == "files":
            out.write(name + b"\0")
            return
        text = _text(path, self.search.max_file_bytes)
        if text is None:
            return
        if self.task == "count":
            count = sum(1 for _ in self.lines(text))
            answer = b"%d\n" % count if count else b""
        else:
            answer = b"".join(_line(hit) for hit in self.lines(text))
            answer += b"\n" if answer else b""
        if answer:
            out.write(name + b"\0" + answer)
            out.flush()

    def lines(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Line, column and text of each matching line, or of each matched part."""
        is_simple = text.isascii() and "\r" not in text
        regex = self.simple if is_simple else self.any
        searched = text
        if self.search.case == "ignore" and not is_simple and self.search.pattern.isascii():
            searched = text.translate(_TURKISH)
        position, number, counted_to, taken = 0, 1, 0, 0
        while match := regex.search(searched, position):
            if match.start() == len(text) and (not text or text.endswith("\n")):
                return  # behind the last line end there is no line
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.start())
            end = len(text) if end < 0 else end
            number += text.count("\n", counted_to, start)
            counted_to = start
            if self.task == "matches":
                for at, to in _parts(regex, searched, match.start(), end):
                    yield number, _column(text, start, at), text[at:to]
            else:
                # For an empty match at the very end ripgrep names no column.
                column = 0 if match.start() == len(text) else _column(text, start, match.start())
                yield number, column, text[start:end]
            taken += 1
            position = end + 1
            if position > len(text) or taken == self.search.max_per_file:
                return


def _parts(regex: re.Pattern[str], text: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """The matches with any text; behind an empty one the search goes on a character later, as in ripgrep."""
    while at <= end and (match := regex.search(text, at, end)):
        if match.end() > match.start():
            yield match.span()
        at = max(match.end(), match.start() + 1)


def _column(text: str, line_start: int, at: int) -> int:
    return len(text[line_start:at].encode("utf-8", "surrogateescape")) + 1


def _line(hit: tuple[int, int, str]) -> bytes:
    number, column, text = hit
    return b"%d:%d:%b\n" % (number, column, text.encode("utf-8", "surrogateescape"))


def _text(path: str, max_bytes: int) -> str | None:
    """The file's text with plain line ends; None when it is binary, too large, or gone."""
    try:
        with open(path, "rb") as file:
            if 0 < max_bytes < os.fstat(file.fileno()).st_size:
                return None
            content = file.read()
    except OSError:
        return None
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            errors = "surrogateescape" if encoding == "utf-8" else "replace"
            return content[len(bom) :].decode(encoding, errors).replace("\r\n", "\n")
    if b"\0" in content:
        return None
    return content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
