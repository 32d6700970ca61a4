"""Which Python this is, once symbolic links, version managers' shims and environments are looked through."""

from __future__ import annotations

import os
import sys

from launcher import paths


def real() -> str:
    """The path of the interpreter itself: it keeps working when the environment or the shim that led here is gone."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def record(data_dir: str) -> None:
    """Keep it for the hooks and for `bin/live-memory`, which then need not search."""
    path = os.path.join(data_dir, paths.INTERPRETER_FILE)
    if paths.read_line(path) != real():
        paths.write_whole(path, real() + "\n")
