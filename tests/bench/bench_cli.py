"""The command line, start to exit: the status line beside the bare interpreter, and a second `ask` beside its answer's own time.

The server is a real one that answers with passages about this repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.table import Row, median, percentile
from lifecycle.command import COMMAND, ROOT, Machine, machine

from launcher import interpreter

STARTS = 40
QUESTIONS = 7
P95 = 0.95
STATUSLINE_TARGET_MS = 60
ASK_TARGET_S = 1.5
QUESTION = "How does the launcher decide that a server is already running?"
SESSION = json.dumps({"workspace": {"current_dir": str(ROOT)}}).encode()


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, machine(Path(folder)) as ready:
        ready.borrow_packages()
        ready.ensure()
        up, bare = _side_by_side(ready)
        asked = _asked(ready)
        ready.run("stop")
        down, bare_too = _side_by_side(ready)
    bare_shown = f"bare interpreter p50 {median(bare + bare_too):.0f} ms"
    return [
        _start_row("statusline, server down", down, bare_shown),
        _start_row("statusline, server up", up, bare_shown),
        asked,
    ]


def _side_by_side(ready: Machine) -> tuple[list[float], list[float]]:
    """Milliseconds of the status line, and of the bare interpreter in between: what slows one slows both."""
    statusline, bare = [], []
    for _ in range(STARTS):
        statusline.append(_milliseconds(lambda: _start(ready, COMMAND, "statusline")))
        bare.append(_milliseconds(lambda: _start(ready, interpreter.real(), "-ESs", "-c", "")))
    return statusline, bare


def _start_row(what: str, starts: list[float], baseline: str) -> Row:
    high = percentile(starts, P95)
    figure = f"p50 {median(starts):.0f} ms, p95 {high:.0f} ms"
    return Row(what, figure, baseline, f"p95 ≤ {STATUSLINE_TARGET_MS} ms", high <= STATUSLINE_TARGET_MS)


def _asked(ready: Machine) -> Row:
    """A question on a warm server; the baseline is the part of it that the server spent on the answer."""
    whole, inside = [], []
    for _ in range(QUESTIONS):
        began_s = time.perf_counter()
        done = ready.run("ask", QUESTION, "--json", "--cwd", str(ROOT))
        whole.append(time.perf_counter() - began_s)
        inside.append(json.loads(done.stdout)["latency_ms"] / 1000)
    slowest = max(whole)
    return Row(
        "`ask` again on this repository, by passages",
        f"p50 {median(whole):.2f} s, slowest {slowest:.2f} s",
        f"the answer itself p50 {median(inside):.2f} s",
        f"≤ {ASK_TARGET_S} s",
        slowest <= ASK_TARGET_S,
    )


def _start(ready: Machine, *command: str) -> None:
    environment = {**os.environ, **ready.environment}
    subprocess.run(command, env=environment, input=SESSION, capture_output=True, check=True)


def _milliseconds(work: Callable[[], None]) -> float:
    began_s = time.perf_counter()
    work()
    return (time.perf_counter() - began_s) * 1000
