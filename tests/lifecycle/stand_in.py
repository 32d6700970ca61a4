"""A server process in place of ours. Run as a script: DATA_DIR PORT VERSION MANNER; prints a line once it listens.

The manners: `answers` speaks /health and /shutdown as a server of VERSION does; `hangs` accepts and never answers.
It leaves the pid record that our server leaves.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bin"), str(ROOT / "hooks")]

import _client  # noqa: E402  # the path above leads to it
from launcher import identity, paths  # noqa: E402


def main(data_dir: str, port: int, version: str, manner: str) -> None:
    place = paths.Place(data_dir, port)
    paths.make_data_dir(data_dir)
    token = identity.read_or_create_token(data_dir)
    listener = socket.create_server(("127.0.0.1", port))
    identity.write_record(place, os.getpid(), version)
    print("listening", flush=True)
    held = []
    while True:
        connection, _ = listener.accept()
        if manner == "hangs":
            held.append(connection)
            continue
        with connection:
            method, target, *_ = connection.recv(65536).decode().split(" ")
            query = parse_qs(urlsplit(target).query)
            challenge = query.get("challenge", [""])[0]
            health = {
                "name": "live-memory",
                "version": version,
                "status": "ok",
                "pid": os.getpid(),
                "data_dir": data_dir,
            }
            body = json.dumps({**health, "proof": identity.proof(token, challenge)}).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        if method == "POST" and target == "/shutdown":
            return


@contextmanager
def stand_in(place: paths.Place, version: str, manner: str) -> Iterator[subprocess.Popen[str]]:
    """Such a server, listening; ended and reaped afterwards."""
    command = [sys.executable, str(Path(__file__).resolve()), place.data_dir, str(place.port), version, manner]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def foreign_http_server(port: int) -> Iterator[None]:
    """An HTTP server, in this process, that knows nothing of us."""
    listener = socket.create_server(("127.0.0.1", port))
    answering = threading.Thread(target=_answer_not_found, args=(listener,))
    answering.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        answering.join(5)
        listener.close()


def _answer_not_found(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")


def age_record(data_dir: Path, seconds: float) -> None:
    """Make the pid record look `seconds` old."""
    record = data_dir / _client.RECORD_FILE
    then_s = record.stat().st_mtime - seconds
    os.utime(record, (then_s, then_s))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
