"""One hook's errand: the event that Claude Code tells on stdin, what the running server is told or asked about it, and the
answer. It can only help: whatever goes wrong, nothing is printed and the session goes on untouched.
"""

from __future__ import annotations

import os
import sys
import time

import _client
import _quick

WIRE_LIMIT_S = 0.2  # a working server answers in a few ms; a hung one must not be felt
OK = 200
SHELLS = ("sh", "dash", "bash", "ash", "zsh", "ksh", "fish", "busybox")
MAX_SHELLS = 8
REASONS = ("source", "reason", "trigger")  # why a session starts, ends, or is compacted


class Harmless:
    """`with harmless:` ends quietly whatever fails inside."""

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, Exception)


harmless = Harmless()


class Wire:
    """The running server of this session's data folder, for `limit_s` over all calls together. Starts none."""

    def __init__(self, limit_s: float = WIRE_LIMIT_S) -> None:
        folder = _client.data_dir()
        self._server = _client.running_server(folder) if folder else None
        self._left_s = limit_s

    def get(self, path: str) -> dict[str, object]:
        """What the server answers; empty where there is none, or no good answer in time."""
        return self._call("GET", path, None)

    def post(self, path: str, body: object) -> dict[str, object]:
        """The same, `body` sent as JSON."""
        return self._call("POST", path, body)

    def _call(self, method: str, path: str, body: object) -> dict[str, object]:
        if self._server is None or self._left_s <= 0:
            return {}
        started_s = time.monotonic()
        try:
            status, reply = _client.call(self._server, method, path, body, self._left_s)
        except _client.Unreachable:
            self._left_s = 0.0  # who did not answer once is not asked again
            return {}
        self._left_s -= time.monotonic() - started_s
        return reply if status == OK else {}


def told() -> dict[str, object]:
    """The event on stdin; TypeError or ValueError when it is no JSON object."""
    event = _quick.parse(sys.stdin.buffer.read().decode())
    if not isinstance(event, dict):
        raise TypeError("the event is no JSON object")
    return event


def text(event: dict[str, object], name: str) -> str:
    """The text of a field; ValueError when it has none."""
    value = event.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError("the event has no %s" % name)
    return value


def report(event: dict[str, object], what: str, wire: Wire) -> None:
    """Tell the server how a session stands: `what` happened to it and why, and how large its transcript is by now."""
    transcript = event.get("transcript_path")
    transcript = transcript if isinstance(transcript, str) else ""
    try:
        size_bytes = os.stat(transcript).st_size
    except (OSError, ValueError):
        size_bytes = 0
    body: dict[str, object] = {"cwd": text(event, "cwd"), "session_id": text(event, "session_id"), "event": what}
    body.update(transcript_path=transcript, size_bytes=size_bytes)
    if what == "session-start":
        body["client_pid"] = client_pid()
    body.update((name, event[name]) for name in REASONS if isinstance(event.get(name), str))
    wire.post("/session", body)


def client_pid() -> int:
    """The pid of the Claude Code that runs this hook: of the nearest process above it that is no shell; 0 where the system
    does not tell."""
    pid = os.getppid()
    for _ in range(MAX_SHELLS):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
                before, _, after = file.read().rpartition(")")
        except OSError:
            return 0
        if before.partition("(")[2] not in SHELLS:
            return pid if pid > 1 else 0
        pid = int(after.split()[1])
    return 0


def answer(value: dict[str, object]) -> None:
    """Say `value` to Claude Code; nothing when it is empty."""
    if value:
        sys.stdout.write(_quick.render(value))
        sys.stdout.flush()


def add_context(event_name: str, context: object) -> dict[str, object]:
    """What lets Claude read `context`; empty when that is no text, or blank."""
    if not isinstance(context, str) or not context.strip():
        return {}
    return {"hookEventName": event_name, "additionalContext": context}
