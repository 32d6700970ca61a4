"""One message's way to the server's `/mcp` and back: a POST whose reply is JSON or an event stream.

Absent on purpose: sending again, waiting and starting servers; the bridge decides on those from what is raised here.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

from _client import LOOPBACK, Address
from launcher.commands import rpc
from launcher.commands.sse import events

# Above the longest time limit a question may have (170 s): the server answers before this, or it hangs.
REPLY_TIMEOUT_S = 200.0
UNAUTHORIZED = 401
UNAVAILABLE = 503
SOON_S = 30.0


class ConnectionLost(Exception):
    """The server went away, or does not know our token: it may be sent again to the one that takes its place."""


class NotYet(Exception):
    """The server cannot take the message now, and says that it soon can."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Exchange:
    """A message on its way; `session_id` is the one that the reply named. `cancel` may come from another thread, at any
    moment."""

    def __init__(self, message: rpc.Message, handshake: rpc.Handshake) -> None:
        self.message = message
        self.session_id: str | None = None
        self.cancelled = threading.Event()
        self._headers = rpc.headers(message, handshake)
        self._wire: socket.socket | None = None
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Hang up: that is how the server learns that nobody waits for the answer any more."""
        with self._lock:
            self.cancelled.set()
            if self._wire is not None:
                with suppress(OSError):  # it may have ended by itself
                    self._wire.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in a read; close would not

    def replies(self, address: Address) -> Iterator[rpc.Message]:
        """What the server sends back, the answer last. ConnectionLost, NotYet; TimeoutError when nothing comes."""
        connection = http.client.HTTPConnection(LOOPBACK, address.port, timeout=REPLY_TIMEOUT_S)
        try:
            connection.connect()
            with self._lock:
                if self.cancelled.is_set():
                    return
                self._wire = connection.sock  # the connection forgets it once the reply has begun
            body = json.dumps(self.message).encode("ascii")  # half a surrogate pair is the server's to refuse
            connection.request("POST", "/mcp", body, {**self._headers, "Authorization": f"Bearer {address.token}"})
            with connection.getresponse() as response:
                yield from self._read(response)
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error
        finally:
            with self._lock:
                self._wire = None
            connection.close()

    def _read(self, response: http.client.HTTPResponse) -> Iterator[rpc.Message]:
        if response.status == UNAUTHORIZED:
            raise ConnectionLost("the server does not know this token")
        self.session_id = response.getheader("Mcp-Session-Id")
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            yield from self._streamed(response)
            return
        body = response.read()
        if response.status == UNAVAILABLE and 0 < _retry_after_s(response) <= SOON_S:
            raise NotYet(_sentence(body, response.status), _retry_after_s(response))
        if "id" in self.message:
            yield self._single(body, response.status)

    def _streamed(self, response: http.client.HTTPResponse) -> Iterator[rpc.Message]:
        for text in events(iter(response.readline, b"")):
            if not text:
                continue  # a priming event, for clients that resume streams
            message = json.loads(text)
            yield message
            if rpc.is_reply(message):
                return
        raise ConnectionLost("the server's reply broke off")

    def _single(self, body: bytes, status: int) -> rpc.Message:
        """The JSON-RPC message in `body`, whatever the status; else an error reply made of what is there."""
        identifier = self.message["id"]
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            message = None
        is_rpc = isinstance(message, dict) and message.get("jsonrpc") == "2.0" and rpc.is_reply(message)
        if not is_rpc:
            return rpc.failure(identifier, rpc.INTERNAL_ERROR, _sentence(body, status))
        if message.get("id") is None:
            message["id"] = identifier  # the server refused it before it had read the id
        return dict(message)


def _retry_after_s(response: http.client.HTTPResponse) -> float:
    """What the server asks to wait; 0 where it does not say, or not in seconds."""
    try:
        return float(response.getheader("Retry-After") or 0)
    except ValueError:
        return 0.0


def _sentence(body: bytes, status: int) -> str:
    """The message of our own error shape, else the status."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"The server answered with HTTP status {status}."
