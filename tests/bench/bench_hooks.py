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
from dataclasses import dataclass
from pathlib import Path

from bench.table import Row, median, percentile

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 60
RATIO_TARGET = 2.5
P95_TARGET_MS = 60.0
HUNG_LIMIT_MS = 200.0  # what the SessionStart hook waits for an answer
INTERPRETER = str(getattr(sys, "_base_executable", sys.executable))
TARGET = f"≤ {RATIO_TARGET} × bare, p95 ≤ {P95_TARGET_MS:.0f} ms"
HEALTH = json.dumps({"name": "live-memory", "version": "0.1.0", "status": "ok", "pid": 1}).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(HEALTH), HEALTH)
TOLD = {"cwd": "/src/shop", "source": "startup", "tool_input": {"question": "Where is the price of a cart added up?"}}


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
    """PreToolUse with the server up (without one it waits on purpose), SessionStart with it up, down and hung."""
    with tempfile.TemporaryDirectory() as name:
        plugin = _plugin_whose_launcher_does_nothing(Path(name))
        with _answering_port() as port:
            rows = [
                _measure(plugin, "pre_tool_use", port).row("PreToolUse hook, server up"),
                _measure(plugin, "session_start", port).row("SessionStart hook, server up"),
            ]
        with socket.create_server(("127.0.0.1", 0)) as holder:
            port = holder.getsockname()[1]
            rows.append(_measure(plugin, "session_start", port).row("SessionStart hook, server hung", HUNG_LIMIT_MS))
        rows.append(_measure(plugin, "session_start", port).row("SessionStart hook, server down"))
        return rows


def _plugin_whose_launcher_does_nothing(folder: Path) -> Path:
    plugin = folder / "plugin"
    shutil.copytree(ROOT / "hooks", plugin / "hooks")
    (plugin / "bin").mkdir()
    (plugin / "bin" / "live-memory").write_text("#!/bin/sh\n")
    (folder / "data").mkdir()
    (folder / "data" / "python").write_text(f"{INTERPRETER}\n")
    return plugin


def _measure(plugin: Path, script: str, port: int) -> Measured:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(plugin.parent),
        "CLAUDE_PLUGIN_DATA": str(plugin.parent / "data"),
        "LIVE_MEMORY_PORT": str(port),
    }
    hook, bare = ["sh", str(plugin / "hooks" / "run"), script], [INTERPRETER, "-ESs", "-c", "pass"]
    _timed_ms(hook, environment)  # once for the byte code
    pairs = [(_timed_ms(hook, environment), _timed_ms(bare, environment)) for _ in range(ROUNDS)]
    return Measured([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def _timed_ms(command: list[str], environment: Mapping[str, str]) -> float:
    text = json.dumps(TOLD).encode()
    started_s = time.perf_counter()
    subprocess.run(command, input=text, env=environment, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - started_s) * 1000


@contextmanager
def _answering_port() -> Iterator[int]:
    """A port where every request gets a whole server's /health."""
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
