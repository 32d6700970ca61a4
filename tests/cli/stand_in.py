"""A small real HTTP server that speaks the product's contract, for tests of the commands: what it answers is set by the
test, what it was asked is kept."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from launcher import identity, paths
from launcher.paths import plugin_version

TOKEN = "dummy-token-of-the-stand-in"

ANSWER = {
    "answer": "The port decides: whoever binds it is the server (bin/launcher/serve.py:12).",
    "model": "passages",
    "latency_ms": 412,
    "timed_out": False,
    "tool_calls": 0,
    "files_read": 0,
    "usage": {"input_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0, "output_tokens": 0},
    "cost_usd": 0.0,
    "context": {"used_tokens": 0, "max_tokens": 0, "ratio": 0.0},
    "citations": [{"path": "bin/launcher/serve.py", "line_start": 12, "line_end": 12, "state": "FRESH"}],
}


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    """What goes back: a JSON value, or chunks of an event stream, each sent when it comes."""

    value: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    stream: Iterator[bytes] | None = None


Answering = Callable[[Asked], Reply]


class Listener(ThreadingHTTPServer):
    """Clients that hang up are part of the tests."""

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as it came


class StandIn:
    """`routes` says how each `METHOD /path` is answered; a route that is not there is a 404."""

    def __init__(self, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        (data_dir / "token").write_text(TOKEN)
        (data_dir / "token").chmod(0o600)
        self.data_dir = data_dir
        self.asked: list[Asked] = []
        self.health: dict[str, object] = {"status": "ok"}
        self.routes: dict[str, Answering] = {}
        self.on_health: Callable[[Asked], None] = lambda asked: None
        self._server = Listener(("127.0.0.1", 0), self._handler())
        self.port: int = self._server.server_address[1]

    @property
    def environment(self) -> dict[str, str]:
        return {"LIVE_MEMORY_DATA_DIR": str(self.data_dir), "LIVE_MEMORY_PORT": str(self.port)}

    def put_on_record(self, pid: int = 0) -> None:
        """Be the running server of the data folder, as its pid record has it: in process `pid` (ours when 0), which
        whoever finds this server wanting may end."""
        identity.write_record(paths.Place(str(self.data_dir), self.port), pid or os.getpid(), plugin_version())

    def bodies(self, path: str) -> list[Any]:
        """The bodies that came to `path`, in order."""
        return [asked.body for asked in self.asked if asked.path == path]

    @contextmanager
    def running(self) -> Iterator[StandIn]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if asked.path == "/health":
            self.on_health(asked)
            return Reply(self._health(asked.query.get("challenge", "")))
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            return refusal(401, "unauthorized", "Show the token.")
        route = self.routes.get(f"{asked.method} {asked.path}")
        return route(asked) if route else refusal(404, "not-found", "There is no such path.")

    def _health(self, challenge: str) -> dict[str, object]:
        proof = digest(TOKEN.encode(), challenge.encode(), sha256).hex()
        known = {"name": "live-memory", "version": plugin_version(), "pid": 1, "uptime_s": 61.5}
        return {**known, "data_dir": str(self.data_dir), "proof": proof, **self.health}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer_it(self) -> None:
                url = urlsplit(self.path)
                text = self.rfile.read(int(self.headers.get("content-length", 0)))
                query = {name: values[-1] for name, values in parse_qs(url.query).items()}
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, url.path, query, headers, json.loads(text) if text else None)
                reply = stand_in.answer(asked)
                self.close_connection = True
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.stream is None:
                    self._send_value(reply.value)
                else:
                    self._send_stream(reply.stream)

            do_GET = do_POST = answer_it

            def _send_value(self, value: object) -> None:
                body = b"" if value is None else json.dumps(value).encode()
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _send_stream(self, stream: Iterator[bytes]) -> None:
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for chunk in stream:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        return Handler


def always(value: Any, status: int = 200) -> Answering:
    """The same answer to every request."""
    return lambda asked: Reply(value, status)


def refusal(status: int, code: str, message: str) -> Reply:
    """The product's one shape of an error."""
    return Reply({"error": {"code": code, "message": message}}, status)
