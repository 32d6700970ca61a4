"""`live-memory logs`: the end of the server's log, and with -f what is added to it, over rotations."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Generator

from launcher import paths
from launcher.commands import options
from launcher.errors import LaunchError
from launcher.terminal import printable

USAGE = "logs [-f]"
LOG = os.path.join("logs", "server.log")
SHOWN_LINES = 200
LOOK_S = 0.25


def run(arguments: list[str]) -> int:
    parsed = options.parse(arguments, USAGE, {"-f": "flag", "--follow": "flag"})
    path = os.path.join(paths.place().data_dir, LOG)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            sys.stdout.writelines(map(printable, deque(file, SHOWN_LINES)))
            sys.stdout.flush()
            position = file.tell()
    except FileNotFoundError:
        raise LaunchError(f"There is no log yet at {path}; the server writes one when it starts.") from None
    if parsed.options:
        for text in added(path, position):
            sys.stdout.write(printable(text))
            sys.stdout.flush()
    return 0


def added(path: str, position: int) -> Generator[str, None, None]:
    """What is written to the log after `position`, for ever; a log that was rotated goes on from the new file's start."""
    while True:
        with open(path, encoding="utf-8", errors="replace") as file:
            file.seek(position)
            while not _is_replaced(path, file.fileno()):
                text = file.read()
                if text:
                    yield text
                else:
                    time.sleep(LOOK_S)
            yield file.read()  # what came between the last look and the rotation
        position = 0


def _is_replaced(path: str, descriptor: int) -> bool:
    try:
        return not os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False  # between a rotation's two steps
