"""What a hook costs a session, start to exit, beside the bare interpreter's own start in the same run.

The launcher that a hook starts in the background does nothing here: what is measured is what Claude Code waits for.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from bench.table import Row, median, percentile
from hooks.calls import everything_ended

from launcher import identity, paths

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 60
RATIO_TARGET = 2.5
P95_TARGET_MS = 60.0
HUNG_ROUNDS = 20
BRINGS_A_SERVER_BACK = "pre_tool_use"  # and waits for it
RUNS_A_PROGRAM = "user_prompt_expansion"  # what the user waits for there is the command itself
SCRIPTS = sorted(path.stem for path in (ROOT / "hooks").glob("[a-z]*.py"))
# How long each waits for an answer that does not come; those that are not named leave that to the background.
HUNG_LIMITS_MS = {
    "file_changed": 200.0,
    "post_tool_use": 200.0,
    "pre_tool_use": 200.0,
    "session_start": 200.0,
    "user_prompt_submit": 300.0,
}
INTERPRETER = str(getattr(sys, "_base_executable", sys.executable))
TARGET = f"≤ {RATIO_TARGET} × bare, p95 ≤ {P95_TARGET_MS:.0f} ms"
KNOWN = {"name": "live-memory", "version": "0.1.0", "status": "ok", "pid": 1, "context": "A note.", "paths": []}
HEALTH = json.dumps(KNOWN).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(HEALTH), HEALTH)
OUR_TOOL = "mcp__plugin_live-memory_live-memory__ask_live_memory"
TOLD = {
    "cwd": "/src/shop",
    "session_id": "s-1",
    "transcript_path": "/nowhere/s-1.jsonl",
    "source": "startup",
    "prompt": "Where is the price of a cart added up?",
    "tool_name": "Read",
    "tool_input": {"file_path": "/src/shop/cart.py", "question": "Where?", "cwd": "/src/shop"},
    "file_path": "/src/shop/cart.py",
    "event": "change",
    "command_name": "live-memory:live-memory-stats",
}


@dataclass(frozen=True)
class Measured:
    """Milliseconds of each run, `baseline_ms` those of the bare interpreter in between."""

    figures_ms: list[float]
    baseline_ms: list[float]

    def row(self, what: str, waiting_ms: float = 0.0) -> Row:
        """A row of the table; `waiting_ms` of it is a time limit that ran out."""
        own = [ms - waiting_ms for ms in self.figures_ms]
        bare, p95 = median(self.baseline_ms), percentile(own, 0.95)
        waited = f" + {waiting_ms:.0f} waiting" if waiting_ms else ""
        return Row(
            f"{what}, start to exit",
            f"{median(own):.1f} ms ({median(own) / bare:.2f} ×), p95 {p95:.1f} ms{waited}",
            f"python -ESs {bare:.1f} ms, p95 {percentile(self.baseline_ms, 0.95):.1f} ms",
            TARGET,
            median(own) <= RATIO_TARGET * bare and p95 <= P95_TARGET_MS,
        )


def run() -> list[Row]:
    """Every hook with the server up, down and hung."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        plugin = _plugin_whose_launcher_does_nothing(Path(name))
        with _answering_port() as port:
            _put_on_record(plugin.parent / "data", port)
            rows += [_row(plugin, script, port, "up") for script in SCRIPTS]
        rows += [_row(plugin, script, port, "down") for script in SCRIPTS]
        with socket.create_server(("127.0.0.1", 0), backlog=1000) as holder:
            port = holder.getsockname()[1]
            _put_on_record(plugin.parent / "data", port)
            rows += [_row(plugin, script, port, "hung") for script in SCRIPTS]
    return rows


def _row(plugin: Path, script: str, port: int, state: Literal["up", "down", "hung"]) -> Row:
    is_hung = state == "hung"
    measured = _measure(plugin, script, port, HUNG_ROUNDS if is_hung else ROUNDS)
    row = measured.row(f"{script}, server {state}", HUNG_LIMITS_MS.get(script, 0.0) if is_hung else 0.0)
    is_waiting = script == RUNS_A_PROGRAM or (script == BRINGS_A_SERVER_BACK and state != "up")
    return replace(row, target="", is_met=None) if is_waiting else row


def _plugin_whose_launcher_does_nothing(folder: Path) -> Path:
    plugin = folder / "plugin"
    for copied in ("hooks", "commands"):
        shutil.copytree(ROOT / copied, plugin / copied)
    (plugin / "bin").mkdir()
    (plugin / "bin" / "live-memory").write_text("#!/bin/sh\n")
    (folder / "data").mkdir()
    (folder / "data" / "python").write_text(f"{INTERPRETER}\n")
    (folder / "data" / "token").write_text("dummy-token")
    return plugin


def _put_on_record(data_dir: Path, port: int) -> None:
    identity.write_record(paths.Place(str(data_dir), port), os.getpid(), "0.1.0")


def _measure(plugin: Path, script: str, port: int, rounds: int) -> Measured:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(plugin.parent),
        "CLAUDE_PLUGIN_DATA": str(plugin.parent / "data"),
        "LIVE_MEMORY_PORT": str(port),
    }
    hook, bare = ["sh", str(plugin / "hooks" / "run"), script], [INTERPRETER, "-ESs", "-c", "pass"]
    _timed_ms(hook, environment)  # once for the byte code
    pairs = [(_timed_ms(hook, environment), _timed_ms(bare, environment)) for _ in range(rounds)]
    return Measured([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def _timed_ms(command: list[str], environment: Mapping[str, str]) -> float:
    """What the caller waits for; what goes on in the background is waited for outside of the measurement."""
    ours = {"tool_name": OUR_TOOL} if command[-1] == BRINGS_A_SERVER_BACK else {}
    text = json.dumps({**TOLD, **ours}).encode()
    with everything_ended() as held:
        started_s = time.perf_counter()
        subprocess.run(command, input=text, env=environment, stdout=subprocess.DEVNULL, pass_fds=(held,), check=True)
        return (time.perf_counter() - started_s) * 1000


@contextmanager
def _answering_port() -> Iterator[int]:
    """A port where every request gets the same answer, good for all of them."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer_all() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(REPLY)

    answering = threading.Thread(target=answer_all, daemon=True)
    answering.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        answering.join()
