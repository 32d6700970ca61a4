"""Child processes that end when we do: each runs under `guard.py`, which ends it when our end of a pipe closes.

So neither a SIGKILL of the server nor a shutdown in the middle of an installation leaves an installer running.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from launcher import interpreter
from launcher.errors import InstallFailed

GUARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guard.py")
REASON_LINES = 3
REASON_MAX_CHARS = 400
STOPPED = "the server was stopped"


class Leash:
    """Runs commands one after the other or side by side; `end` ends them, and every later one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guards: list[subprocess.Popen[bytes]] = []
        self._ended = False

    def is_ended(self) -> bool:
        return self._ended

    def end(self) -> None:
        """End what runs; from now on every command fails at once."""
        with self._lock:
            self._ended = True
            for guard in self._guards:
                _pipe(guard.stdin).close()

    def run(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Run a command to its end; InstallFailed with its last words when it fails."""
        self._finish(self._start(command, environment))

    def run_all(self, commands: Sequence[Sequence[str]]) -> None:
        """Run commands side by side; InstallFailed with the last words of the first that failed, once all have ended."""
        failures = []
        for guard in [self._start(command, None) for command in commands]:
            try:
                self._finish(guard)
            except InstallFailed as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def _start(self, command: Sequence[str], environment: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._ended:
                raise InstallFailed(STOPPED)
            guard = subprocess.Popen(
                [interpreter.real(), "-ESsP", GUARD, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
            )
            self._guards.append(guard)
        return guard

    def _finish(self, guard: subprocess.Popen[bytes]) -> None:
        with _pipe(guard.stdout) as stream:
            output = stream.read().decode(errors="replace")
        code = guard.wait()
        with self._lock:
            self._guards.remove(guard)
            _pipe(guard.stdin).close()
        sys.stderr.write(output)  # into the log of a detached server, onto the terminal of a foreground one
        sys.stderr.flush()
        if self._ended:
            raise InstallFailed(STOPPED)
        if code != 0:
            raise InstallFailed(_last_words(output) or f"exit code {code}")


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # every guard is started with pipes
    return stream


def _last_words(output: str) -> str:
    """The end of a failed command's output on one line, its error lines where it marks them."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    marked = [line for line in lines if line.lower().startswith(("error", "× ", "╰"))]
    return " ".join((marked or lines)[-REASON_LINES:])[-REASON_MAX_CHARS:]
