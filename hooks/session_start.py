"""The SessionStart hook, the backstop of `headersHelper`: writes the plugin's options down, starts a server where none
answers, and tells the user in one line what keeps Live Memory from working.

Of a server that answers it brings the table of contents of the notes, and the files to watch. Whoever answers at the port
is shown no token: that goes to the server of the pid record alone.
"""

from __future__ import annotations

import os
import time

import _beginning
import _client
import _event
import _quick
import _server

OPTIONS = ("port", "provider", "model", "api_key", "base_url")
OPTION_PREFIX = "CLAUDE_PLUGIN_OPTION_"
USER_CONFIG_FILE = "user-config.json"
WATCHES, WATCH_S = 3, 0.1  # each with a probe of 0.2 s; only where nothing has run yet, or the last start failed
LINE_CHARS = 300
MAX_WATCHED = 500


def main(event: dict[str, object]) -> dict[str, object]:
    """The hook's answer; empty when there is nothing to say."""
    folder = _client.data_dir()
    if not folder:
        return {}
    started_s = time.monotonic()
    line = welcome(folder)
    answer: dict[str, object] = {}
    with _event.harmless:
        given, about = equipment(event, _event.Wire(_event.WIRE_LIMIT_S - (time.monotonic() - started_s)))
        line = line or about
        if given:
            answer["hookSpecificOutput"] = {"hookEventName": "SessionStart", **given}
    if line:
        answer["systemMessage"] = " ".join(line.split())[:LINE_CHARS]
    return answer


def equipment(event: dict[str, object], wire: _event.Wire) -> tuple[dict[str, object], str]:
    """What a session begins with: the table of contents of the notes, and the files that the window holds, to be watched;
    and what the user has to know of this workspace, mostly nothing."""
    table = _beginning.table_of_contents(event, wire)
    if not table:
        with _event.harmless:
            _beginning.owe(event)
    given = _event.add_context("SessionStart", table.get("context"))
    told = wire.get("/watch?cwd=" + _client.quoted(_event.text(event, "cwd")))
    held, about = told.get("paths"), told.get("concern")
    paths = [path for path in held if isinstance(path, str) and os.path.isabs(path)] if isinstance(held, list) else []
    if paths:
        given["watchPaths"] = paths[:MAX_WATCHED]
    _event.report(event, "session-start", wire)
    return given, about if isinstance(about, str) else ""


def welcome(folder: str) -> str:
    """The line for the user; empty when all is well."""
    options = plugin_options()
    try:
        os.makedirs(os.path.join(folder, "logs"), mode=0o700, exist_ok=True)
        is_changed = write_options(folder, options)
    except OSError as error:
        return "Live Memory cannot write to its data folder %s: %s." % (folder, error.strerror)
    port = _server.port_in_force(folder)
    health = own_health(folder, port)
    if health is not None and not is_changed:
        return concern(port, health)
    is_doubtful = health is None and not is_proven(folder)
    # Both start the server where there is none; the former also lets a running one read the settings again.
    start = _server.Start(folder, port, ["config", "reload"] if is_changed else ["ensure", "--wait", "10"])
    if is_doubtful:
        return watch(folder, port, start)
    return "" if health is None else concern(port, health)


def plugin_options() -> dict[str, str]:
    """The plugin's options as Claude Code hands them over, without the empty ones."""
    given = {name: os.environ.get(OPTION_PREFIX + name.upper(), "") for name in OPTIONS}
    return {name: value for name, value in given.items() if value}


def write_options(folder: str, options: dict[str, str]) -> bool:
    """Whether `options` differ from what the folder holds; then they replace it, readable by the owner only."""
    path = os.path.join(folder, USER_CONFIG_FILE)
    text = _quick.render(options) + "\n"
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return False
    except (OSError, ValueError):
        if not options:
            return False
    staging = "%s.%d.new" % (path, os.getpid())
    with open(os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(staging, path)
    return True


def concern(port: int, health: dict[str, object]) -> str:
    """What the user should know of the server that answered; empty when it is whole."""
    if not health:
        return "Live Memory cannot start: another program holds port %d. Give the plugin another `port`." % port
    if health.get("status") == "installing":
        return "Live Memory is being set up (%s); ask_live_memory answers when that is done." % health.get(
            "step", "once"
        )
    if health.get("status") == "degraded":
        return "Live Memory answers without a model for now: %s" % health.get("reason", "its packages are missing.")
    return ""


def is_proven(folder: str) -> bool:
    """Whether a server has run here, and the last start that a session made did not fail."""
    return os.path.exists(os.path.join(folder, "python")) and not _server.last_words(folder)


def watch(folder: str, port: int, start: _server.Start) -> str:
    """What becomes of `start` in less than a second, as a line for the user."""
    for _ in range(WATCHES):
        if start.has_ended(WATCH_S):
            reason = _server.last_words(folder)
            return "Live Memory cannot start: %s" % reason.replace("live-memory: ", "", 1) if reason else ""
        health = own_health(folder, port)
        if health is not None:
            return concern(port, health)
    return ""


def own_health(folder: str, port: int) -> dict[str, object] | None:
    """What /health answers; None also where it is the Live Memory of another folder, which the launcher knows how to take:
    it may be the command line's own, which gives way."""
    health = _server.probe(port)
    named = (health or {}).get("data_dir")
    is_other = isinstance(named, str) and os.path.realpath(named) != os.path.realpath(folder)
    return None if is_other else health


if __name__ == "__main__":
    with _event.harmless:
        _event.answer(main(_event.told()))
