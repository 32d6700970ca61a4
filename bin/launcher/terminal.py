"""What a person sees while waiting: one line on a terminal that is written over, nothing elsewhere. And colours, likewise."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Marks of the writing direction: with them a line reads otherwise than it is.
TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
CLEAR_LINE = "\r\x1b[2K"
COLOURS = {"red": "31", "green": "32", "yellow": "33", "dim": "2", "bold": "1"}


def is_lively(stream: object = None) -> bool:
    """Whether `stream` (stderr when none is given) is a terminal that may be drawn on."""
    target = sys.stderr if stream is None else stream
    is_terminal = getattr(target, "isatty", lambda: False)()
    return bool(is_terminal) and os.environ.get("TERM") != "dumb"


def coloured(text: str, colour: str, stream: object = None) -> str:
    """`text` in a colour of COLOURS on a terminal without NO_COLOR, as it is elsewhere."""
    target = sys.stdout if stream is None else stream
    if not is_lively(target) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


def printable(text: str) -> str:
    """`text` without characters that would command the terminal, turn the order of others around or hide among them: files,
    models and other programs wrote it."""
    return "".join(char if char in "\n\t" or not _is_control(char) else _spelled(char) for char in text)


def _is_control(char: str) -> bool:
    return char < " " or "\x7f" <= char <= "\x9f" or char in TURNING or "\U000e0000" <= char <= "\U000e007f"


def _spelled(char: str) -> str:
    return char.encode("unicode_escape").decode() if char != "\r" else "\\x0d"


@contextmanager
def progress() -> Iterator[Callable[[dict[str, object]], None]]:
    """A function to call with each /health answer while waiting: shows the step and the seconds, on a terminal only."""
    began_s = time.monotonic()
    shown = False

    def show(health: dict[str, object]) -> None:
        nonlocal shown
        if is_lively():
            shown = True
            step = health.get("step") or health.get("status") or "starting"
            sys.stderr.write(f"{CLEAR_LINE}Live Memory: {step} … {time.monotonic() - began_s:.0f} s")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()
