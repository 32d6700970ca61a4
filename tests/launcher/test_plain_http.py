"""The doorman's HTTP: the runtime's routes on asyncio streams alone."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator

import pytest
from server.desks import TOKEN, HandDesk, state_of

from launcher.plain_http import PlainServer
from live_memory.server.state import Phase, ServerState

WAIT_S = 10


class Served:
    """A server on a socket of its own."""

    def __init__(self, desk: HandDesk) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.state: ServerState = state_of(desk, port=self.listener.getsockname()[1])
        self.server = PlainServer(self.state)

    async def send(self, raw: bytes) -> bytes:
        """The whole reply to `raw`."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.state.port)
        writer.write(raw)
        reply = await asyncio.wait_for(reader.read(), WAIT_S)
        writer.close()
        return reply

    def request(self, method: str, target: str, body: bytes = b"", *lines: str) -> bytes:
        head = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{self.state.port}", f"Authorization: Bearer {TOKEN}"]
        head += [f"Content-Length: {len(body)}", *lines] if body else lines
        return "\r\n".join([*head, "", ""]).encode() + body


@pytest.fixture
def desk() -> HandDesk:
    return HandDesk()


@pytest.fixture
async def served(desk: HandDesk) -> AsyncIterator[Served]:
    made = Served(desk)
    await made.server.start(made.listener)
    try:
        yield made
    finally:
        await made.server.close(0)
        made.listener.close()


def status_of(reply: bytes) -> int:
    return int(reply.split(b" ")[1])


def json_of(reply: bytes) -> dict[str, object]:
    value = json.loads(reply.partition(b"\r\n\r\n")[2])
    assert isinstance(value, dict)
    return value


async def test_a_route_answers_and_the_connection_closes(served: Served) -> None:
    reply = await served.send(served.request("GET", "/health?challenge=c"))
    assert status_of(reply) == 200
    assert b"\r\nConnection: close\r\n" in reply
    assert {"name", "proof"} <= set(json_of(reply))


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / SPDY/3\r\n\r\n", 400),
        (b"GET //[ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://[::1/health HTTP/1.1\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nHost: example.org\r\n\r\n", 403),
        (b"GET /" + b"x" * 70000 + b" HTTP/1.1\r\n\r\n", 431),
    ],
)
async def test_what_is_no_request_of_ours_is_refused(served: Served, raw: bytes, status: int) -> None:
    assert status_of(await served.send(raw)) == status


async def test_a_body_over_the_bound_is_refused_unread(served: Served) -> None:
    raw = served.request("POST", "/ask", b"", f"Content-Length: {served.state.settings.max_body_bytes + 1}")
    assert status_of(await served.send(raw)) == 413


async def test_a_chunked_body_is_refused(served: Served) -> None:
    raw = served.request("POST", "/ask", b"", "Transfer-Encoding: chunked")
    assert status_of(await served.send(raw)) == 411


async def test_a_client_that_waits_for_leave_gets_it(served: Served) -> None:
    reply = await served.send(served.request("POST", "/reload", b"{}", "Expect: 100-continue"))
    assert reply.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 ")


async def test_a_client_that_hangs_up_cancels_its_question(served: Served, desk: HandDesk) -> None:
    body = json.dumps({"question": "why?", "cwd": "/repo"}).encode()
    desk.gate.clear()
    _, writer = await asyncio.open_connection("127.0.0.1", served.state.port)
    writer.write(served.request("POST", "/ask", body))
    await asyncio.wait_for(desk.arrived.wait(), WAIT_S)
    writer.close()
    await asyncio.wait_for(desk.cancelled.get(), WAIT_S)


async def test_what_is_in_flight_is_answered_before_the_socket_changes_hands(served: Served, desk: HandDesk) -> None:
    body = json.dumps({"question": "why?", "cwd": "/repo"}).encode()
    desk.gate.clear()
    asking = asyncio.create_task(served.send(served.request("POST", "/ask", body)))
    await asyncio.wait_for(desk.arrived.wait(), WAIT_S)
    quiet = asyncio.create_task(served.server.wait_until_quiet(WAIT_S))
    assert status_of(await served.send(served.request("GET", "/health"))) == 200  # it goes on serving meanwhile
    desk.gate.set()
    await quiet
    assert status_of(await asking) == 200


async def test_after_closing_the_next_connection_waits_in_the_backlog(served: Served) -> None:
    await served.server.close(0)
    reader, writer = await asyncio.open_connection("127.0.0.1", served.state.port)
    writer.write(served.request("GET", "/health"))
    successor = PlainServer(served.state)
    await successor.start(served.listener)
    assert status_of(await asyncio.wait_for(reader.read(), WAIT_S)) == 200
    writer.close()
    await successor.close(0)


async def test_while_installing_a_question_for_the_model_is_told_to_come_back(served: Served, desk: HandDesk) -> None:
    desk.is_model = True
    served.state.phase = Phase("installing", step="installing the packages with uv")
    reply = await served.send(served.request("POST", "/ask", b"{}"))
    assert status_of(reply) == 503
    assert b"\r\nRetry-After: 1\r\n" in reply
    assert "installing the packages with uv" in str(json_of(reply)["error"])


@pytest.mark.parametrize("turns", range(8))
async def test_a_client_that_comes_as_the_server_closes_is_answered_by_it_or_by_its_successor(
    served: Served, turns: int
) -> None:
    with socket.create_connection(("127.0.0.1", served.state.port), timeout=WAIT_S) as client:
        client.sendall(served.request("GET", "/health"))
        for _ in range(turns):
            await asyncio.sleep(0)
        await served.server.close(WAIT_S)
        served.server = PlainServer(served.state)
        await served.server.start(served.listener)
        assert status_of(await asyncio.to_thread(client.recv, 65536)) == 200
