"""A real server on a socket of its own in the test's event loop, and stdlib peers to talk to it."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass

from server.desks import TOKEN, state_of

from live_memory.agent.desk import QuestionDesk
from live_memory.server.app import serve
from live_memory.server.state import ServerState

PATIENCE_S = 30.0
AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back over the wire; header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, object]:
        value = json.loads(self.body)
        assert isinstance(value, dict)
        return value

    @property
    def code(self) -> str:
        error = self.json()["error"]
        assert isinstance(error, dict)
        return str(error["code"])


@dataclass(slots=True)
class LiveServer:
    state: ServerState
    serving: asyncio.Task[None]

    @property
    def port(self) -> int:
        return self.state.port

    async def call(self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> Reply:
        """One request on a connection of its own, with the token unless `headers` say otherwise."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return await asyncio.to_thread(exchange, self.port, method, path, raw, AUTHORIZATION | (headers or {}))

    async def send_raw(self, *pieces: bytes) -> bytes:
        """Everything that comes back for bytes written as they are, until the server closes the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        async with asyncio.timeout(PATIENCE_S):
            try:
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                return await reader.read()
            finally:
                writer.close()


def exchange(port: int, method: str, path: str, body: bytes, headers: dict[str, str]) -> Reply:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        connection.request(method, path, body or None, {k: v for k, v in headers.items() if v})
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())


@asynccontextmanager
async def live_server(desk: QuestionDesk) -> AsyncIterator[LiveServer]:
    """A server that is drained and gone afterwards, whatever happened in between."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        state = state_of(desk, port=listener.getsockname()[1])
        server = LiveServer(state, asyncio.create_task(serve(state, listener)))
        try:
            yield server
        finally:
            state.drain()
            async with asyncio.timeout(PATIENCE_S):
                await server.serving
