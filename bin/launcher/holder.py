"""Whose port it is, when it is not ours: one sentence that names the holder and the setting."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from launcher.errors import PortHeld

LISTEN_STATE = "0A"
LOOKUP_TIMEOUT_S = 3.0
FALLBACK_NAME = "another program"


def held(port: int, health: dict[str, object]) -> PortHeld:
    """The error for a port that somebody else answers on; `health` is what they said, if it was /health's shape."""
    if health.get("name") == "live-memory":
        # Uninstalled and installed again, the path is the same and the token is not.
        named = f"{health.get('data_dir')}, pid {health.get('pid')}"
        who = f"the Live Memory of another data folder ({named}), or of this one before it was deleted"
    else:
        who = holder_of(port)
    return PortHeld(
        f"Port {port} is held by {who}; end it, or choose another port with LIVE_MEMORY_PORT (in Claude Code: the plugin's `port` option)."
    )


def holder_of(port: int) -> str:
    """`name (pid N)` of the program that listens on `port`, as far as this user may see it."""
    pid = _linux_listener(port) if sys.platform == "linux" else 0
    if pid:
        return f"{_linux_name(pid)} (pid {pid})"
    if sys.platform == "win32" or not shutil.which("lsof"):
        return FALLBACK_NAME
    try:
        listed = subprocess.run(
            ["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fpc"],
            capture_output=True,
            text=True,
            check=False,
            timeout=LOOKUP_TIMEOUT_S,
        ).stdout.splitlines()
    except subprocess.TimeoutExpired:
        return FALLBACK_NAME
    fields = {line[0]: line[1:] for line in reversed(listed) if line}  # the first process is the one kept
    return f"{fields['c']} (pid {fields['p']})" if "c" in fields and "p" in fields else FALLBACK_NAME


def _linux_listener(port: int) -> int:
    """The pid of the process that listens on `port`; 0 when it cannot be seen."""
    sockets = {f"socket:[{inode}]" for table in ("tcp", "tcp6") for inode in _listening_inodes(table, port)}
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()] if sockets else []
    return next((pid for pid in pids if sockets & _open_files(pid)), 0)


def _listening_inodes(table: str, port: int) -> set[str]:
    try:
        with open(f"/proc/net/{table}", encoding="ascii") as file:
            rows = [line.split() for line in file][1:]
    except OSError:
        return set()
    return {row[9] for row in rows if row[3] == LISTEN_STATE and int(row[1].rpartition(":")[2], 16) == port}


def _open_files(pid: int) -> set[str]:
    folder = f"/proc/{pid}/fd"
    found = set()
    try:
        for name in os.listdir(folder):
            found.add(os.readlink(f"{folder}/{name}"))
    except OSError:
        return found  # another user's process, or one that has just ended
    return found


def _linux_name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip() or FALLBACK_NAME
    except OSError:
        return FALLBACK_NAME
