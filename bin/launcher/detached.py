"""A server process of its own: no terminal, no inherited files, its words kept in the log folder."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time

from launcher import interpreter, paths
from launcher.errors import LaunchError

LOG_NAME = "launcher.log"
START_PREFIX = "start-"
FORGOTTEN_S = 3600.0
EARLIER_LOG_NAME = "launcher.log.1"
WINDOWS_FLAGS = 0x00000008 | 0x00000200 | 0x08000000  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW


class Detached:
    """`serve`, started so that it outlives its starter."""

    def __init__(self, place: paths.Place) -> None:
        paths.make_data_dir(place.data_dir)
        paths.require_room(place.data_dir)
        log = os.path.join(place.data_dir, "logs", f"{START_PREFIX}{os.getpid()}-{time.monotonic_ns()}.log")
        descriptor = os.open(log, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        try:
            self._child = subprocess.Popen(
                [interpreter.real(), "-ESs", paths.MAIN, "serve", "--log", log],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=descriptor,
                cwd=place.data_dir,  # a working folder that nobody unmounts or deletes from under it
                env=paths.absolute_environment(os.environ, place),
                start_new_session=sys.platform != "win32",
                creationflags=WINDOWS_FLAGS if sys.platform == "win32" else 0,
            )
        except OSError as error:
            os.unlink(log)
            raise LaunchError(f"The server could not be started: {error}.") from error
        finally:
            self._read_end = os.dup(descriptor)
            os.close(descriptor)
        self.pid = self._child.pid

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._child.poll()

    def last_words(self) -> str:
        """The last line it wrote, without the program's name."""
        os.lseek(self._read_end, 0, os.SEEK_SET)
        lines = os.read(self._read_end, 1 << 20).decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix("live-memory: ") if lines else ""

    def release(self) -> None:
        """Let go of it: it is meant to outlive us."""
        os.close(self._read_end)
        self._child.returncode = self._child.poll() or 0  # no warning about a child that still runs


def _remove_forgotten(logs: str) -> None:
    """Remove the logs of starts that were killed before they could."""
    for name in os.listdir(logs):
        path = os.path.join(logs, name)
        with contextlib.suppress(OSError):
            if name.startswith(START_PREFIX) and time.time() - os.stat(path).st_mtime > FORGOTTEN_S:
                os.unlink(path)


def adopt_log(folder: str, log: str) -> None:
    """Make the log of the process that became the server `launcher.log`, keeping the one before."""
    logs = os.path.join(folder, "logs")
    _remove_forgotten(logs)
    current = os.path.join(logs, LOG_NAME)
    try:
        if os.path.exists(current):
            os.replace(current, os.path.join(logs, EARLIER_LOG_NAME))
        os.replace(log, current)
    except OSError:
        return  # Windows renames no open file; the log keeps its first name there
