"""A Messages server on 127.0.0.1 that plays two models from two scripts: Claude Code's own, and the one behind Live Memory.

A request is told apart by its tools: the backend's has `find_paths`, Claude Code's has others. One without tools is the
distiller's where its instructions are, and else an aside (a title, a summary), which gets a canned reply.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeAlias, get_args

from support.wire import messages_stream

Json: TypeAlias = dict[str, Any]
Speaker: TypeAlias = Literal["claude", "backend", "distiller", "aside"]

BACKEND_TOOL = "find_paths"
DISTILLERS_TASK = "You keep the lasting knowledge of one project."
SPENT = "The script is at its end."
# What a model does that wants a tool which is not offered yet: something else, and then it looks again.
MEANWHILE = ("Read", {"file_path": "shop/cart.py"})
MEANWHILE_S = 0.5
MAX_MEANWHILES = 120


@dataclass(frozen=True, slots=True)
class Call:
    """A turn that asks for a tool."""

    tool: str
    arguments: Json = field(default_factory=dict)


Turn: TypeAlias = "str | Call"
# A turn may be made when its time has come, so that something can happen between two turns.
Scripted: TypeAlias = "Turn | Callable[[], Turn]"


class TwoModels:
    """`script` sets a speaker's turns; `heard` keeps the bodies each was asked with, `meanwhiles` counts how often a
    tool was not there yet."""

    def __init__(self) -> None:
        self.meanwhiles = 0
        self._closing = threading.Event()
        self.heard: dict[Speaker, list[Json]] = {speaker: [] for speaker in get_args(Speaker)}
        self._turns: dict[Speaker, deque[Scripted]] = {speaker: deque() for speaker in get_args(Speaker)}
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def script(self, speaker: Speaker, turns: Iterable[Scripted]) -> None:
        self._turns[speaker] = deque(turns)

    def tool_results(self, speaker: Speaker, tool: str) -> list[str]:
        """The text of every result of `tool` that a speaker was shown, in order."""
        asked = self.heard[speaker]
        if not asked:
            return []
        blocks = [
            block for turn in asked[-1]["messages"] if isinstance(turn["content"], list) for block in turn["content"]
        ]
        calls = {block["id"] for block in blocks if block["type"] == "tool_use" and block["name"] == tool}
        results = [block for block in blocks if block["type"] == "tool_result" and block["tool_use_id"] in calls]
        return [_text(block.get("content", "")) for block in results]

    def close(self) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        models = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else every reply on a kept connection waits 40 ms for a delayed ACK

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                if self.path.partition("?")[0] != "/v1/messages":
                    self._send(404, "application/json", b"{}")
                else:
                    speaker = _speaker(body)
                    models.heard[speaker].append(body)
                    with suppress(ConnectionError):  # Claude Code may be killed while it waits
                        self._send(200, "text/event-stream", models._reply(speaker, body))

            def do_GET(self) -> None:
                self._send(404, "application/json", b"{}")

            def do_HEAD(self) -> None:
                self._send(200, "application/json", b"")

            def log_message(self, format: str, *arguments: object) -> None:
                """Say nothing."""

            def _send(self, status: int, content_type: str, content: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        return Handler

    def _reply(self, speaker: Speaker, body: Json) -> bytes:
        turns = self._turns[speaker]
        scripted = turns.popleft() if turns else SPENT
        turn = scripted() if callable(scripted) else scripted
        if isinstance(turn, str):
            return self._stream(speaker, messages_stream((turn,)))
        if turn.tool not in _tools(body) and self.meanwhiles < MAX_MEANWHILES:
            self.meanwhiles += 1
            self._closing.wait(MEANWHILE_S)
            turns.appendleft(turn)
            turn = Call(*MEANWHILE)
        call = (f"toolu_{len(self.heard[speaker])}", turn.tool, json.dumps(turn.arguments))
        return self._stream(speaker, messages_stream(calls=(call,), stop="tool_use"))

    def _stream(self, speaker: Speaker, events: Iterable[bytes]) -> bytes:
        # Claude Code takes messages of one id for parts of one message.
        return b"".join(events).replace(b'"msg_1"', b'"msg_%d"' % len(self.heard[speaker]))


def _speaker(body: Json) -> Speaker:
    tools = _tools(body)
    if BACKEND_TOOL in tools:
        return "backend"
    if tools:
        return "claude"
    return "distiller" if DISTILLERS_TASK in _text(body.get("system")) else "aside"


def _tools(body: Json) -> set[str]:
    return {str(tool.get("name")) for tool in body.get("tools") or ()}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content) if isinstance(content, list) else ""
