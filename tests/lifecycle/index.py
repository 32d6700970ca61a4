"""The runtime's packages close by: a folder of wheels, and a package index over it on a port of 127.0.0.1."""

from __future__ import annotations

import functools
import http.server
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from launcher import paths

DOWNLOAD_TIMEOUT_S = 300


def download(folder: Path) -> Path:
    """Every package of the lock file as a wheel in `folder`."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--require-hashes",
        "--dest",
        str(folder),
    ]
    subprocess.run([*command, "-r", paths.REQUIREMENTS], check=True, timeout=DOWNLOAD_TIMEOUT_S)
    return folder


@contextmanager
def index_over(wheels: Path, folder: Path, port: int) -> Iterator[None]:
    """A package index (PEP 503) at http://127.0.0.1:`port`/ that serves `wheels`; its pages are made in `folder`."""
    for wheel in wheels.iterdir():
        page = folder / re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower()
        page.mkdir(parents=True, exist_ok=True)
        (page / wheel.name).hardlink_to(wheel)
        (page / "index.html").write_text(f'<!DOCTYPE html><a href="{wheel.name}">{wheel.name}</a>')
    handler = functools.partial(_QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield
        finally:
            server.shutdown()
            serving.join()


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass
