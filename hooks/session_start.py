"""The SessionStart hook, the backstop of `headersHelper`: writes the plugin's options down, starts a server where none
answers, and tells the user in one line what keeps Live Memory from working.

It never shows the token: what needs that is left to the launcher, which asks for proof first.
"""

from __future__ import annotations

import os
import sys

import _client
import _quick

DEFAULT_PORT = 7711
OPTIONS = ("port", "provider", "model", "api_key", "base_url")
OPTION_PREFIX = "CLAUDE_PLUGIN_OPTION_"
USER_CONFIG_FILE = "user-config.json"
START_LOG = "session-start.log"
LAUNCHER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "live-memory")
PROBE_TIMEOUT_S = 0.2  # a working server answers in a few ms; a hung one must not be felt
WATCH_S = 0.8  # only where nothing has run yet, or the last start failed
PAUSE_S = 0.05
LINE_CHARS = 300


def main() -> str:
    """The line for the user; empty when all is well."""
    folder = _client.data_dir()
    if not folder:
        return ""
    options = plugin_options()
    try:
        os.makedirs(os.path.join(folder, "logs"), mode=0o700, exist_ok=True)
        is_changed = write_options(folder, options)
    except OSError as error:
        return "Live Memory cannot write to its data folder %s: %s." % (folder, error.strerror)
    port = port_in_force(folder, options)
    health = probe(port)
    if health is not None and not is_changed:
        return concern(port, health)
    is_doubtful = health is None and not is_proven(folder)
    # Both start the server where there is none; the former also lets a running one read the settings again.
    pid = start_detached(folder, port, ["config", "reload"] if is_changed else ["ensure", "--wait", "10"])
    if is_doubtful:
        return watch(folder, port, pid)
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


def port_in_force(folder: str, options: dict[str, str]) -> int:
    """The port that this session's Claude Code connects to, unless the environment names another."""
    try:
        with open(os.path.join(folder, "port"), encoding="ascii") as file:
            recorded = file.read().strip()
    except (OSError, ValueError):
        recorded = ""
    for word in (os.environ.get("LIVE_MEMORY_PORT", ""), options.get("port", ""), recorded):
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
    return os.path.exists(os.path.join(folder, "python")) and not last_words(folder)


def last_words(folder: str) -> str:
    """What the last start complained of; empty when it succeeded, or has not ended."""
    try:
        with open(os.path.join(folder, "logs", START_LOG), encoding="utf-8", errors="replace") as file:
            return file.read().strip().rpartition("\n")[2]
    except OSError:
        return ""


def watch(folder: str, port: int, pid: int) -> str:
    """What becomes of the start of process `pid` within WATCH_S, as a line for the user."""
    import time

    deadline_s = time.monotonic() + WATCH_S
    while time.monotonic() < deadline_s:
        health = probe(port)
        if health is not None:
            return concern(port, health)
        if pid and os.waitpid(pid, os.WNOHANG)[0]:
            reason = last_words(folder)
            return "Live Memory cannot start: %s" % reason.replace("live-memory: ", "", 1) if reason else ""
        time.sleep(PAUSE_S)
    return ""


def start_detached(folder: str, port: int, arguments: list[str]) -> int:
    """Run the launcher so that it outlives this hook, its complaints in the start log. The pid; 0 on Windows."""
    environment = dict(os.environ, LIVE_MEMORY_DATA_DIR=folder, LIVE_MEMORY_PORT=str(port))
    log = os.open(os.path.join(folder, "logs", START_LOG), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        nothing = subprocess.DEVNULL
        subprocess.Popen(
            [LAUNCHER + ".cmd", *arguments],
            env=environment,
            stdin=nothing,
            stdout=nothing,
            stderr=log,
            creationflags=flags,
        )
        return 0
    # By hand, because importing subprocess costs more than all the rest of this hook.
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for target, source in ((0, nothing), (1, nothing), (2, log)):
                os.dup2(source, target)
            os.execve("/bin/sh", ["sh", LAUNCHER, *arguments], environment)  # noqa: S606  # a list, no shell text
        finally:
            os._exit(1)
    os.close(log)
    return pid


if __name__ == "__main__":
    line = main()
    if line:
        sys.stdout.write(_quick.render({"systemMessage": " ".join(line.split())[:LINE_CHARS]}))
