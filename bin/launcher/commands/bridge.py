"""The stdio bridge: JSON-RPC lines of an MCP client in, the server's replies out, any number of requests at once.

Keeps no state but what is in flight and what the handshake agreed on; the server is stateless, so that one
that died and was replaced in between makes no difference to the client.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable

from _client import Address
from launcher.commands import rpc
from launcher.commands.exchange import ConnectionLost, Exchange, NotYet
from launcher.errors import LaunchError

PATIENCE_S = 170.0  # for a server that is still installing; below Claude Code's hard limit of 180 s for a tool call
MAX_RESENDS = 2  # a question may be asked again at no harm, but not for ever
CANCELLED = "notifications/cancelled"
LISTEN = "subscriptions/listen"  # its reply is a stream without an end
# Our tools that are about a folder.
PLACED_TOOLS = ("ask_live_memory", "ask_live_memory_submit", "memory_search", "memory_get", "memory_save", "memory_toc")

# The address of a live server, starting one where there is none; given one that was just lost, its successor's.
Reach = Callable[["Address | None"], Address]


class Bridge:
    """`write` takes one reply; it is called by one thread at a time."""

    def __init__(self, reach: Reach, write: Callable[[rpc.Message], None], cwd: str) -> None:
        self._reach = reach
        self._write_unlocked = write
        self._cwd = cwd
        self._handshake = rpc.Handshake()
        self._in_flight: dict[str, Exchange] = {}
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def accept_all(self, lines: Iterable[bytes]) -> None:
        """Take in every line; returns when there are no more, with requests perhaps still in flight."""
        for line in lines:
            if line.strip():
                self.accept(line)

    def accept(self, line: bytes) -> None:
        """Take in one line. The handshake is waited for: what it agrees on goes with everything after it."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._write(rpc.failure(None, rpc.PARSE_ERROR, "The line is not JSON; send one JSON-RPC message a line."))
            return
        if not isinstance(message, dict) or not ("method" in message or rpc.is_reply(message)):
            self._write(rpc.failure(None, rpc.INVALID_REQUEST, "Send one JSON-RPC object a line; batches are not MCP."))
        elif message.get("method") == "initialize":
            self._serve(self._register(message))
        elif message.get("method") == CANCELLED:
            self._cancel(message)
        elif "method" in message:  # a reply of the client has no taker: the server asks it nothing
            self._start(self._register(self._with_cwd(message)))

    def finish(self, timeout_s: float) -> bool:
        """Whether all that was accepted is answered, after at most `timeout_s`. Endless streams are hung up."""
        with self._lock:
            endless = [exchange for exchange in self._in_flight.values() if exchange.message["method"] == LISTEN]
            threads = tuple(self._threads)
        for exchange in endless:
            exchange.cancel()
        deadline_s = time.monotonic() + timeout_s
        for thread in threads:
            thread.join(max(0.0, deadline_s - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def hang_up(self) -> None:
        """Cancel all that is in flight."""
        with self._lock:
            exchanges = tuple(self._in_flight.values())
        for exchange in exchanges:
            exchange.cancel()

    def _with_cwd(self, message: rpc.Message) -> rpc.Message:
        """The call with the bridge's own folder for a `cwd` that is missing or relative, as our hook does elsewhere."""
        params = message.get("params")
        if message["method"] != "tools/call" or not isinstance(params, dict) or params.get("name") not in PLACED_TOOLS:
            return message
        arguments = params.get("arguments") or {}
        if not isinstance(arguments, dict):
            return message
        given = arguments.get("cwd") or ""
        if not isinstance(given, str) or os.path.isabs(given):
            return message
        absolute = os.path.normpath(os.path.join(self._cwd, given))
        return {**message, "params": {**params, "arguments": {**arguments, "cwd": absolute}}}

    def _register(self, message: rpc.Message) -> Exchange:
        exchange = Exchange(message, self._handshake)
        if "id" in message:
            with self._lock:
                self._in_flight[_key(message["id"])] = exchange
        return exchange

    def _start(self, exchange: Exchange) -> None:
        thread = threading.Thread(target=self._run, args=(exchange,), daemon=True)
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def _run(self, exchange: Exchange) -> None:
        try:
            self._serve(exchange)
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _cancel(self, notification: rpc.Message) -> None:
        params = notification.get("params")
        identifier = params.get("requestId") if isinstance(params, dict) else None
        with self._lock:
            exchange = self._in_flight.get(_key(identifier))
        if exchange is not None:
            exchange.cancel()
        if exchange is None or rpc.own_version(exchange.message) is None:
            # In the new era hanging up is the whole signal; in the old one the notification belongs to it.
            self._start(self._register(notification))

    def _serve(self, exchange: Exchange) -> None:
        """Send until there is an answer, to the server's successor where it dies, and pass on what comes back."""
        try:
            self._send(exchange)
        except (LaunchError, ConnectionLost, NotYet) as error:
            self._fail(exchange, str(error))
        except TimeoutError:
            self._fail(exchange, "The server did not answer in time; `live-memory doctor` says more.")
        except Exception as error:  # a background runner: the client must not wait for ever
            self._fail(exchange, f"The bridge failed: {error}")
        finally:
            identifier = exchange.message.get("id")
            with self._lock:
                if self._in_flight.get(_key(identifier)) is exchange:
                    del self._in_flight[_key(identifier)]

    def _send(self, exchange: Exchange) -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        losses_left = 0 if exchange.message["method"] == LISTEN else MAX_RESENDS
        lost: Address | None = None
        while not exchange.cancelled.is_set():
            address = self._reach(lost)
            try:
                for reply in exchange.replies(address):
                    self._pass_on(exchange, reply)
            except ConnectionLost:
                if exchange.cancelled.is_set():
                    return
                if not losses_left:
                    raise
                losses_left -= 1
                lost = address
            except NotYet as refusal:
                if time.monotonic() + refusal.retry_after_s > deadline_s:
                    raise
                exchange.cancelled.wait(refusal.retry_after_s)
            else:
                return

    def _pass_on(self, exchange: Exchange, reply: rpc.Message) -> None:
        result = reply.get("result")
        if exchange.message["method"] == "initialize" and isinstance(result, dict):
            version = result.get("protocolVersion")
            self._handshake = rpc.Handshake(version if isinstance(version, str) else None, exchange.session_id)
        if not exchange.cancelled.is_set():
            self._write(reply)

    def _fail(self, exchange: Exchange, sentence: str) -> None:
        if "id" in exchange.message and not exchange.cancelled.is_set():
            self._write(rpc.failure(exchange.message["id"], rpc.CONNECTION_CLOSED, sentence))

    def _write(self, message: rpc.Message) -> None:
        with self._writing:
            self._write_unlocked(message)


def _key(identifier: object) -> str:
    """An id as a key that tells 1 from "1"."""
    return json.dumps(identifier)
