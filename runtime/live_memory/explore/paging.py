"""Cutting a tool's answer to size, and saying how to get the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_ANSWER_CHARS = 40_000
MAX_LINE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the lines; `next_offset` is where the next page starts, None when this is the last."""

    lines: tuple[str, ...]
    next_offset: int | None

    def text(self, remark: str = "") -> str:
        return "\n".join([*self.lines, *([remark] if remark else [])])


def page(lines: Sequence[str], *, offset: int, limit: int) -> Page:
    """The lines from `offset` on, at most `limit` and MAX_ANSWER_CHARS, and at least one."""
    shown = fitting(lines[offset : offset + limit])
    end = offset + len(shown)
    return Page(tuple(shown), end if end < len(lines) else None)


def fitting(lines: Iterable[str], max_chars: int = MAX_ANSWER_CHARS) -> list[str]:
    """As many lines from the front as fit `max_chars`, and at least one."""
    shown: list[str] = []
    length = 0
    for line in lines:
        length += len(line) + 1
        if shown and length > max_chars:
            break
        shown.append(line)
    return shown


def cut_around(line: str, at: int, width: int = MAX_LINE_CHARS) -> str:
    """`line` when it is short, else the part of it around the character `at`."""
    if len(line) <= width:
        return line
    start = max(0, min(at - width // 3, len(line) - width))
    return f"{'…' if start else ''}{line[start : start + width]}{'…' if start + width < len(line) else ''}"
