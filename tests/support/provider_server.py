"""A provider on 127.0.0.1 that answers from a script, over real sockets: whole, in pieces, cut, late or never."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeAlias

MAX_WAIT_S = 20.0

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WireReply:
    """One HTTP reply. `chunks` are written one by one; a reply that is `cut` drops the connection in the middle of the
    body, one that `hangs` waits after its chunks until the server is closed, and one that is `silent` does so before its
    first byte."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: tuple[bytes, ...] = ()
    ending: Literal["whole", "cut", "hangs", "silent"] = "whole"


@dataclass(frozen=True, slots=True)
class WireRequest:
    """What a client sent; header names are lower case."""

    path: str
    headers: Mapping[str, str]
    body: Json


class ProviderServer:
    """Give it replies with `answer`; it keeps what it was asked in `requests`. The last reply is repeated."""

    def __init__(self) -> None:
        self.requests: list[WireRequest] = []
        self._replies: list[WireReply] = []
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, *replies: WireReply) -> None:
        self._replies = list(replies)

    def close(self) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(MAX_WAIT_S)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                provider.requests.append(WireRequest(self.path, headers, json.loads(self.rfile.read(length))))
                provider._send(self, provider._next())

            def log_message(self, format: str, *arguments: object) -> None:
                """Say nothing."""

        return Handler

    def _next(self) -> WireReply:
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def _send(self, handler: BaseHTTPRequestHandler, reply: WireReply) -> None:
        if reply.ending == "silent":
            self._closing.wait(MAX_WAIT_S)
            handler.close_connection = True
            return
        handler.send_response(reply.status)
        for name, value in ({"content-type": "text/event-stream"} | dict(reply.headers)).items():
            handler.send_header(name, value)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for chunk in reply.chunks:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            handler.wfile.flush()
        if reply.ending == "hangs":
            self._closing.wait(MAX_WAIT_S)
        if reply.ending == "whole":
            handler.wfile.write(b"0\r\n\r\n")
        else:
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def provider_server() -> Iterator[ProviderServer]:
    server = ProviderServer()
    try:
        yield server
    finally:
        server.close()


def json_reply(status: int, body: object, **headers: str) -> WireReply:
    """A reply that is no stream; underscores in header names stand for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return WireReply(status, {"content-type": "application/json"} | named, (json.dumps(body).encode(),))
