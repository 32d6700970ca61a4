"""The server on a real socket: what reaches it over the wire, hanging up, draining, many at once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import pytest
from server.desks import TOKEN, HandDesk
from server.live import PATIENCE_S, live_server

from live_memory.clock import SystemClock
from live_memory.server.tool import TOOL_NAME
from live_memory.settings import Settings

QUESTION: dict[str, object] = {"question": "where is main?", "cwd": "/repo"}


async def test_health_answers_before_mcp_is_there_and_shows_nothing_of_the_server_software() -> None:
    async with live_server(HandDesk()) as server:
        reply = await server.call("GET", "/health", headers={"Authorization": ""})
        assert reply.status == 200
        assert reply.json()["status"] == "ok"
        assert "server" not in reply.headers


async def test_a_question_is_answered_over_the_wire() -> None:
    async with live_server(HandDesk()) as server:
        reply = await server.call("POST", "/ask", QUESTION)
        assert reply.status == 200
        assert reply.headers["content-type"] == "application/json"
        assert reply.json()["answer"] == "about: where is main?"


async def test_a_stranger_is_refused_on_every_path() -> None:
    strangers = [
        ({"Authorization": ""}, 401, "unauthorized"),
        ({"Authorization": "Bearer wrong"}, 401, "unauthorized"),
        ({"Host": "evil.example"}, 403, "foreign-host"),
        ({"Host": "localhost:1"}, 403, "foreign-host"),
        ({"Origin": "https://evil.example"}, 403, "foreign-origin"),
        ({"Origin": "null"}, 403, "foreign-origin"),
    ]
    desk = HandDesk()
    async with live_server(desk) as server:
        for headers, status, code in strangers:
            for path in ("/ask", "/mcp", "/clear", "/reset", "/reload", "/shutdown"):
                reply = await server.call("POST", path, QUESTION, headers)
                assert (reply.status, reply.code) == (status, code)
                assert not server.state.shutdown.is_set()
    assert not desk.asked
    assert not desk.calls


async def test_a_browsers_preflight_gets_no_permission() -> None:
    asking = {"Authorization": "", "Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    async with live_server(HandDesk()) as server:
        reply = await server.call("OPTIONS", "/ask", headers=asking)
        assert reply.status == 403
        assert not any(name.startswith("access-control") for name in reply.headers)


@pytest.mark.parametrize("path", ["/ask", "/mcp"])
async def test_a_body_announced_too_large_is_refused_before_it_is_sent(path: str) -> None:
    async with live_server(HandDesk()) as server:
        head = _head(server.port, path, f"Content-Length: {server.state.settings.max_body_bytes + 1}")
        assert (await _status(server.port, head)) == 413


@pytest.mark.parametrize("path", ["/ask", "/mcp"])
async def test_a_chunked_body_is_read_no_further_than_allowed(path: str) -> None:
    async with live_server(HandDesk()) as server:
        server.state.settings = Settings(max_body_bytes=65536)
        head = _head(server.port, path, "Transfer-Encoding: chunked")
        chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
        # The end of the body never comes: the answer must not wait for it.
        assert (await _status(server.port, head, *[chunk] * 5)) == 413


async def test_a_body_longer_than_it_says_is_not_part_of_the_request() -> None:
    desk = HandDesk()
    async with live_server(desk) as server:
        body = json.dumps(QUESTION).encode()
        head = _head(server.port, "/ask", f"Content-Length: {len(body)}\r\nConnection: close")
        answer = await server.send_raw(head + body + b"x" * 1000)
        assert answer.startswith(b"HTTP/1.1 200")
    assert len(desk.asked) == 1


async def test_a_client_that_leaves_before_its_body_is_whole_asks_nothing() -> None:
    desk = HandDesk()
    async with live_server(desk) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(_head(server.port, "/ask", "Content-Length: 1000") + b'{"question":')
        await writer.drain()
        writer.close()
        assert (await server.call("GET", "/health")).status == 200
    assert not desk.asked


async def test_bytes_that_are_not_http_get_400_and_the_server_lives() -> None:
    async with live_server(HandDesk()) as server:
        assert (await server.send_raw(b"\x16\x03\x01 hello\r\n\r\n")).startswith(b"HTTP/1.1 400")
        assert (await server.call("GET", "/health")).status == 200


async def test_a_client_that_hangs_up_cancels_its_question() -> None:
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server:
        body = json.dumps(QUESTION).encode()
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(_head(server.port, "/ask", f"Content-Length: {len(body)}") + body)
        async with asyncio.timeout(PATIENCE_S):
            await desk.arrived.wait()
            writer.close()
            assert (await desk.cancelled.get()).text == "where is main?"
        assert (await server.call("GET", "/health")).status == 200
        assert server.state.requests_in_flight == 0


async def test_a_server_whose_mcp_package_is_broken_says_so_and_serves_the_tool_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("live_memory.server.app.MCP_MODULE", "nothing_of_that_name")
    async with live_server(HandDesk()) as server:
        calling = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        called = await server.call("POST", "/mcp", {**calling, "params": {"name": TOOL_NAME, "arguments": QUESTION}})
        assert (called.status, called.json()["id"]) == (200, 1)
        health = (await server.call("GET", "/health")).json()
        assert (health["status"], str(health["reason"]).startswith("The package mcp cannot")) == ("degraded", True)


async def test_a_draining_server_finishes_what_it_began_and_begins_nothing() -> None:
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server:
        asking = asyncio.create_task(server.call("POST", "/ask", QUESTION))
        await desk.arrived.wait()
        assert (await server.call("POST", "/shutdown")).json()["status"] == "draining"
        refused = await server.call("POST", "/ask", QUESTION)
        assert (refused.status, refused.code) == (503, "draining")
        assert "retry-after" in refused.headers
        assert (await server.call("POST", "/mcp", {})).status == 503
        assert (await server.call("GET", "/health")).json()["status"] == "draining"
        desk.gate.set()
        answered = await asking
        assert answered.json()["answer"] == "about: where is main?"
        async with asyncio.timeout(PATIENCE_S):
            await server.serving
        with pytest.raises(ConnectionRefusedError):
            await server.call("GET", "/health")
    assert desk.is_closed
    assert len(desk.asked) == 1


async def test_a_question_that_outlasts_the_drain_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("live_memory.server.app.DRAIN_S", 0.05)
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server:
        asking = asyncio.create_task(server.call("POST", "/ask", QUESTION))
        await desk.arrived.wait()
        server.state.drain()
        reply = await asking
        assert (reply.status, reply.code) == (503, "draining")


async def test_a_body_that_dawdles_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("live_memory.server.asgi.BODY_TIMEOUT_S", 0.05)
    async with live_server(HandDesk()) as server:
        assert (await _status(server.port, _head(server.port, "/ask", "Content-Length: 100") + b"{")) == 408


async def test_a_signal_drains_the_server() -> None:
    desk = HandDesk()
    handler = signal.getsignal(signal.SIGTERM)
    async with live_server(desk) as server:
        assert (await server.call("GET", "/health")).status == 200
        os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            await server.serving
    assert desk.is_closed
    assert signal.getsignal(signal.SIGTERM) is handler


async def test_an_idle_server_ends_by_itself_but_not_while_it_works() -> None:
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server:
        asking = asyncio.create_task(server.call("POST", "/ask", QUESTION))
        await desk.arrived.wait()
        server.state.clock = SystemClock()
        server.state.settings = Settings(idle_exit_s=1)
        server.state.last_request_s = server.state.clock.monotonic_s() - 3600
        assert server.state.idle_left_s > 1
        desk.gate.set()
        assert (await asking).status == 200
        assert 0 < server.state.idle_left_s <= 1


async def test_a_server_whose_data_folder_was_removed_ends_though_nobody_asks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("live_memory.server.app.IDLE_CHECK_S", 0.01)
    async with live_server(HandDesk()) as server:
        server.state.token_file = tmp_path / "removed" / "token"
        async with asyncio.timeout(PATIENCE_S):
            await server.serving


async def test_64_questions_at_once_are_all_answered() -> None:
    desk = HandDesk()
    async with live_server(desk) as server:
        async with asyncio.TaskGroup() as tasks:
            asking = [tasks.create_task(_ask_on_own_connection(server.port, f"q{i}")) for i in range(64)]
        assert [task.result() for task in asking] == [f"about: q{i}" for i in range(64)]


async def test_connections_carry_small_packets_at_once() -> None:
    """Nagle's algorithm would hold the second piece of an answer back for 40 ms."""
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server:
        asking = asyncio.create_task(server.call("POST", "/ask", QUESTION))
        await desk.arrived.wait()
        loop = asyncio.get_running_loop()
        accepted = [
            transport
            for transport in loop._transports.values()  # type: ignore[attr-defined]
            if transport.get_extra_info("sockname")[1] == server.port
        ]
        assert accepted
        for transport in accepted:
            assert transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        desk.gate.set()
        await asking


def _head(port: int, path: str, *lines: str) -> bytes:
    fixed = (
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Authorization: Bearer {TOKEN}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
    )
    return ("\r\n".join([*fixed, *lines]) + "\r\n\r\n").encode()


async def _status(port: int, *pieces: bytes) -> int:
    """The status that comes back while the request's body is still owed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(PATIENCE_S):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            return int((await reader.readline()).split()[1])
    finally:
        writer.close()


async def _ask_on_own_connection(port: int, text: str) -> str:
    body = json.dumps({"question": text, "cwd": "/repo"}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(PATIENCE_S):
        writer.write(_head(port, "/ask", f"Content-Length: {len(body)}", "Connection: close") + body)
        answer = await reader.read()
    writer.close()
    return str(json.loads(answer.partition(b"\r\n\r\n")[2])["answer"])
