"""A lock between processes that the system gives back when its holder dies, however it dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from launcher.errors import InstallFailed

POLL_S = 0.1


class FileLock:
    """A lock on a file; entering tries once and `is_held` tells. The file stays: removing it would split the lock."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1
        self.is_held = False

    def __enter__(self) -> FileLock:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        self.is_held = _try_lock(self._descriptor)
        return self

    def wait(self, is_ended: Callable[[], bool]) -> None:
        """Wait until the lock is held; InstallFailed as soon as `is_ended` says so."""
        while not self.is_held:
            if is_ended():
                raise InstallFailed("the server was stopped")
            time.sleep(POLL_S)
            self.is_held = _try_lock(self._descriptor)

    def __exit__(self, *exception: object) -> None:
        os.close(self._descriptor)  # closing gives the lock back


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
