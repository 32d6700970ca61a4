"""Runs `bin/live-memory` as a user's shell would, in an environment that holds nothing of the machine's own user."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(ROOT / "bin" / "live-memory")
TIMEOUT_S = 30


def environment(data_dir: Path, port: int, **more: str) -> dict[str, str]:
    """Nothing but what a command needs; the interpreter of the tests is recorded, so that none is searched for."""
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / "python").write_text(sys.executable + "\n")
    home = data_dir.parent / "home"
    home.mkdir(exist_ok=True)
    named = {"LIVE_MEMORY_DATA_DIR": str(data_dir), "LIVE_MEMORY_PORT": str(port)}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LIVE_MEMORY_IDLE_EXIT_S": "120", **named, **more}


def run(
    env: dict[str, str], *arguments: str, stdin: str | bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """What `live-memory ARGUMENTS` printed, and its exit code."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [COMMAND, *arguments], env=env, input=given, capture_output=True, cwd=cwd, timeout=TIMEOUT_S, check=False
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def interrupt(process: subprocess.Popen[bytes]) -> int:
    """Press ^C: the exit code after it."""
    process.send_signal(signal.SIGINT)
    return process.wait(TIMEOUT_S)
