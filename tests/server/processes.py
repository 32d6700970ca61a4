"""The server as a process of its own, on a socket that it inherits as from the launcher."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RUNTIME = Path(__file__).resolve().parents[2] / "runtime" / "live_memory"
TOKEN = "t" * 43
AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}


def made_data_dir(folder: Path) -> Path:
    """A data folder with its token, and beside it an empty home and a small repository."""
    for name in ("data", "home", "repo"):
        (folder / name).mkdir(parents=True)
    (folder / "data" / "token").write_text(TOKEN)
    (folder / "repo" / "main.py").write_text("def main():\n    return 'started'\n")
    subprocess.run(["git", "init", "-q", folder / "repo"], check=True)
    return folder / "data"


@contextmanager
def listening() -> Iterator[socket.socket]:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        yield sock


def start(
    data_dir: Path,
    *words: str,
    program: tuple[str, ...] = (str(RUNTIME),),
    descriptors: tuple[int, ...] = (),
    **settings: str,
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-Es", *program, "--data-dir", str(data_dir), *words]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(data_dir.parent / "home"),
        "LIVE_MEMORY_PROVIDER": "scripted",
    }
    environment |= {f"LIVE_MEMORY_{name.upper()}": value for name, value in settings.items()}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, pass_fds=descriptors, stdout=pipe, stderr=pipe)


@contextmanager
def serving(
    data_dir: Path, listener: socket.socket, program: tuple[str, ...] = (str(RUNTIME),), **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A server on `listener`, as the launcher hands it over; killed afterwards if it still runs. `program` is what
    Python runs as the server."""
    words = ("--socket-fd", str(listener.fileno()))
    with start(data_dir, *words, program=program, descriptors=(listener.fileno(),), **settings) as process:
        try:
            yield process
        finally:
            process.kill()


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])
