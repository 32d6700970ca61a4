"""The smallest HTTP client of our own server: a raw socket, a token, a time limit. Shared by the hooks and the launcher.

Absent on purpose: TLS, redirects, chunked bodies, keep-alive; and `socket` and `json` themselves, each of which takes as
long to import as the interpreter to start: `_socket` is the former's C half, `_quick` uses the latter's. Starts on Python 3.9.
"""

from __future__ import annotations

import _socket
import os
import sys
import time

import _quick

LOOPBACK = "127.0.0.1"
TOKEN_FILE = "token"  # noqa: S105  # a file's name
RECORD_FILE = "server.json"
RECEIVE_BYTES = 65536
MAX_HEAD_BYTES = 1 << 16
MAX_REPLY_BYTES = 1 << 25  # above any answer of ours; whoever else holds the port may send for ever
UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
START_FIELD = 19  # of /proc/<pid>/stat, counted after the program's name: field 22, the start in clock ticks


class Unreachable(Exception):
    """No usable reply: nobody listens, the time is up, or it is no HTTP."""


class NoAnswer(Unreachable):
    """Somebody listens, and sent nothing usable in time."""


class Address:
    """Where a server listens, and the token to show it; an empty token shows none."""

    __slots__ = ("port", "token")

    def __init__(self, port: int, token: str = "") -> None:
        self.port = port
        self.token = token


def data_dir() -> str:
    """The data folder that a hook's environment names; empty when it names none."""
    return os.environ.get("LIVE_MEMORY_DATA_DIR") or os.environ.get("CLAUDE_PLUGIN_DATA") or ""


def read_token(folder: str) -> str:
    """The token kept in `folder`; empty when there is none yet, or none that a header can carry."""
    try:
        with open(os.path.join(folder, TOKEN_FILE), encoding="ascii") as file:
            token = file.read().strip()
    except (OSError, ValueError):
        return ""
    return token if token.replace("-", "").replace("_", "").isalnum() else ""


def read_record(folder: str) -> dict[str, object]:
    """The pid record `{"pid", "started", "port", "version"}` of the server of `folder`; empty when there is none."""
    try:
        with open(os.path.join(folder, RECORD_FILE), encoding="utf-8") as file:
            record = _quick.parse(file.read())
    except (OSError, ValueError):
        return {}
    if (
        not isinstance(record, dict)
        or not isinstance(record.get("pid"), int)
        or not isinstance(record.get("port"), int)
    ):
        return {}
    return record


def running_server(folder: str) -> Address | None:
    """The address of the live server of `folder`, going by its pid record; None when it is not running.

    Our own process holds that port as long as it lives, so its token can be shown there without a challenge.
    """
    record = read_record(folder)
    pid, port = record.get("pid"), record.get("port")
    if not isinstance(pid, int) or not isinstance(port, int) or not is_alive(pid, str(record.get("started", ""))):
        return None
    token = read_token(folder)
    return Address(port, token) if token else None


def is_alive(pid: int, started: str) -> bool:
    """Whether process `pid` lives and, where the system tells cheaply, is the one that began at `started`."""
    if sys.platform == "linux":
        return bool(started) and linux_start(pid) == started
    if sys.platform == "win32":
        return True  # os.kill(pid, 0) would end it there; a connection tells soon enough
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # somebody else's process: the pid was recycled
    return True


def linux_start(pid: int) -> str:
    """When process `pid` began, as `<boot id>-<clock ticks>`; empty when there is no such process or it is a zombie."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read(8)
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else boot + "-" + fields[START_FIELD]


def quoted(text: str) -> str:
    """`text` as a value in a path's query; urllib would cost more than the whole request."""
    return "".join(chr(byte) if byte in UNRESERVED else "%%%02X" % byte for byte in os.fsencode(text))


def call(
    address: Address, method: str, path: str, body: object = None, timeout_s: float = 1.0
) -> tuple[int, dict[str, object]]:
    """The status and the JSON object that `method path` brings; an answer that is no JSON object is an empty one.

    All of it takes at most `timeout_s`. Unreachable when nobody listens, NoAnswer when somebody does and nothing usable
    came.
    """
    status, raw = fetch(address, method, path, body, timeout_s)
    try:
        value = _quick.parse(raw.decode("utf-8"))
    except ValueError:
        value = {}
    return status, value if isinstance(value, dict) else {}


def fetch(address: Address, method: str, path: str, body: object = None, timeout_s: float = 1.0) -> tuple[int, bytes]:
    """The status and the raw body that `method path` brings, `body` sent as JSON; raises as `call` does."""
    deadline_s = time.monotonic() + timeout_s
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        connection.connect((LOOPBACK, address.port))
        connection.settimeout(max(0.001, deadline_s - time.monotonic()))
        connection.sendall(_request_bytes(address, method, path, body))
        return _receive(connection, deadline_s)
    except ConnectionRefusedError:
        raise Unreachable("nobody listens on port %d" % address.port) from None
    except (OSError, ValueError, IndexError) as error:
        raise NoAnswer(str(error) or "no HTTP reply") from None
    finally:
        connection.close()


def _request_bytes(address: Address, method: str, path: str, body: object) -> bytes:
    # HTTP/1.0: the server closes when it has answered and never sends chunks.
    lines = [method + " " + path + " HTTP/1.0", "Host: %s:%d" % (LOOPBACK, address.port)]
    if address.token:
        lines.append("Authorization: Bearer " + address.token)
    content = b""
    if body is not None:
        content = _quick.render(body).encode()
        lines += ["Content-Type: application/json", "Content-Length: %d" % len(content)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + content


def _receive(connection: _socket.socket, deadline_s: float) -> tuple[int, bytes]:
    """The status and the body; ValueError when the reply breaks off, is no HTTP, or has no end."""
    received = bytearray()
    while b"\r\n\r\n" not in received:
        if len(received) > MAX_HEAD_BYTES or not _grow(received, connection, deadline_s):
            raise ValueError("the reply broke off, or its head has no end")
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    if not lines[0].startswith(b"HTTP/1."):
        raise ValueError("no HTTP reply")
    status = int(lines[0].split()[1])
    lengths = [line.partition(b":")[2] for line in lines if line.lower().startswith(b"content-length:")]
    received = bytearray(body)
    while not lengths or len(received) < int(lengths[0]):
        if not _grow(received, connection, deadline_s):
            if lengths:
                raise ValueError("the reply broke off")
            break
    return status, bytes(received)


def _grow(received: bytearray, connection: _socket.socket, deadline_s: float) -> bool:
    """Append what comes next; False at the end of the stream. OSError when the time is up."""
    left_s = deadline_s - time.monotonic()
    if left_s <= 0:
        raise OSError("timed out")
    connection.settimeout(left_s)
    chunk = connection.recv(RECEIVE_BYTES)
    received += chunk
    if len(received) > MAX_REPLY_BYTES:
        raise ValueError("the reply has no end")
    return bool(chunk)
