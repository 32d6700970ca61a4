"""`live-memory statusline`: how full the window is and what it has cost, for Claude Code's status line.

Runs at every redraw: it starts nothing, waits for nobody, and prints nothing when the server is down or slow. What takes
long to import is imported only where it is needed.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

import _client
import _quick
from launcher import folders

USAGE = "statusline [--cwd DIR]"
STDIN_S = 0.1  # Claude Code has written its JSON before we run; a pipe that nobody writes to must not hold us
ANSWER_TIMEOUT_S = 0.3
CHUNK_BYTES = 65536
CENT_USD = 0.01


def run(arguments: list[str]) -> int:
    folder = _named_folder(arguments) or _session_folder() or os.getcwd()
    server = _server()
    if server is not None:
        try:
            status, stats = _client.call(
                server, "GET", "/stats?notes=off&cwd=" + _client.quoted(folder), timeout_s=ANSWER_TIMEOUT_S
            )
        except _client.Unreachable:
            return 0
        if status == 200:  # noqa: PLR2004  # HTTP's OK
            sys.stdout.write(line(stats) + "\n")
    return 0


def line(stats: dict[str, object]) -> str:
    """The body of `/stats` in a few words."""
    context, cost, saved = stats.get("context"), stats.get("cost_usd"), stats.get("saved_by_cache_usd")
    ratio = context.get("ratio") if isinstance(context, dict) else None
    parts = ["memory"]
    if isinstance(ratio, (int, float)):
        parts.append(f"{ratio:.0%}")
    if isinstance(cost, (int, float)) and cost > 0:
        parts.append(f"${cost:.2f}")
    if isinstance(saved, (int, float)) and saved >= CENT_USD:
        parts.append(f"(saved ${saved:.2f})")
    return " ".join(parts)


def _server() -> _client.Address | None:
    """The running server, by the pid record of the folder in force; only where that names none, by asking the port."""
    named = folders.named(None, os.environ)
    server = _client.running_server(named or folders.default(os.environ))
    if server is None and not named:
        from launcher import paths

        server = _client.running_server(paths.place().data_dir)
    return server


def _named_folder(arguments: list[str]) -> str:
    """What `--cwd` names; empty without it."""
    if not arguments:
        return ""
    from launcher.commands import options

    return options.folder(options.parse(arguments, USAGE, options.CWD))


def _session_folder() -> str:
    """The folder that Claude Code's JSON on stdin names; empty when there is none."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    text = _read_stdin()
    session = _parsed(text) if text else {}
    workspace = session.get("workspace")
    current = workspace.get("current_dir") if isinstance(workspace, dict) else None
    folder = current or session.get("cwd")
    return folder if isinstance(folder, str) else ""


def _read_stdin() -> bytes:
    """What stdin holds, to its end or for as long as may be waited."""
    import select

    descriptor = sys.stdin.fileno()
    deadline_s = monotonic() + STDIN_S
    received = b""
    while sys.platform == "win32" or select.select([descriptor], [], [], max(0.0, deadline_s - monotonic()))[0]:
        chunk = os.read(descriptor, CHUNK_BYTES)
        received += chunk
        if not chunk:
            break
    return received


def _parsed(text: bytes) -> dict[str, object]:
    try:
        session = _quick.parse(text.decode("utf-8"))
    except ValueError:
        return {}
    return session if isinstance(session, dict) else {}
