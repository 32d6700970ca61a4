"""The routes as an ASGI application: reads bodies no further than allowed, and stops working for a client that hung up.

Plain ASGI on purpose: there is nothing here that a web framework would make shorter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias
from urllib.parse import parse_qsl

from live_memory.server.http import Request, Response, error_response
from live_memory.server.routes import MCP_PATH, admit, body_limit_bytes, dispatch, draining, too_large
from live_memory.server.state import ServerState

BODY_TIMEOUT_S = 30.0
MCP_START_TIMEOUT_S = 20.0

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]


class McpEndpoint(Protocol):
    """What serves `/mcp` once it is there; `body` has been read from `receive` already."""

    async def serve(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None: ...


class HungUp(Exception):
    """The client closed the connection before it had sent its whole request."""


@dataclass(slots=True)
class Application:
    """An ASGI application; `mcp` may still be on its way when the first requests come."""

    state: ServerState
    mcp: asyncio.Future[McpEndpoint]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = request_head(scope)
        refusal = admit(self.state, head)
        if refusal is not None:
            return await respond(send, refusal)
        try:
            body = await read_body(receive, body_limit_bytes(self.state))
        except HungUp:
            return None
        except TimeoutError:
            return await respond(send, error_response(408, "slow-body", f"No body came within {BODY_TIMEOUT_S:g} s."))
        if body is None:
            return await respond(send, too_large(self.state))
        request = Request(head.method, head.path, head.query, head.headers, body)
        if head.path == MCP_PATH:
            return await self._serve_mcp(request, scope, receive, send)
        return await self._serve_route(request, receive, send)

    async def _serve_route(self, request: Request, receive: Receive, send: Send) -> None:
        try:
            response = await until_hung_up(dispatch(self.state, request), receive)
        except asyncio.CancelledError:
            # Only the end of the server cancels a request: it ran out of the time that draining gives.
            response = draining()
        return None if response is None else await respond(send, response)

    async def _serve_mcp(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request to the MCP endpoint, waiting for it while it is being imported; to the plain route where that
        came to nothing."""
        try:
            async with asyncio.timeout(MCP_START_TIMEOUT_S):
                endpoint = await asyncio.shield(self.mcp)
        except TimeoutError:
            starting = error_response(503, "starting", "MCP is still starting.", headers={"Retry-After": "1"})
            return await respond(send, starting)
        except ImportError:
            return await self._serve_route(request, receive, send)
        with self.state.serving():
            return await endpoint.serve(request.body, scope, receive, send)


def request_head(scope: Scope) -> Request:
    """The request of an ASGI scope, without its body."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    return Request(scope["method"], scope["path"], query, headers)


async def read_body(receive: Receive, limit_bytes: int) -> bytes | None:
    """The whole body, None as soon as it is over the limit. HungUp when the client left, TimeoutError when it dawdled."""
    body = bytearray()
    async with asyncio.timeout(BODY_TIMEOUT_S):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise HungUp
            body += message.get("body", b"")
            if len(body) > limit_bytes:
                return None
            if not message.get("more_body", False):
                return bytes(body)


async def until_hung_up(work: Awaitable[Response], receive: Receive) -> Response | None:
    """What `work` brings; None when the client hung up first, which cancels the work."""
    working = asyncio.ensure_future(work)
    hanging_up = asyncio.ensure_future(receive())
    try:
        await asyncio.wait((working, hanging_up), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        working.cancel()
        await asyncio.wait((working,))
        return None
    finally:
        working.cancel()
        hanging_up.cancel()


async def respond(send: Send, response: Response) -> None:
    """Send `response`, whole."""
    headers = [("Content-Type", response.content_type), ("Content-Length", str(len(response.body)))]
    headers += response.headers.items()
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": response.status, "headers": raw})
    await send({"type": "http.response.body", "body": response.body})
