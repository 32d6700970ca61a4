"""`live-memory stats`, `reset` and `empty`: look at the window of one repository, or forget it."""

from __future__ import annotations

import json
import sys
from urllib.parse import quote

from launcher import paths
from launcher.commands import facts, options, servers
from launcher.commands.headline import headline
from launcher.terminal import printable

STATS_USAGE = "stats [--cwd DIR] [--json]"
RESET_USAGE = "reset [--cwd DIR] [--json]"
EMPTY_USAGE = "empty [--cwd DIR] [--json]"


def run_stats(arguments: list[str]) -> int:
    parsed = options.parse(arguments, STATS_USAGE, {**options.CWD, **options.JSON})
    live = servers.started(paths.place())
    stats = servers.call(live.address, "GET", "/stats?cwd=" + quote(options.folder(parsed), safe=""))
    if options.form(parsed) == "json":
        sys.stdout.write(json.dumps(stats) + "\n")
    else:
        shown = [*headline(stats), "", *facts.lines(stats)]
        sys.stdout.writelines(printable(line) + "\n" for line in shown)
    return 0


def run_reset(arguments: list[str]) -> int:
    """Forget the window and load it anew."""
    return _forget(arguments, RESET_USAGE, "/reset", "Forgotten, and started anew")


def run_empty(arguments: list[str]) -> int:
    """Forget the window; the next question starts a new one."""
    return _forget(arguments, EMPTY_USAGE, "/clear", "Forgotten")


def _forget(arguments: list[str], usage: str, path: str, done: str) -> int:
    parsed = options.parse(arguments, usage, {**options.CWD, **options.JSON})
    folder = options.folder(parsed)
    live = servers.started(paths.place())
    answer = servers.call(live.address, "POST", path, {"cwd": folder})
    as_json = options.form(parsed) == "json"
    sys.stdout.write((json.dumps(answer) if as_json else f"{done}: the window of {folder}.") + "\n")
    return 0
