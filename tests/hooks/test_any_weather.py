"""Whatever the server does and whatever a hook is told: it ends well, says nothing, and the session goes on."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from cli.stand_in import Asked, Reply, StandIn, always
from hooks.calls import EVENTS, Spoken, call, environment
from hooks.launchers import RecordingLauncher

from launcher import identity, paths

SILENCE = Spoken(None, 0, "")
EVENT: dict[str, Any] = {
    "cwd": "/src/shop",
    "session_id": "s-1",
    "transcript_path": "/nowhere/s-1.jsonl",
    "prompt": "Where are the prices of a cart added up?",
    "tool_name": "Read",
    "file_path": "/src/shop/a.py",
    "event": "change",
    "command_name": "review",
}
ARGUMENTS = {"file_path": "/src/shop/a.py", "question": "Where?", "cwd": "/src/shop"}
ALLOWED = Spoken({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}, 0, "")
HEALTHY = json.dumps({"name": "live-memory", "status": "ok"}).encode()
TAKEN = "Live Memory cannot start: another program holds port {port}. Give the plugin another `port`."

Weather: TypeAlias = Callable[[socket.socket], None]


def fit(event: str, told: object) -> object:
    """What is told, of a tool that the hook of this event is there for."""
    if event != "PreToolUse" or not isinstance(told, dict) or "tool_name" not in told:
        return told
    return {**told, "tool_name": "mcp__plugin_live-memory_live-memory__ask_live_memory"}


@pytest.fixture
def all_hooks(data_dir: Path, launcher: RecordingLauncher) -> Callable[..., dict[str, Spoken]]:
    """Runs every hook at once; gives what each said."""

    def run(told: object, port: int) -> dict[str, Spoken]:
        env = environment(data_dir, CLAUDE_PLUGIN_ROOT=str(launcher.root), LIVE_MEMORY_PORT=str(port))
        with ThreadPoolExecutor(4) as pool:
            return dict(zip(EVENTS, pool.map(lambda event: call(event, fit(event, told), env), EVENTS), strict=True))

    return run


@pytest.fixture
def record(data_dir: Path) -> Callable[[int], None]:
    """Puts a port on record as the running server's."""

    def put(port: int) -> None:
        (data_dir / "token").write_text("dummy-token")
        identity.write_record(paths.Place(str(data_dir), port), os.getpid(), "0.0.1")

    return put


