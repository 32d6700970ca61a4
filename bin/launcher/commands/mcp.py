"""`live-memory mcp`: the same tool for any MCP client that speaks stdio. stdout carries JSON-RPC and nothing else."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
from types import FrameType

from _client import Address
from launcher import paths
from launcher.commands import options, rpc, servers
from launcher.commands.bridge import Bridge
from launcher.errors import LaunchError

USAGE = "mcp [--cwd DIR]"
LOOK_S = 0.5  # how often a client that only awaits answers is looked after
STDOUT = 1


class Successor:
    """The address of the live server, found once and again only after a loss: sixty-four requests that lose the same
    server start one search, not sixty-four."""

    def __init__(self, place: paths.Place) -> None:
        self._place = place
        self._known: Address | None = None
        self._lock = threading.Lock()

    def reach(self, lost: Address | None) -> Address:
        with self._lock:
            if self._known is None or self._known is lost:
                self._known = servers.started(self._place).address
            return self._known


class Output:
    """One line of stdout for each message, whole; silent once the client has gone."""

    def __init__(self) -> None:
        self.is_closed = False

    def write(self, message: rpc.Message) -> None:
        rest = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        try:
            while rest and not self.is_closed:
                rest = rest[os.write(STDOUT, rest) :]  # unbuffered: no lock to be held when the interpreter ends
        except OSError:
            self.is_closed = True

    def has_reader(self) -> bool:
        """Whether anybody can still read what is written; a reader is assumed where the system does not tell."""
        if not self.is_closed and hasattr(select, "poll"):
            watch = select.poll()
            watch.register(STDOUT, 0)
            self.is_closed = any(event & (select.POLLERR | select.POLLHUP) for _, event in watch.poll(0))
        return not self.is_closed


def run(arguments: list[str]) -> int:
    """Serve until stdin ends and what was asked is answered, the client is gone, or a signal ends it."""
    parsed = options.parse(arguments, USAGE, options.CWD)
    successor = Successor(paths.place())
    output = Output()
    bridge = Bridge(successor.reach, output.write, options.folder(parsed))
    signal.signal(signal.SIGTERM, _end)
    try:
        _start_server(successor)
        bridge.accept_all(iter(sys.stdin.buffer.readline, b""))
        while output.has_reader() and not bridge.finish(LOOK_S):
            continue
    except _Terminated:
        pass
    finally:
        bridge.hang_up()
    return 0


def _start_server(successor: Successor) -> None:
    try:
        successor.reach(None)
    except (LaunchError, OSError) as error:
        # Not the end: it is tried again at each request, and its reply then says why.
        sys.stderr.write(f"live-memory: {error}\n")


class _Terminated(BaseException):
    """SIGTERM came. Like KeyboardInterrupt it may come anywhere, and what catches errors must not catch it."""


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise _Terminated
