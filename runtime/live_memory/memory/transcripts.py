"""A session's transcript as Claude Code writes it (JSON lines), read from where one left off. Blocking; runs in a thread.

A file may be cut, replaced, gone, torn in the middle of a line, hold lines of any length and of any kind: what can be read is
read, within bounds.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import BinaryIO

from live_memory.errors import QuestionError
from live_memory.memory.turns import Hearing, Line, Turn, parse_line
from live_memory.text.tokens import estimate_tokens

SUFFIX = ".jsonl"
SUBAGENTS = "subagents"  # a folder beside the session's transcript
MAX_SUBAGENTS = 64
MAX_PATH_CHARS = 4096
MAX_FILE_BYTES = 1 << 30
MAX_LINE_BYTES = 16 << 20  # a longer one is passed over
TAIL_BYTES = 256
TOOL_RUN = 6  # of the tool turns between two speeches, the last ones say what came of it
TURN_OVERHEAD_TOKENS = 12  # of its fence


class TranscriptGone(Exception):
    """There is no file to read, or none that may be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to distil behind an offset: prompts of the user, characters that were spoken, edits of files.
    `user_texts` are the user's words, each with where its line ends."""

    turns: int = 0
    chars: int = 0
    edits: int = 0
    end_bytes: int = 0
    user_texts: tuple[tuple[int, str], ...] = ()
    edited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """Turns that fit one request; the file is read up to `end_bytes`, which `mark` knows again."""

    turns: tuple[Turn, ...]
    end_bytes: int
    mark: str


def checked_path(path: str) -> str:
    """`path` where it can be a transcript's; QuestionError otherwise. The file need not be there yet."""
    if len(path) > MAX_PATH_CHARS or "\0" in path or not os.path.isabs(path) or not path.endswith(SUFFIX):
        raise QuestionError("bad-field", f"transcript_path must be the absolute path of a transcript ({SUFFIX}).")
    with suppress(OSError, ValueError):
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode):
            raise QuestionError("bad-field", "transcript_path must name a regular file.")
    return os.path.normpath(path)


def modified(path: str) -> tuple[int, float] | None:
    """Size and time of the last change of a transcript; None where there is none."""
    try:
        seen = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (seen.st_size, seen.st_mtime) if stat.S_ISREG(seen.st_mode) else None


def subagents_of(path: str) -> tuple[str, ...]:
    """The transcripts of the subagents of a session whose transcript is `path`, some at most."""
    folder = os.path.join(path.removesuffix(SUFFIX), SUBAGENTS)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
    except (OSError, ValueError):
        return ()
    return tuple(os.path.join(folder, name) for name in names[:MAX_SUBAGENTS])


def is_subagents(path: str) -> bool:
    return os.path.basename(os.path.dirname(path)) == SUBAGENTS


def resumed_offset(path: str, offset_bytes: int, mark: str) -> int:
    """Where to read on: `offset_bytes` where the file still is what `mark` says, else behind the same line in the file that
    took its place, else 0; the end of a file that was only cut. TranscriptGone."""
    if not offset_bytes:
        return 0
    try:
        known = json.loads(mark)
        uuid, tail, head = str(known["uuid"]), known["tail"], known["head"]
    except (ValueError, KeyError, TypeError):
        return 0
    with _opened(path) as file:
        size_bytes = os.fstat(file.fileno()).st_size
        if size_bytes >= offset_bytes and _digest_before(file, offset_bytes) == tail:
            return offset_bytes
        if _digest_of_head(file) == head and size_bytes < offset_bytes:
            return _line_start(file, size_bytes)
        for raw, end_bytes in _lines(file, 0):
            if uuid and raw is not None and uuid.encode() in raw and parse_line(raw, Hearing()).uuid == uuid:
                return end_bytes
    return 0


