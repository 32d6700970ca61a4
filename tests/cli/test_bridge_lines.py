"""The stdio bridge against a server whose replies the test decides: what goes over the wire, and what becomes of it."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.command_line import COMMAND, run
from cli.stand_in import Asked, Reply, StandIn, refusal
from cli.stdio_client import bridge, modern_request, notification, request

from launcher.commands.bridge import PLACED_TOOLS
from live_memory.server.plain_mcp import TOOLS
from live_memory.server.tool import JOB_TOOLS

WAIT_S = 10
PACE_S = 0.01
PROGRESS = notification("notifications/progress", progressToken="p", progress=1, message="Reading")


def result(asked: Asked, value: object = None) -> dict[str, Any]:
    """The JSON-RPC answer to what was asked."""
    return {"jsonrpc": "2.0", "id": asked.body.get("id"), "result": value or {"method": asked.body["method"]}}


def event(message: object) -> bytes:
    return b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n"


def answer(asked: Asked) -> Reply:
    """What a server without surprises says."""
    if "id" not in asked.body:
        return Reply(status=202)
    if asked.body["method"] == "initialize":
        return Reply(result(asked, {"protocolVersion": "2025-06-18"}), headers={"Mcp-Session-Id": "s1"})
    return Reply(result(asked))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "data").running() as stand_in:
        stand_in.routes["POST /mcp"] = answer
        yield stand_in


def posts(server: StandIn) -> list[Asked]:
    return [asked for asked in server.asked if asked.path == "/mcp"]


def test_a_request_is_answered_by_the_servers_reply(env: dict[str, str], server: StandIn) -> None:
    with bridge(env) as client:
        client.send(request("a", "tools/list"))
        assert client.receive() == {"jsonrpc": "2.0", "id": "a", "result": {"method": "tools/list"}}
    (asked,) = posts(server)
    assert asked.body == request("a", "tools/list")
    assert asked.headers["accept"] == "application/json, text/event-stream"


def test_what_the_handshake_agreed_on_goes_with_all_that_follows(env: dict[str, str], server: StandIn) -> None:
    with bridge(env) as client:
        client.send(
            request(1, "initialize", protocolVersion="2025-11-25"),
            notification("notifications/initialized"),
            request(2, "tools/list"),
        )
        assert client.receive()["id"] == 1
        assert client.receive()["id"] == 2
    headers = {asked.body["method"]: asked.headers for asked in posts(server)}
    assert not {"mcp-protocol-version", "mcp-session-id"} & set(headers["initialize"])
    assert headers["tools/list"]["mcp-protocol-version"] == "2025-06-18"
    assert headers["tools/list"]["mcp-session-id"] == "s1"


def test_a_request_of_the_new_era_is_mirrored_in_its_headers(env: dict[str, str], server: StandIn) -> None:
    with bridge(env) as client:
        client.send(modern_request(1, "tools/call", name="mémoire", arguments={}))
        client.receive()
    (asked,) = posts(server)
    mirrored = [asked.headers[name] for name in ("mcp-protocol-version", "mcp-method", "mcp-name")]
    assert mirrored == ["2026-07-28", "tools/call", "=?base64?bcOpbW9pcmU=?="]


def test_progress_is_passed_on_before_the_answer(env: dict[str, str], server: StandIn) -> None:
    def stream(asked: Asked) -> Iterator[bytes]:
        yield b": ping\r\n\r\n"
        whole = event(PROGRESS)
        yield whole[:20]
        yield whole[20:]
        yield event(result(asked, {"text": "line\nand another"}))

    server.routes["POST /mcp"] = lambda asked: Reply(stream=stream(asked))
    with bridge(env) as client:
        client.send(modern_request(1, "tools/call", name="ask_live_memory", arguments={}))
        assert client.receive() == PROGRESS
        assert client.receive()["result"] == {"text": "line\nand another"}


def test_requests_run_side_by_side_and_are_answered_as_they_are_done(env: dict[str, str], server: StandIn) -> None:
    both_there = threading.Barrier(2)
    second_done = threading.Event()

    def meet(asked: Asked) -> Reply:
        both_there.wait(WAIT_S)
        if asked.body["id"] == 1:
            second_done.wait(WAIT_S)
        return answer(asked)

    server.routes["POST /mcp"] = meet
    with bridge(env) as client:
        client.send(request(1, "tools/list"), request(2, "tools/list"))
        assert client.receive()["id"] == 2
        second_done.set()
        assert client.receive()["id"] == 1


def held_until_hung_up(hung_up: threading.Event) -> Callable[[Asked], Reply]:
    """A server that only makes progress, until nobody listens any more; other methods are answered."""

    def stream() -> Iterator[bytes]:
        try:
            while not hung_up.wait(PACE_S):
                yield event(PROGRESS)
        except GeneratorExit:
            hung_up.set()
            raise

    return lambda asked: Reply(stream=stream()) if asked.body["method"] == "tools/call" else answer(asked)


@pytest.mark.parametrize("make", [request, modern_request], ids=["old era", "new era"])
def test_a_cancelled_request_is_hung_up_on_and_never_answered(
    env: dict[str, str], server: StandIn, make: Callable[..., dict[str, Any]]
) -> None:
    hung_up = threading.Event()
    server.routes["POST /mcp"] = held_until_hung_up(hung_up)
    with bridge(env) as client:
        client.send(make(7, "tools/call", name="ask_live_memory", arguments={}))
        assert client.receive() == PROGRESS
        client.send(notification("notifications/cancelled", requestId=7))
        assert hung_up.wait(WAIT_S)
        client.send(make(8, "tools/list"))
        message = client.receive()
        while message == PROGRESS:
            message = client.receive()
        assert message["id"] == 8
        client.close_stdin()
        assert client.rest() == []
    cancels = [asked for asked in posts(server) if asked.body["method"] == "notifications/cancelled"]
    assert len(cancels) == (1 if make is request else 0), "in the new era hanging up is the signal"


def test_a_client_that_ends_cancels_what_it_asked(env: dict[str, str], server: StandIn) -> None:
    hung_up = threading.Event()
    server.routes["POST /mcp"] = held_until_hung_up(hung_up)
    with bridge(env) as client:
        client.send(modern_request(7, "tools/call", name="ask_live_memory", arguments={}))
        client.receive()
        client.process.terminate()
        assert client.process.wait(WAIT_S) == 0
    assert hung_up.wait(WAIT_S)


def test_a_reader_that_goes_away_cancels_what_it_asked(env: dict[str, str], server: StandIn) -> None:
    arrived, hung_up = threading.Event(), threading.Event()

    def silent() -> Iterator[bytes]:
        try:
            arrived.set()
            while not hung_up.wait(PACE_S):
                yield b": ping\r\n\r\n"
        except GeneratorExit:
            hung_up.set()
            raise

    server.routes["POST /mcp"] = lambda asked: Reply(stream=silent())
    reading, writing = os.pipe()
    process = subprocess.Popen([COMMAND, "mcp"], env=env, stdin=subprocess.PIPE, stdout=writing)
    os.close(writing)
    assert process.stdin is not None
    with process.stdin as stdin:
        stdin.write(json.dumps(request(7, "tools/call", name="ask_live_memory", arguments={})).encode())
    assert arrived.wait(WAIT_S)
    os.close(reading)
    assert hung_up.wait(WAIT_S)
    assert process.wait(WAIT_S) == 0


def test_all_that_is_piped_in_is_answered_before_it_ends(env: dict[str, str]) -> None:
    lines = [request(1, "initialize"), request(2, "tools/list"), "", request(3, "ping")]
    done = run(env, "mcp", stdin="".join(f"{one if one == '' else json.dumps(one)}\n" for one in lines))
    assert done.returncode == 0
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [1, 2, 3]


def test_an_endless_stream_does_not_keep_it_from_ending(env: dict[str, str], server: StandIn) -> None:
    hung_up = threading.Event()

    def endless() -> Iterator[bytes]:
        try:
            yield event(notification("notifications/subscriptions/acknowledged"))
            while not hung_up.wait(PACE_S):
                yield b": ping\r\n\r\n"
        except GeneratorExit:
            hung_up.set()
            raise

    server.routes["POST /mcp"] = lambda asked: Reply(stream=endless())
    with bridge(env) as client:
        client.send(modern_request(1, "subscriptions/listen"))
        assert client.receive()["method"] == "notifications/subscriptions/acknowledged"
        client.close_stdin()
        assert client.process.wait(WAIT_S) == 0
    assert hung_up.wait(WAIT_S)


def test_the_bridges_folder_stands_in_for_a_cwd_that_is_missing_or_relative(
    env: dict[str, str], server: StandIn, tmp_path: Path
) -> None:
    with bridge(env, cwd=tmp_path) as client:
        for number, given in enumerate([{}, {"cwd": "sub/folder"}, {"cwd": "/of/the/caller"}]):
            client.send(request(number, "tools/call", name="ask_live_memory", arguments={"question": "Who?", **given}))
            client.receive()
        client.send(request(8, "tools/call", name="memory_save", arguments={}))
        client.receive()
        client.send(request(9, "tools/call", name="another_tool", arguments={}))
        client.receive()
    arguments = [asked.body["params"]["arguments"] for asked in posts(server)]
    assert [one.get("cwd") for one in arguments] == [
        str(tmp_path),
        str(tmp_path / "sub" / "folder"),
        "/of/the/caller",
        str(tmp_path),
        None,
    ]


def test_every_tool_that_takes_a_folder_gets_one() -> None:
    placed = {tool.name for tool in (*TOOLS, *JOB_TOOLS) if "cwd" in dict(tool.schema["properties"])}  # type: ignore[call-overload]
    assert set(PLACED_TOOLS) == placed


def test_a_server_that_is_still_installing_is_waited_for(env: dict[str, str], server: StandIn) -> None:
    def become_whole(asked: Asked) -> Reply:
        server.routes["POST /mcp"] = answer
        busy = refusal(503, "installing", "Live Memory is being set up; ask again in a moment.")
        return Reply(busy.value, 503, {"Retry-After": "1"})

    server.routes["POST /mcp"] = become_whole
    with bridge(env) as client:
        client.send(request(1, "initialize"))
        assert client.receive()["result"] == {"protocolVersion": "2025-06-18"}


def test_a_degraded_server_is_an_error_with_its_reason(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /mcp"] = lambda asked: refusal(503, "degraded", "MCP is not served: no network")
    with bridge(env) as client:
        client.send(request(1, "initialize"))
        assert client.receive()["error"]["message"] == "MCP is not served: no network"


def test_a_reply_that_breaks_off_is_asked_for_again(env: dict[str, str], server: StandIn) -> None:
    def break_off(asked: Asked) -> Reply:
        server.routes["POST /mcp"] = answer
        return Reply(stream=iter([event(PROGRESS)]))

    server.routes["POST /mcp"] = break_off
    with bridge(env) as client:
        client.send(request(1, "tools/call", name="ask_live_memory", arguments={}))
        assert client.receive() == PROGRESS
        assert client.receive()["id"] == 1
    assert len(posts(server)) == 2


def test_a_server_that_breaks_off_every_time_is_given_up(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /mcp"] = lambda asked: Reply(stream=iter([b": ping\r\n\r\n"]))
    with bridge(env) as client:
        client.send(request(1, "tools/list"))
        assert "broke off" in client.receive()["error"]["message"]
    assert len(posts(server)) == 3


def test_a_token_that_was_made_anew_is_read_again(env: dict[str, str], server: StandIn) -> None:
    with bridge(env) as client:
        client.send(request(1, "ping"))
        client.receive()
        refused = refusal(401, "unauthorized", "Show the token.")

        def once(asked: Asked) -> Reply:
            server.routes["POST /mcp"] = answer
            return refused

        server.routes["POST /mcp"] = once
        client.send(request(2, "ping"))
        assert client.receive()["id"] == 2


def test_the_servers_own_errors_keep_their_code_and_get_the_requests_id(env: dict[str, str], server: StandIn) -> None:
    said = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "params._meta is missing"}}
    server.routes["POST /mcp"] = lambda asked: Reply(said, 400)
    with bridge(env) as client:
        client.send(request("x", "tools/list"))
        assert client.receive() == {**said, "id": "x"}


@pytest.mark.parametrize(
    ("line", "code"),
    [("{not JSON", -32700), ("[" * 100_000, -32700), ("[]", -32600), ('"text"', -32600), ('{"id": 1}', -32600)],
)
def test_a_line_that_is_no_message_is_refused_and_the_next_is_served(env: dict[str, str], line: str, code: int) -> None:
    with bridge(env) as client:
        client.send(line)
        refused = client.receive()
        assert (refused["id"], refused["error"]["code"]) == (None, code)
        client.send(request(2, "ping"))
        assert client.receive()["id"] == 2


def test_ids_of_different_kinds_are_different_requests(env: dict[str, str], server: StandIn) -> None:
    hung_up = threading.Event()
    server.routes["POST /mcp"] = held_until_hung_up(hung_up)
    with bridge(env) as client:
        client.send(modern_request(1, "tools/call", name="t", arguments={}))
        assert client.receive() == PROGRESS
        client.send(notification("notifications/cancelled", requestId="1"))
        assert client.receive() == PROGRESS
        client.send(notification("notifications/cancelled", requestId=1))
        assert hung_up.wait(WAIT_S)


def test_a_port_that_somebody_else_holds_is_an_error_of_each_request(env: dict[str, str], server: StandIn) -> None:
    server.health = {"proof": "", "data_dir": "/elsewhere"}
    done = run(env, "mcp", stdin=json.dumps(request(1, "initialize")) + "\n")
    assert f"Port {server.port} is held by" in json.loads(done.stdout)["error"]["message"]
    assert f"Port {server.port} is held by" in done.stderr
