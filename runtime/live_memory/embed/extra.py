"""The `semantic` extra on disk: a folder beside the environment, named by its lock file and by this Python, put there whole.

How packages are installed is the launcher's knowledge; this starts it, and ends it when told to.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

from live_memory.memory.embedding import EmbeddingError

PLUGIN = Path(__file__).resolve().parents[3]
LOCK = PLUGIN / "runtime" / "requirements-semantic.lock"
LAUNCHER = PLUGIN / "bin" / "launcher"
DIGEST_CHARS = 16
INSTALL_TIMEOUT_S = 900.0


class SemanticExtra:
    """The extra in a data folder."""

    def __init__(self, data_dir: Path, lock: Path = LOCK) -> None:
        self._data_dir = data_dir
        self._lock = lock
        self._guard: subprocess.Popen[str] | None = None
        self._starting = threading.Lock()
        self._is_stopped = False

    @property
    def folder(self) -> Path:
        python = f"{sys.implementation.cache_tag} {sys.platform}".encode()
        try:
            digest = sha256(self._lock.read_bytes() + python).hexdigest()
        except OSError as error:
            raise EmbeddingError(f"{self._lock} cannot be read ({error.strerror})") from error
        return self._data_dir / f"semantic-{digest[:DIGEST_CHARS]}"

    @property
    def is_there(self) -> bool:
        return self.folder.is_dir()

    def install(self) -> None:
        """Blocks until it is installed. EmbeddingError with the installer's last words; a killed server ends it too."""
        command = [sys.executable, "-ESsP", str(LAUNCHER / "guard.py")]
        command += [sys.executable, "-ESs", str(LAUNCHER / "extra.py"), str(self._lock), str(self.folder)]
        with self._starting:
            if self._is_stopped:
                raise EmbeddingError("the server was stopped")
            self._guard = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        guard = self._guard
        timer = threading.Timer(INSTALL_TIMEOUT_S, self._let_go)
        timer.daemon = True
        timer.start()
        try:
            assert guard.stdout is not None
            with guard.stdout as stream:
                output = stream.read()
            code = guard.wait()
        finally:
            timer.cancel()
            self._let_go()
        if code != 0 or not self.is_there:
            lines = output.strip().splitlines()
            raise EmbeddingError(f"its packages could not be installed: {lines[-1] if lines else f'exit code {code}'}")

    def discard(self) -> None:
        rmtree(self.folder, ignore_errors=True)

    def stop(self) -> None:
        with self._starting:
            self._is_stopped = True
        self._let_go()

    def _let_go(self) -> None:
        """Close our end of the guard's pipe: it ends what it runs."""
        guard = self._guard
        if guard is not None and guard.stdin is not None:
            with suppress(OSError):
                guard.stdin.close()
