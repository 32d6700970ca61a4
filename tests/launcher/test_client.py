"""The smallest client: one request over a raw socket, and what it makes of bad replies."""

from __future__ import annotations

import ast
import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import _client
from launcher import identity, paths


@contextmanager
def replying(*parts: bytes) -> Iterator[tuple[_client.Address, list[bytes]]]:
    """A server for one connection that sends `parts` and closes; with what it received."""
    received: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(5)
            received.append(connection.recv(65536))
            for part in parts:
                connection.sendall(part)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield _client.Address(listener.getsockname()[1], "secret"), received
    finally:
        thread.join(5)
        listener.close()


def test_a_request_carries_host_token_and_json() -> None:
    with replying(b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", b'{"ok": true}'[:5], b'{"ok": true}'[5:11]) as (
        address,
        got,
    ):
        _client.call(address, "POST", "/ask", {"question": "why"}, timeout_s=5)
    head, _, body = got[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"POST /ask HTTP/1.0",
        b"Host: 127.0.0.1:%d" % address.port,
        b"Authorization: Bearer secret",
        b"Content-Type: application/json",
        b"Content-Length: 19",
    ]
    assert body == b'{"question": "why"}'


def test_a_reply_in_pieces_is_put_together() -> None:
    with replying(b"HTTP/1.1 503 Later\r\nconte", b"nt-length: 8\r\n\r", b'\n{"a":', b" 1}") as (address, _):
        assert _client.call(address, "GET", "/", timeout_s=5) == (503, {"a": 1})


def test_a_reply_without_a_length_ends_with_the_connection() -> None:
    with replying(b'HTTP/1.0 200 OK\r\n\r\n{"a"', b": 1}") as (address, _):
        assert _client.call(address, "GET", "/", timeout_s=5) == (200, {"a": 1})


@pytest.mark.parametrize("body", [b"[1]", b"no json", b"\xff\xfe", b"[" * 100_000])
def test_a_reply_that_is_no_json_object_is_an_empty_one(body: bytes) -> None:
    with replying(b"HTTP/1.1 200 OK\r\n\r\n" + body) as (address, _):
        assert _client.call(address, "GET", "/", timeout_s=5) == (200, {})


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
    ],
)
def test_what_is_no_whole_http_reply_is_no_answer(reply: bytes) -> None:
    with replying(reply) as (address, _), pytest.raises(_client.NoAnswer):
        _client.call(address, "GET", "/", timeout_s=5)


@pytest.mark.parametrize(
    ("head", "piece", "pause_s"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.05),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x", 0.05),
        (b"HTTP/1.1 200 OK\r\n", b"x", 0.05),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 1_000_000, 0),
        (b"HTTP/1.1 200 OK\r\n", b"x" * 1_000_000, 0),
    ],
)
def test_a_reply_without_end_is_no_answer_in_bounded_time_and_memory(head: bytes, piece: bytes, pause_s: float) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    gone = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(head)
            for _ in range(200):
                connection.sendall(piece)
                gone.wait(pause_s)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with pytest.raises(_client.NoAnswer):
            _client.call(_client.Address(listener.getsockname()[1]), "GET", "/health", timeout_s=0.3 if pause_s else 5)
        assert thread.is_alive() or not pause_s  # it would have gone on
    finally:
        gone.set()
        thread.join(10)
        listener.close()


def test_nobody_listening_is_told_apart_from_no_answer(place: paths.Place) -> None:
    with pytest.raises(_client.Unreachable) as failed:
        _client.call(_client.Address(place.port), "GET", "/", timeout_s=5)
    assert not isinstance(failed.value, _client.NoAnswer)
    with socket.create_server(("127.0.0.1", place.port)), pytest.raises(_client.NoAnswer):
        _client.call(_client.Address(place.port), "GET", "/", timeout_s=0.05)


def test_a_hook_finds_the_running_server_by_its_record_alone(place: paths.Place) -> None:
    assert _client.running_server(place.data_dir) is None
    token = identity.read_or_create_token(place.data_dir)
    identity.write_record(place, os.getpid(), "0.1.0")
    found = _client.running_server(place.data_dir)
    assert found is not None
    assert (found.port, found.token) == (place.port, token)
    record = Path(place.data_dir) / "server.json"
    record.write_text(record.read_text().replace('"started": "', '"started": "1'))
    assert _client.running_server(place.data_dir) is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"pid": "1", "port": 2}', "\udcff"])
def test_a_damaged_record_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "server.json").write_text(content, errors="surrogateescape")
    assert _client.read_record(str(tmp_path)) == {}


def test_it_starts_on_python_3_9() -> None:
    ast.parse(Path(_client.__file__).read_text(), feature_version=(3, 9))
