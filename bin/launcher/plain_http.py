"""A small HTTP/1.1 server on asyncio streams that serves the runtime's routes: one request a connection, then it closes.

Absent on purpose: keep-alive, chunked request bodies, TLS. It stands only where the runtime's packages are missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import http
import socket
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from live_memory.server import routes
from live_memory.server.http import Request, Response, error_response
from live_memory.server.state import ServerState

HEAD_MAX_BYTES = 65536
READ_LIMIT_S = 30.0
WELCOME_TURNS = 10  # a connection that asyncio has accepted is known to us only some turns of the loop later

Result = TypeVar("Result")


class BadRequest(Exception):
    """A request that is no HTTP we serve; `response` says so."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


class HungUp(Exception):
    """The client went away before its answer."""


class PlainServer:
    """Serves a state's routes on a socket that somebody else owns."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self, listener: socket.socket) -> None:
        """Accept on a copy of `listener`, which stays open when this server closes."""
        self._server = await asyncio.start_server(self._welcome, sock=listener.dup(), limit=HEAD_MAX_BYTES)

    async def wait_until_quiet(self, limit_s: float) -> None:
        """Go on serving until nothing is in flight, for `limit_s` at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while self._connections:
                    await asyncio.wait(self._connections)

    async def close(self, grace_s: float) -> None:
        """Accept no more (the listener's backlog keeps who comes next), finish within `grace_s`, end the rest."""
        await self._accept_no_more()
        if self._connections:
            await asyncio.wait(self._connections, timeout=grace_s)
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept_no_more(self) -> None:
        """Stop listening first and close later: what asyncio has accepted needs some turns of the loop to become a
        connection of ours, and is lost where its server is closed before that."""
        if self._server is None:
            return
        for listener in self._server.sockets:
            with contextlib.suppress(NotImplementedError):  # Windows: there it is closed and bound again anyway
                asyncio.get_running_loop().remove_reader(listener.fileno())
        for _ in range(WELCOME_TURNS):
            await asyncio.sleep(0)
        self._server.close()

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        if connection is not None:
            self._connections.add(connection)
            connection.add_done_callback(self._connections.discard)
        try:
            await self._converse(reader, writer)
        except (HungUp, OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # nobody is left to answer
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(READ_LIMIT_S):
                request = await self._read(reader, writer)
            response = await _unless_hung_up(reader, routes.dispatch(self._state, request))
        except BadRequest as refused:
            response = refused.response
        writer.write(response_bytes(response))
        await writer.drain()

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request:
        """The request, its body read only when its head is admitted; BadRequest carries the refusal."""
        try:
            head = parse_head(await reader.readuntil(b"\r\n\r\n"))
        except asyncio.LimitOverrunError:
            raise BadRequest(error_response(431, "large-head", "The request's head is too large.")) from None
        refusal = routes.admit(self._state, head)
        if refusal is None and "transfer-encoding" in head.headers:
            refusal = error_response(411, "no-length", "Send the body with a Content-Length.")
        if refusal is not None:
            raise BadRequest(refusal)
        if head.headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(int(head.headers.get("content-length", "0")))
        return Request(head.method, head.path, head.query, head.headers, body)


async def _unless_hung_up(reader: asyncio.StreamReader, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which is cancelled when the client closes its end first (HungUp)."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(reader.read())  # nothing more is asked here: it ends with the connection
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise HungUp
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


def parse_head(raw: bytes) -> Request:
    """A request's head as a Request without body; BadRequest when it is none."""
    lines = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):  # noqa: PLR2004  # method, target, version
        raise BadRequest(error_response(400, "bad-request", "This is no HTTP/1 request."))
    try:
        target = urlsplit(words[1])
    except ValueError:  # half of an IPv6 address
        raise BadRequest(error_response(400, "bad-request", "This is no HTTP/1 request.")) from None
    return Request(
        words[0], unquote(target.path), dict(parse_qsl(target.query, keep_blank_values=True)), _fields(lines[1:])
    )


def _fields(lines: list[str]) -> Mapping[str, str]:
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequest(error_response(400, "bad-header", "A header line is malformed."))
        if name.lower() in fields and name.lower() in ("content-length", "host", "authorization"):
            raise BadRequest(error_response(400, "bad-header", f"The header {name} is given twice."))
        fields[name.lower()] = value.strip()
    return fields


def response_bytes(response: Response) -> bytes:
    """The response as it goes out; the connection closes after it."""
    reason = http.HTTPStatus(response.status).phrase
    lines = [
        f"HTTP/1.1 {response.status} {reason}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in response.headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + response.body