def survey(path: str, offset_bytes: int, hearing: Hearing) -> Survey:
    """What stands behind `offset_bytes`, whole. TranscriptGone."""
    counted, edited, user_texts = Survey(end_bytes=offset_bytes), dict[str, None](), list[tuple[int, str]]()
    for line, end_bytes in _heard(path, offset_bytes, hearing):
        for turn in line.turns:
            is_user = turn.speaker == "user"
            counted = replace(
                counted,
                turns=counted.turns + is_user,
                chars=counted.chars + (len(turn.text) if turn.speaker != "tool" else 0),
                edits=counted.edits + bool(turn.edited),
            )
            if is_user:
                user_texts.append((end_bytes, turn.text))
            if turn.edited:
                edited[turn.edited] = None
        counted = replace(counted, end_bytes=end_bytes)
    return replace(counted, user_texts=tuple(user_texts), edited=tuple(edited))


def next_part(path: str, offset_bytes: int, hearing: Hearing, max_tokens: int) -> Part | None:
    """The turns behind `offset_bytes` that fit `max_tokens`, one line at least; None at the end. TranscriptGone."""
    turns: list[Turn] = []
    used_tokens, end_bytes, uuid, run = 0, offset_bytes, "", 0
    for line, line_end_bytes in _heard(path, offset_bytes, hearing):
        tokens = sum(estimate_tokens(turn.text) + TURN_OVERHEAD_TOKENS for turn in line.turns)
        if turns and used_tokens + tokens > max_tokens:
            break
        for turn in line.turns:
            run = run + 1 if turn.speaker == "tool" else 0
            turns.append(turn)
            if run > TOOL_RUN:
                dropped = turns.pop(-1 - TOOL_RUN)
                used_tokens -= estimate_tokens(dropped.text) + TURN_OVERHEAD_TOKENS
        used_tokens += tokens
        end_bytes, uuid = line_end_bytes, line.uuid or uuid
    if end_bytes == offset_bytes:
        return None
    return Part(tuple(turns), end_bytes, _mark(path, end_bytes, uuid))


def _mark(path: str, end_bytes: int, uuid: str) -> str:
    with _opened(path) as file:
        known = {"uuid": uuid, "tail": _digest_before(file, end_bytes), "head": _digest_of_head(file)}
    return json.dumps(known)


def _heard(path: str, offset_bytes: int, hearing: Hearing) -> Iterator[tuple[Line, int]]:
    """The whole lines behind `offset_bytes`, and where each ends."""
    with _opened(path) as file:
        for raw, end_bytes in _lines(file, offset_bytes):
            line = parse_line(raw, hearing) if raw is not None else Line()
            hearing = hearing.after(line)
            yield line, end_bytes


def _lines(file: BinaryIO, offset_bytes: int) -> Iterator[tuple[bytes | None, int]]:
    """The lines that are whole, and where each ends; None for one that is too long. A last line without its end is still
    being written, or was torn: it is left."""
    file.seek(offset_bytes)
    end_bytes, is_within = offset_bytes, False
    while piece := file.readline(MAX_LINE_BYTES):
        end_bytes += len(piece)
        if not piece.endswith(b"\n"):
            is_within = True
            continue
        yield None if is_within else piece, end_bytes
        is_within = False


def _opened(path: str) -> BinaryIO:
    """The file, if it is a regular one of a fit size; a FIFO or a device is not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise TranscriptGone("its transcript is gone or cannot be read") from error
    seen = os.fstat(descriptor)
    if not stat.S_ISREG(seen.st_mode) or seen.st_size > MAX_FILE_BYTES:
        os.close(descriptor)
        raise TranscriptGone("its transcript is no regular file, or too large")
    return os.fdopen(descriptor, "rb")


def _digest_before(file: BinaryIO, offset_bytes: int) -> str:
    start = max(0, offset_bytes - TAIL_BYTES)
    file.seek(start)
    return hashlib.sha256(file.read(offset_bytes - start)).hexdigest()


def _digest_of_head(file: BinaryIO) -> str:
    file.seek(0)
    return hashlib.sha256(file.readline(MAX_LINE_BYTES)).hexdigest()


def _line_start(file: BinaryIO, size_bytes: int) -> int:
    """Where the torn last line of a cut file begins: what will be written behind it is not known yet."""
    return min(max((end_bytes for _, end_bytes in _lines(file, 0)), default=0), size_bytes)
