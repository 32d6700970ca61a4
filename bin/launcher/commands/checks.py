"""What the doctor looks at: each part of the installation as one line, with what to do where something is amiss.

Looks only: nothing is started, installed, written or sent anywhere but to our own server.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from launcher import identity, interpreter, paths, venv
from launcher.commands import facts, headline, runtime_package, servers
from launcher.commands.check import Check
from launcher.commands.check_model import model
from launcher.errors import LaunchError

TOKEN_MODE = 0o600
LOW_DISK_BYTES = 500 << 20
LOG_TAIL_BYTES = 256 << 10
ERROR_MARKS = (" ERROR ", " CRITICAL ")
VERSION_TIMEOUT_S = 3.0
SHOWN_CHARS = 160


def all_checks(place: paths.Place) -> Iterator[Check]:
    """Every check's line; one that breaks is a problem of its own, and the rest goes on."""
    for name, check in CHECKS.items():
        try:
            yield check(place)
        except Exception as error:  # the doctor must not fall ill itself
            yield Check(name, "problem", f"the check itself failed: {error}", "report this")


def python(place: paths.Place) -> Check:
    recorded = paths.read_line(os.path.join(place.data_dir, paths.INTERPRETER_FILE))
    here = f"Python {sys.version.split()[0]} at {interpreter.real()}"
    if recorded and not os.access(recorded, os.X_OK):
        advice = "run `live-memory restart`, which records the present one"
        return Check("python", "warning", f"{here}; the recorded one, {recorded}, is gone", advice)
    return Check("python", "ok", here, "")


def data_folder(place: paths.Place) -> Check:
    folder = place.data_dir
    if not os.path.isdir(folder):
        parent = folder
        while not os.path.exists(parent):
            parent = os.path.dirname(parent)
        if not os.access(parent, os.W_OK):
            return Check(
                "data folder", "problem", f"{folder} cannot be made", "set LIVE_MEMORY_DATA_DIR to another folder"
            )
        return Check("data folder", "ok", f"{folder} is made at the first start", "")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Check(
            "data folder", "problem", f"{folder} cannot be written", "make it yours, or set LIVE_MEMORY_DATA_DIR"
        )
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(os.path.join(folder, "token")).st_mode)
        if mode & ~TOKEN_MODE and sys.platform != "win32":
            advice = f"run `chmod 600 {os.path.join(folder, 'token')}`"
            return Check("data folder", "problem", f"others can read the token ({mode:o})", advice)
    return Check("data folder", "ok", folder, "")


def settings(place: paths.Place) -> Check:
    runtime_package.reachable()
    from live_memory import configuration
    from live_memory.errors import ConfigError

    try:
        sources = configuration.load(Path(place.data_dir)).sources
    except ConfigError as error:
        return Check(
            "settings", "problem", str(error), "mend that; `live-memory config unset NAME` goes back to a default"
        )
    changed = [f"{name} ({source})" for name, source in sources.items() if source != "default"]
    return Check("settings", "ok", ", ".join(changed) or "all at their defaults", "")


def redaction(place: paths.Place) -> Check:
    runtime_package.reachable()
    from live_memory import configuration
    from live_memory.errors import ConfigError
    from live_memory.settings import roots_without_redaction

    try:
        off = roots_without_redaction(configuration.load(Path(place.data_dir)).settings)
    except ConfigError:
        return Check("redaction", "ok", "unknown: see settings", "")
    if off:
        text = f"OFF in {', '.join(off)}: secrets in files there are kept and sent to the model"
        return Check("redaction", "warning", text, "`live-memory config unset redaction_off_roots` ends that")
    return Check("redaction", "ok", "secrets are taken out of whatever is kept or sent", "")


def packages(place: paths.Place) -> Check:
    folder = venv.path(place.data_dir)
    if venv.is_ready(place.data_dir):
        return Check("packages", "ok", folder, "")
    if os.path.lexists(folder):
        return Check("packages", "problem", f"{folder} is damaged", "run `live-memory restart`: it installs them anew")
    return Check("packages", "warning", "not installed yet", "nothing: the server installs them when it starts")


def server(place: paths.Place) -> Check:
    try:
        live = servers.running(place)
    except LaunchError as error:
        return Check("server", "problem", str(error), "")
    if live is None:
        return Check("server", "warning", f"not running on port {place.port}", "nothing: the next question starts it")
    health = live.health
    uptime = health.get("uptime_s")
    since = f", up {facts.duration(uptime)}" if isinstance(uptime, (int, float)) else ""
    text = (
        f"{health.get('version')} is {health.get('status')} on 127.0.0.1:{place.port}, pid {health.get('pid')}{since}"
    )
    if health.get("status") == "degraded":
        advice = "mend the cause; it is tried again by itself, at once with `live-memory restart`"
        return Check("server", "problem", f"{text}: {health.get('reason')}", advice)
    if health.get("status") == "installing":
        return Check("server", "warning", f"{text}: {health.get('step')}", "nothing: it is ready in a moment")
    if identity.is_older(health.get("version"), paths.plugin_version()):
        return Check("server", "warning", f"{text}, older than this plugin", "run `live-memory restart`")
    return Check("server", "ok", text, "")


def meaning(place: paths.Place) -> Check:
    try:
        live = servers.running(place)
        stats = {} if live is None else servers.call(live.address, "GET", "/stats")
    except LaunchError:
        stats = {}
    figures = stats.get("semantic")
    if not isinstance(figures, dict):
        return Check("meaning", "ok", "unknown: no server answers", "")
    if figures.get("state") == "off":
        return Check("meaning", "ok", "search goes by words; `live-memory config set semantic=local` adds meaning", "")
    if figures.get("state") == "offline":
        advice = "mend the cause; it is tried again by itself, and search goes by words until then"
        return Check("meaning", "warning", headline.meaning(figures), advice)
    return Check("meaning", "ok", headline.meaning(figures), "")


def git(place: paths.Place) -> Check:
    version = _version_of(shutil.which("git"))
    if not version:
        return Check("git", "warning", "not on PATH", "install git: without it ignore rules and history are not known")
    return Check("git", "ok", version, "")


def ripgrep(place: paths.Place) -> Check:
    name = "rg.exe" if sys.platform == "win32" else "rg"
    beside = os.path.join(os.path.dirname(venv.python(venv.path(place.data_dir))), name)
    program = beside if os.path.isfile(beside) else shutil.which("rg")
    version = _version_of(program)
    if version:
        return Check("ripgrep", "ok", f"{version} at {program}", "")
    return Check("ripgrep", "warning", "not there: searches use slower Python", "nothing: it comes with the packages")


def disk(place: paths.Place) -> Check:
    used = sum(_file_bytes(os.path.join(root, name)) for root, _, names in os.walk(place.data_dir) for name in names)
    existing = place.data_dir
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    free = shutil.disk_usage(existing).free
    text = f"{facts.size(used)} used in the data folder, {facts.size(free)} free"
    if free < LOW_DISK_BYTES:
        return Check("disk", "warning", text, "make room: the packages and the database need some")
    return Check("disk", "ok", text, "")


def log(place: paths.Place) -> Check:
    path = os.path.join(place.data_dir, "logs", "server.log")
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - LOG_TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return Check("log", "ok", "no log yet", "")
    errors = [line for line in lines if any(mark in line for mark in ERROR_MARKS)]
    if errors:
        text = f"{len(errors)} errors, the last: {errors[-1][:SHOWN_CHARS]}"
        return Check("log", "warning", text, "`live-memory logs` shows more")
    return Check("log", "ok", f"no errors in {path}", "")


CHECKS: dict[str, Callable[[paths.Place], Check]] = {
    "python": python,
    "data folder": data_folder,
    "settings": settings,
    "redaction": redaction,
    "packages": packages,
    "server": server,
    "model": model,
    "meaning": meaning,
    "git": git,
    "ripgrep": ripgrep,
    "disk": disk,
    "log": log,
}


def _version_of(program: str | None) -> str:
    """The first line that `program --version` prints; empty when it cannot be run."""
    if program is None:
        return ""
    with suppress(OSError, subprocess.SubprocessError):
        command = [program, "--version"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=VERSION_TIMEOUT_S)
        return done.stdout.split("\n")[0].strip()
    return ""


def _file_bytes(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
