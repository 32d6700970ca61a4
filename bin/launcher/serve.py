"""`serve`: take the port, answer from the first moment on, and become the runtime once its packages are there.

The process stays the same throughout: same pid, same listening socket.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys

import _client
from launcher import claim, detached, identity, interpreter, paths, predecessor, venv
from launcher.errors import LaunchError


def run(arguments: list[str]) -> int:
    """`serve [--data-dir DIR]`: run the server until it is stopped; 0 at once when one runs already."""
    flags = paths.parse_flags(arguments, {"--data-dir": "value", "--log": "value"})
    log = flags.get("--log", "")
    try:
        return _run(paths.place(flags.get("--data-dir")), log)
    finally:
        if log:
            with contextlib.suppress(OSError):
                os.unlink(log)  # of a start that came to nothing; whoever made it has it open


def _run(place: paths.Place, log: str) -> int:
    paths.make_data_dir(place.data_dir)
    paths.require_room(place.data_dir)
    identity.read_or_create_token(place.data_dir)
    listener = claim.claim(place)
    if listener is None:
        health = identity.probe(place).health
        sentence = f"A server runs already on port {place.port} (pid {health.get('pid')}); `live-memory stop` ends it."
        sys.stderr.write(f"live-memory: {sentence}\n")
        return 0
    try:
        predecessor.inherit(place.data_dir, os.environ)
        _settle_in(place, log)
        return _serve(place, listener)
    finally:
        listener.close()
        identity.remove_record(place.data_dir, os.getpid())


def _settle_in(place: paths.Place, log: str) -> None:
    """Leave the records that others find us by, and go where no repository's files can shadow a module."""
    os.umask(0o077)  # whatever this process makes is for its user only
    identity.write_record(place, os.getpid(), paths.plugin_version())
    interpreter.record(place.data_dir)
    if paths.read_line(os.path.join(place.data_dir, paths.LAUNCHER_FILE)) != paths.COMMAND:
        paths.write_whole(os.path.join(place.data_dir, paths.LAUNCHER_FILE), paths.COMMAND + "\n")
    if log:
        detached.adopt_log(place.data_dir, log)
    else:
        sys.stderr.write(
            f"Live Memory {paths.plugin_version()} on 127.0.0.1:{place.port}, data in {place.data_dir}. Ctrl-C ends it.\n"
        )
    os.environ.update(paths.absolute_environment(os.environ, place))
    os.chdir(place.data_dir)


def _serve(place: paths.Place, listener: socket.socket) -> int:
    if not venv.is_ready(place.data_dir):
        from launcher import doorman

        if doorman.serve(place, listener) == "stopped":
            return 0
    return _become_runtime(place, listener)


def _become_runtime(place: paths.Place, listener: socket.socket) -> int:
    """Replace this process by the runtime, the socket in its hands; returns only where a process cannot be replaced."""
    python = venv.python(venv.path(place.data_dir))
    command = [python, "-Es", paths.PACKAGE, "--data-dir", place.data_dir]
    if sys.platform == "win32":
        listener.close()
        child = subprocess.Popen([*command, "--port", str(place.port)])
        identity.write_record(place, child.pid, paths.plugin_version())
        return child.wait()
    # The record's age tells a server that is starting from one that hangs.
    os.utime(os.path.join(place.data_dir, _client.RECORD_FILE))
    listener.set_inheritable(True)
    sys.stderr.flush()
    try:
        os.execv(python, [*command, "--socket-fd", str(listener.fileno())])  # noqa: S606  # no shell is the point
    except OSError as error:
        raise LaunchError(f"{python} cannot be run ({error.strerror}); remove {venv.path(place.data_dir)}.") from error
