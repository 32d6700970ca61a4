"""The port: bound by whoever becomes the server, taken over from a server that is old or hung, left to any other.

The kernel decides among starts at once: one of them binds. A loser asks who holds the port and leaves.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import sys
import time

import _client
from launcher import holder, identity, paths, predecessor
from launcher.errors import LaunchError

BACKLOG = 512  # connections wait here while the process turns from doorman into runtime
START_GRACE_S = 10.0  # a server this young that does not answer is still starting
DRAIN_LIMIT_S = 16.0  # a server may finish its answers for 10 s, and then save and flush
TERM_GRACE_S = 1.0
KILL_GRACE_S = 5.0
STRANGER_S = 2.0  # who holds the port this long, says nothing and has no pid record, is not ours
PAUSE_S = 0.05


def claim(place: paths.Place) -> socket.socket | None:
    """The listening socket; None when a server of this version or a newer one runs, or is starting, on the port.

    LaunchError when somebody else's program holds the port, or when an old server will not go.
    """
    _retire_elsewhere(place)
    unknown_since_s = time.monotonic()
    while True:
        listener = _listen_unless_taken(place.port)
        if listener is not None:
            return listener
        record = _client.read_record(place.data_dir)
        seen = identity.probe(place)
        if seen.kind == "foreign":
            before = predecessor.serving(place, os.environ)
            if before is None:
                raise holder.held(place.port, seen.health)
            retire(before)
        if seen.kind == "ours":
            if not _is_outdated(seen.health):
                return None
            retire(place)
        if seen.kind == "orphan":
            retire_orphan(place, seen.health)
        if seen.kind == "ours" or _is_our_process(place, record):
            _end_if_hung(place, record, seen.kind)
            unknown_since_s = time.monotonic()
        elif time.monotonic() - unknown_since_s >= STRANGER_S:
            raise holder.held(place.port, {})
        time.sleep(PAUSE_S)


def _listen_unless_taken(port: int) -> socket.socket | None:
    try:
        return _listen(port)
    except OSError as error:
        if error.errno == errno.EACCES and sys.platform != "win32":
            raise LaunchError(
                f"Port {port} may not be used by this user; choose one above 1023 with LIVE_MEMORY_PORT."
            ) from error
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
    return None


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_client.LOOPBACK, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _is_outdated(health: dict[str, object]) -> bool:
    return health.get("status") == "draining" or identity.is_older(health.get("version"), paths.plugin_version())


def _retire_elsewhere(place: paths.Place) -> None:
    """End our own server on another port: two would write one database, and each would know half."""
    record = _client.read_record(place.data_dir)
    port = record.get("port")
    if isinstance(port, int) and port != place.port and identity.is_running(record):
        elsewhere = place.on(port)
        if identity.probe(elsewhere).kind == "ours":
            retire(elsewhere)


def retire(place: paths.Place) -> None:
    """Ask our server to finish and save, and wait until it is gone; one that overstays is ended by its pid record."""
    record = _client.read_record(place.data_dir)
    try:
        _client.call(
            _client.Address(place.port, _client.read_token(place.data_dir)),
            "POST",
            "/shutdown",
            {},
            paths.PROBE_TIMEOUT_S,
        )
    except _client.NoAnswer:
        pass  # it is ended below
    except _client.Unreachable:
        return
    if not _is_gone(place, record, DRAIN_LIMIT_S):
        end(record)


def retire_orphan(place: paths.Place, health: dict[str, object]) -> None:
    """Wait until the server that lost its token is gone; one that overstays is ended by its pid record, if it has one."""
    record = _client.read_record(place.data_dir)
    record = record if _is_our_process(place, record) else {}
    if _is_gone(place, record, DRAIN_LIMIT_S):
        return
    if not record:
        raise holder.held(place.port, health)
    end(record)


def _is_gone(place: paths.Place, record: dict[str, object], limit_s: float) -> bool:
    """Whether the process of `record` (without one: whatever answers on the port) is gone within `limit_s`."""
    deadline_s = time.monotonic() + limit_s
    while time.monotonic() < deadline_s:
        if not (identity.is_running(record) if record else identity.probe(place).kind != "absent"):
            return True
        time.sleep(PAUSE_S)
    return False


def _is_our_process(place: paths.Place, record: dict[str, object]) -> bool:
    return record.get("port") == place.port and identity.is_running(record)


def _end_if_hung(place: paths.Place, record: dict[str, object], kind: identity.Kind) -> None:
    """End the server of `record`, read before the port was probed, if it was "silent" though it is no beginner."""
    # A record that has changed meanwhile is another start's, which has just replaced the hung server.
    is_same = record == _client.read_record(place.data_dir)
    if kind == "silent" and is_same and _record_age_s(place.data_dir) > START_GRACE_S:
        sys.stderr.write(f"live-memory: the server (pid {record['pid']}) does not answer and is replaced\n")
        end(record)


def _record_age_s(data_dir: str) -> float:
    try:
        return time.time() - os.stat(os.path.join(data_dir, _client.RECORD_FILE)).st_mtime
    except OSError:
        return 0.0


def end_grace(data_dir: str) -> None:
    """The server has been seen answering: from now on its silence means that it hangs."""
    with contextlib.suppress(OSError):
        os.utime(os.path.join(data_dir, _client.RECORD_FILE), (0, 0))


def end(record: dict[str, object]) -> None:
    """End the very process that `record` tells of: politely, then for good. LaunchError when it stays."""
    pid = record.get("pid")
    for signal_number, grace_s in ((signal.SIGTERM, TERM_GRACE_S), (_kill_signal(), KILL_GRACE_S)):
        if not isinstance(pid, int) or not identity.is_running(record):
            return
        try:
            os.kill(pid, signal_number)
        except ProcessLookupError:
            return
        deadline_s = time.monotonic() + grace_s
        while identity.is_running(record) and time.monotonic() < deadline_s:
            time.sleep(PAUSE_S)
    if identity.is_running(record):
        raise LaunchError(f"The server (pid {pid}) cannot be ended; end it by hand.")


def _kill_signal() -> int:
    return signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL
