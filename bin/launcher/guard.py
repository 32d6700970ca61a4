"""A script around one command: the command ends when stdin closes, so it never outlives whoever holds the other end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def guard(command: list[str]) -> int:
    """Run `command` as a process group of its own, ended when stdin closes; its exit code."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=sys.platform != "win32")
    threading.Thread(target=_end_when_let_go, args=(child,), daemon=True).start()
    return child.wait()


def _end_when_let_go(child: subprocess.Popen[bytes]) -> None:
    while os.read(sys.stdin.fileno(), 1):  # not sys.stdin: its lock would trip up the end of the interpreter
        pass
    if sys.platform == "win32":
        child.kill()
    else:
        os.killpg(child.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(guard(sys.argv[1:]))
