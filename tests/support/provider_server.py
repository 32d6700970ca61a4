"""A provider on 127.0.0.1 that answers from a script, over real sockets: whole, in pieces, cut, late or never."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
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
    """Give it replies with `answer`, of which the last is repeated, or with `answer_by` somebody who makes one of each
    request, in a thread of its own; it keeps what it was asked in `requests`."""

    def __init__(self) -> None:
        self.requests: list[WireRequest] = []
        self._speaker: Callable[[WireRequest], WireReply] = lambda _request: self._next()
        self._replies: list[WireReply] = []
        self._closing = threading.Event()
        self._http = _Listener(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def answer(self, *replies: WireReply) -> None:
        self._replies = list(replies)

    def answer_by(self, speaker: Callable[[WireRequest], WireReply]) -> None:
        self._speaker = speaker

    def close(self) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(MAX_WAIT_S)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else a piece on a kept connection waits 40 ms for a delayed ACK

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(length)
                if len(body) < length:
                    return
                request = WireRequest(self.path, headers, json.loads(body))
                provider.requests.append(request)
                provider._send(self, provider._speaker(request))

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


class _Listener(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go, or be killed, at any time; say only what else went wrong."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


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
