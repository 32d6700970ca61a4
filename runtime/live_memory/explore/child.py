"""Child processes under bounds: no shell, no stdin, a time limit, an output limit, and no grandchild left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CHUNK_BYTES = 1 << 16
STDERR_KEPT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a child may run and how much of its output is taken."""

    timeout_s: float
    max_bytes: int


@dataclass(slots=True)
class Child:
    """A child whose output is read by iterating over it; what became of it is known once that has ended."""

    argv: Sequence[str]
    cwd: Path
    bounds: Bounds
    env: Mapping[str, str] | None = None
    code: int = 0
    stderr: str = ""
    is_timed_out: bool = field(default=False, init=False)
    is_cut: bool = field(default=False, init=False)

    @property
    def is_whole(self) -> bool:
        """Whether the output was read to its end."""
        return not (self.is_timed_out or self.is_cut)

    def __iter__(self) -> Iterator[bytes]:
        """The output in pieces. FileNotFoundError when there is no such program; leaving early ends the child."""
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(
                self.argv,
                cwd=self.cwd,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                process_group=0,  # not a session: Linux gives each its own share of the processor, and a busy machine starves it
            )
            timer = threading.Timer(self.bounds.timeout_s, self._give_up, (process,))
            timer.daemon = True
            timer.start()
            try:
                yield from self._pieces(process)
                self.code = process.wait()
            finally:
                timer.cancel()
                end(process)
                if process.stdout is not None:
                    process.stdout.close()  # here, by the one who reads it, whatever thread that is
                complaints.seek(0)
                self.stderr = complaints.read(STDERR_KEPT_BYTES).decode("utf-8", "replace")

    def _pieces(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        assert process.stdout is not None
        left = self.bounds.max_bytes
        while piece := process.stdout.read1(CHUNK_BYTES):  # type: ignore[attr-defined]  # a pipe is a BufferedReader
            yield piece[:left]
            left -= len(piece)
            if left < 0:
                self.is_cut = True
                end(process)
                return

    def _give_up(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode is None:
            self.is_timed_out = True
            end(process)

    def output(self) -> bytes:
        """Everything it printed, within the bounds."""
        return b"".join(self)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill the child with its whole group, and take its exit status."""
    # Not `poll`, which takes the status of a child that has ended: what it started may live on and hold the pipe, and
    # only a child that is not yet taken keeps its number from being given to somebody else.
    if process.returncode is None:
        try:
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        except ProcessLookupError:
            pass
    process.wait()
