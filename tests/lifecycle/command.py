"""Runs `bin/live-memory` in an environment of its own: a temporary home and data folder, an ephemeral port."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import _client
from launcher import identity, paths, venv

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(ROOT / "bin" / "live-memory")
COMMAND_TIMEOUT_S = 120
POLL_S = 0.02
KEPT = (
    "LANG",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
)
INDEX_SETTINGS = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX")


def unused_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Machine:
    """A user's machine in a folder: home, data folder, port and environment. `close` ends the server it ran."""

    folder: Path
    port: int = field(default_factory=unused_port)
    extra: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home = self.folder / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.data_dir = self.folder / "data"
        self._started: list[subprocess.Popen[str]] = []

    @property
    def place(self) -> paths.Place:
        return paths.Place(str(self.data_dir), self.port)

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the tests' own user but what reaching a package index may take."""
        return {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}",
            "HOME": str(self.home),
            "LIVE_MEMORY_DATA_DIR": str(self.data_dir),
            "LIVE_MEMORY_PORT": str(self.port),
            "LIVE_MEMORY_PROVIDER": "passages",
            "LIVE_MEMORY_IDLE_EXIT_S": "300",
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            **self.extra,
        }

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """`live-memory ARGUMENTS` to its end."""
        return subprocess.run(
            [COMMAND, *arguments],
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        """`live-memory ARGUMENTS`, running; ended by `close` at the latest."""
        process = subprocess.Popen(
            [COMMAND, *arguments],
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def ensure(self, **more: str) -> dict[str, object]:
        """What `ensure --json` prints."""
        done = self.run("ensure", "--json", **more)
        assert done.returncode == 0, done.stderr
        value = json.loads(done.stdout)
        assert isinstance(value, dict)
        return value

    def health(self) -> dict[str, object]:
        """The /health answer of our server; empty while there is none."""
        seen = identity.probe(self.place)
        return seen.health if seen.kind == "ours" else {}

    def ask(self, question: str, cwd: Path) -> tuple[int, dict[str, object]]:
        """The status and the body that /ask answers."""
        address = _client.Address(self.port, _client.read_token(str(self.data_dir)))
        return _client.call(address, "POST", "/ask", {"question": question, "cwd": str(cwd)}, timeout_s=30)

    def borrow_packages(self) -> None:
        """Let the tests' own environment stand in for an installed one."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        Path(venv.path(str(self.data_dir))).symlink_to(sys.prefix)

    def servers(self) -> list[int]:
        """The pids of all processes that run a server of this data folder (Linux)."""
        mine, runtime = os.fsencode(str(self.data_dir)), os.fsencode(paths.PACKAGE)
        return [pid for pid, words in command_lines() if mine in words and runtime in words]

    def close(self) -> None:
        """End whatever it ran."""
        for process in self._started:
            if process.returncode is None:
                process.kill()
                process.communicate()
        record = _client.read_record(str(self.data_dir))
        if identity.is_running(record):
            os.kill(int(str(record["pid"])), 9)
            until(lambda: not identity.is_running(record), "the killed server is gone")


def command_lines() -> Iterator[tuple[int, list[bytes]]]:
    """Every process's pid and command line, word by word, as far as they can be seen (Linux)."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                yield int(entry.name), (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue


def until(holds: Callable[[], object], what: str, limit_s: float = 60.0) -> None:
    """Wait until `holds()`; an AssertionError names `what` when the time is up."""
    deadline_s = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline_s, f"still not so after {limit_s} s: {what}"
        time.sleep(POLL_S)


@contextmanager
def machine(folder: Path, **extra: str) -> Iterator[Machine]:
    """A machine that is cleared up afterwards."""
    made = Machine(folder, extra=dict(extra))
    try:
        yield made
    finally:
        made.close()