def says_nothing(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.recv(65536)  # until the hook hangs up


def hangs_up(connection: socket.socket) -> None:
    connection.recv(65536)


def breaks_off(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")


def drips(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.settimeout(0.05)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:  # until the hook hangs up
        connection.sendall(b"X")
        try:
            if not connection.recv(65536):
                return
        except TimeoutError:
            pass


def floods(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65536)


def answers(body: bytes, status: str = "200 OK") -> Weather:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body))

    return answer


WEATHERS: Mapping[str, Weather] = {
    "hung": says_nothing,
    "restarting": hangs_up,
    "breaking off": breaks_off,
    "slow": drips,
    "endless": floods,
    "no HTTP": lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "no JSON": answers(b"<html>"),
    "another shape": answers(b'["name", "live-memory"]'),
    "refusing the token": answers(b'{"error": {"code": "unauthorized", "message": "No."}}', "401 Unauthorized"),
    "of another version": answers(b'{"error": {"code": "not-found", "message": "No."}}', "404 Not Found"),
    "busy": answers(b'{"error": {"code": "busy", "message": "Later."}}', "503 Service Unavailable"),
    "in trouble": answers(b"Internal Server Error", "500 Internal Server Error"),
    "of other types": answers(b'{"name": 7, "status": [], "context": {"a": 1}, "paths": "x", "notes": null}'),
}


@pytest.fixture(params=WEATHERS)
def stormy_port(request: pytest.FixtureRequest) -> Iterator[int]:
    """A port where every connection meets this weather."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, suppress(ConnectionError):  # the hook hangs up
            WEATHERS[request.param](connection)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=serve, args=(connection,)))
            threads[-1].start()

    threads = [threading.Thread(target=accept)]
    threads[0].start()
    yield int(listener.getsockname()[1])
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    for thread in threads:
        thread.join()


def assert_calm(spoken: dict[str, Spoken], port: int) -> None:
    """PreToolUse allows the call whatever happens, SessionStart may name a foreign program, the others keep silent."""
    assert spoken.pop("PreToolUse") == ALLOWED
    assert spoken.pop("SessionStart") in (SILENCE, Spoken({"systemMessage": TAKEN.format(port=port)}, 0, ""))
    assert spoken == dict.fromkeys(spoken, SILENCE)


def test_whatever_the_server_does_no_hook_fails_or_speaks(
    all_hooks: Callable[..., dict[str, Spoken]], record: Callable[[int], None], stormy_port: int
) -> None:
    record(stormy_port)
    assert_calm(all_hooks({**EVENT, "tool_input": ARGUMENTS}, stormy_port), stormy_port)


@pytest.mark.parametrize("state", ["down", "never started", "of a dead process", "without a token", "a torn record"])
def test_without_a_server_no_hook_fails_or_speaks(
    all_hooks: Callable[..., dict[str, Spoken]],
    record: Callable[[int], None],
    data_dir: Path,
    unused_port: int,
    state: str,
) -> None:
    if state != "never started":
        record(unused_port)
    if state == "of a dead process":
        dead = {"pid": os.getpid(), "started": "another-1", "port": unused_port, "version": "0"}
        (data_dir / "server.json").write_text(json.dumps(dead))
    if state == "without a token":
        (data_dir / "token").unlink()
    if state == "a torn record":
        (data_dir / "server.json").write_bytes(b'{"pid": 1, "port": \xff')
    assert_calm(all_hooks({**EVENT, "tool_input": ARGUMENTS}, unused_port), unused_port)


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"no json",
        b"\xff\xfe\x00binary\x00" * 1000,
        b"[" * 100_000,
        b'{"cwd": "/src/shop"',
        b"null",
        b'["cwd"]',
        b"{}",
        dict.fromkeys((*EVENT, "tool_input"), 7),
        {name: ["x"] for name in (*EVENT, "tool_input")},
        dict.fromkeys((*EVENT, "tool_input")),
        {name: {"file_path": 7} for name in (*EVENT, "tool_input")},
        b'{"prompt": "' + b"x" * 50_000_000,
    ],
    ids=[
        "nothing",
        "words",
        "binary",
        "deep",
        "torn",
        "null",
        "list",
        "empty",
        "numbers",
        "lists",
        "nulls",
        "objects",
        "fifty-megabytes",
    ],
)
def test_whatever_a_hook_is_told_it_neither_fails_nor_speaks_nor_tells_the_server(
    all_hooks: Callable[..., dict[str, Spoken]], server: StandIn, told: object
) -> None:
    asked: list[Asked] = []
    server.routes = dict.fromkeys(("POST /notify", "POST /session", "POST /recall"), _kept(asked))
    spoken = all_hooks(told, server.port)
    assert spoken.pop("PreToolUse") in (SILENCE, ALLOWED)
    assert spoken == dict.fromkeys(spoken, SILENCE)
    assert asked == []


def test_half_characters_and_paths_that_no_disk_takes_are_left_to_the_server(
    all_hooks: Callable[..., dict[str, Spoken]], server: StandIn
) -> None:
    half = {**dict.fromkeys(EVENT, "\ud800"), "tool_name": "Edit", "event": "add", "transcript_path": "a\0b"}
    assert_calm(all_hooks({**half, "tool_input": {**ARGUMENTS, "file_path": "\ud800\0"}}, server.port), server.port)


def _kept(asked: list[Asked]) -> Callable[[Asked], Reply]:
    def keep(request: Asked) -> Reply:
        asked.append(request)
        return always({})(request)

    return keep
