"""The server of a hook's session, as a hook sees it: its port, whether it answers, a way to start it. Shows no token."""

from __future__ import annotations

import os
import sys

import _client

DEFAULT_PORT = 7711
PORT_OPTION = "CLAUDE_PLUGIN_OPTION_PORT"
START_LOG = "hook-start.log"
LAUNCHER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "live-memory")
PROBE_TIMEOUT_S = 0.2  # a working server answers in a few ms; a hung one must not be felt
PAUSE_S = 0.02


def port_in_force(folder: str) -> int:
    """The port that this session's Claude Code connects to, unless the environment names another."""
    try:
        with open(os.path.join(folder, "port"), encoding="ascii") as file:
            recorded = file.read().strip()
    except (OSError, ValueError):
        recorded = ""
    for word in (os.environ.get("LIVE_MEMORY_PORT", ""), os.environ.get(PORT_OPTION, ""), recorded):
        if word.isdigit():
            return int(word)
    return DEFAULT_PORT


def probe(port: int) -> dict[str, object] | None:
    """What /health answers (empty: something that is no server of ours); None when nothing answers in time."""
    try:
        status, health = _client.call(_client.Address(port), "GET", "/health", timeout_s=PROBE_TIMEOUT_S)
    except _client.Unreachable:
        return None
    return health if status == 200 and health.get("name") == "live-memory" else {}  # noqa: PLR2004  # HTTP's OK


class Start:
    """A started launcher that outlives this hook, its complaints in the start log."""

    def __init__(self, folder: str, port: int, arguments: list[str]) -> None:
        environment = dict(os.environ, LIVE_MEMORY_DATA_DIR=folder, LIVE_MEMORY_PORT=str(port))
        os.makedirs(os.path.join(folder, "logs"), mode=0o700, exist_ok=True)
        log = os.open(os.path.join(folder, "logs", START_LOG), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        if sys.platform == "win32":
            import subprocess

            flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
            streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": log}
            self._child = subprocess.Popen(
                [LAUNCHER + ".cmd", *arguments], env=environment, creationflags=flags, **streams
            )
        else:
            self._pid = fork_and_run(["sh", LAUNCHER, *arguments], environment, log)
        os.close(log)

    def has_ended(self, limit_s: float) -> bool:
        """Whether it ends within `limit_s`."""
        import time

        deadline_s = time.monotonic() + limit_s
        while time.monotonic() < deadline_s:
            if sys.platform == "win32":
                if self._child.poll() is not None:
                    return True
            elif os.waitpid(self._pid, os.WNOHANG)[0]:
                return True
            time.sleep(PAUSE_S)
        return False


def fork_and_run(command: list[str], environment: dict[str, str], log: int) -> int:
    """The pid of `command` in a session of its own; by hand, because importing subprocess costs more than all the rest."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for target, source in ((0, nothing), (1, nothing), (2, log)):
                os.dup2(source, target)
            os.execve("/bin/sh", command, environment)  # noqa: S606  # a list, no shell text
        finally:
            os._exit(1)
    return pid


def last_words(folder: str) -> str:
    """What the last start complained of; empty when it succeeded, or has not ended."""
    try:
        with open(os.path.join(folder, "logs", START_LOG), encoding="utf-8", errors="replace") as file:
            return file.read().strip().rpartition("\n")[2]
    except OSError:
        return ""
