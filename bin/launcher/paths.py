"""Where things are: the plugin, the data folder and its files, the port. Standard library only, and cheap to import.

Paths are text, not pathlib's: `headers` runs before every connection of Claude Code and pays for each import.
"""

from __future__ import annotations

import os
import sys

import _client
import _quick
from launcher import folders
from launcher.errors import LaunchError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORT = 7711
MAX_PORT = 65535
ROOM_BYTES = 16384  # the token, the records and the first lines of the logs
PROBE_TIMEOUT_S = 2.0
PORT_FILE = "port"
INTERPRETER_FILE = "python"
LAUNCHER_FILE = "launcher"
LOCK_FILE = "install.lock"
CONFIG_FILES = ("user-config.json", "config.json")
PLUGIN_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
RUNTIME = os.path.join(PLUGIN_ROOT, "runtime")
PACKAGE = os.path.join(RUNTIME, "live_memory")
REQUIREMENTS = os.path.join(RUNTIME, "requirements.lock")
MAIN = os.path.join(PLUGIN_ROOT, "bin", "launcher", "__main__.py")
COMMAND = os.path.join(PLUGIN_ROOT, "bin", "live-memory")


class Place:
    """Which server a command means: its data folder (absolute) and the port on 127.0.0.1."""

    __slots__ = ("data_dir", "port")

    def __init__(self, data_dir: str, port: int) -> None:
        self.data_dir = data_dir
        self.port = port

    def on(self, port: int) -> Place:
        """The same folder's server on another port."""
        return Place(self.data_dir, port)


def place(flag: str | None = None, environ: Mapping[str, str] | None = None, server_url: str = "") -> Place:
    """The data folder and the port in force; `flag` is --data-dir's value, `server_url` the MCP url where one is known.

    LaunchError names a port that cannot be one. The folder need not exist yet.
    """
    env = os.environ if environ is None else environ
    folder = folders.named(flag, env)
    if not folder:
        own = folders.default(env)
        served = served_data_dir(env_port(env) or DEFAULT_PORT)
        # Of two configurations of Claude Code, the one in force is meant, whichever has a server running.
        is_elsewhere = folders.is_of_this_claude(own, env) and not folders.is_of_this_claude(served, env)
        folder = own if is_elsewhere or not served else served
    folder = os.path.abspath(os.path.expanduser(folder))
    return Place(folder, env_port(env) or url_port(server_url) or recorded_port(folder) or config_port(folder))


def parse_flags(arguments: list[str], names: Mapping[str, str]) -> dict[str, str]:
    """The options in `arguments`: `names` maps each to "value" or "flag" (present: "1"). UsageError on anything else;
    --help prints them and exits."""
    found: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name, _, inline = rest.pop(0).partition("=")
        kind = names.get(name)
        if name in ("-h", "--help"):
            shown = [f"[{option} VALUE]" if names[option] == "value" else f"[{option}]" for option in sorted(names)]
            sys.stdout.write(" ".join(["usage: live-memory", *sys.argv[1:2], *shown]) + "\n")
            raise SystemExit(0)
        if kind is None:
            raise UsageError(f"unknown argument {name!r}; known are {', '.join(sorted(names))}")
        if kind == "flag":
            found[name] = "1"
        elif inline or rest:
            found[name] = inline or rest.pop(0)
        else:
            raise UsageError(f"{name} needs a value")
    return found


def served_data_dir(port: int) -> str:
    """The folder that a server listening on `port` names, when it proves to know that folder's token; else empty."""
    from launcher import identity

    try:
        seen = identity.health_with_challenge(_client.Address(port), PROBE_TIMEOUT_S)
    except _client.Unreachable:
        return ""
    folder = str(seen.health.get("data_dir") or "")
    # A stranger could name a folder of its own making: only a token that is this user's own is proof.
    return folder if folder and is_own_file(os.path.join(folder, _client.TOKEN_FILE)) and seen.proves(folder) else ""


def is_own_file(path: str) -> bool:
    """Whether `path` is a file that belongs to this user (on Windows: is a file)."""
    try:
        seen = os.lstat(path)
    except OSError:
        return False
    is_file = os.path.isfile(path) and not os.path.islink(path)
    return is_file and (sys.platform == "win32" or seen.st_uid == os.geteuid())


def env_port(env: Mapping[str, str]) -> int:
    """The port that LIVE_MEMORY_PORT names; 0 without one."""
    return parse_port(env.get("LIVE_MEMORY_PORT") or "", "LIVE_MEMORY_PORT")


def url_port(url: str) -> int:
    """The port in an MCP server's url; 0 without one."""
    host = url.partition("://")[2].partition("/")[0]
    tail = host.rpartition(":")[2]
    return int(tail) if ":" in host and tail.isdigit() and 0 < int(tail) <= MAX_PORT else 0


def recorded_port(folder: str) -> int:
    """The port that Claude Code connected to last, as `headers` recorded it; 0 without one."""
    word = read_line(os.path.join(folder, PORT_FILE))
    return int(word) if word.isdigit() and 0 < int(word) <= MAX_PORT else 0


def config_port(folder: str) -> int:
    """The port in the configuration files, else the default."""
    for name in CONFIG_FILES:
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                content = _quick.parse(file.read())
        except (OSError, ValueError):
            continue  # the server says what is wrong with it, with the sentence that the settings table has
        if isinstance(content, dict) and content.get("port"):
            return parse_port(str(content["port"]), "The port in " + name)
    return DEFAULT_PORT


def parse_port(word: str, origin: str) -> int:
    """`word` as a port, 0 when it is empty; LaunchError names `origin`."""
    if not word:
        return 0
    if not word.isascii() or not word.isdigit() or not 0 < int(word) <= MAX_PORT:
        raise LaunchError(f"{origin} cannot be {word!r}: it takes a whole number from 1 to {MAX_PORT}.")
    return int(word)


def read_line(path: str) -> str:
    """The first line of a small text file, stripped; empty when it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except (OSError, ValueError):
        return ""


def write_whole(path: str, text: str) -> None:
    """Replace `path`, readable by the owner only; a crash leaves the old content or the new, an error nothing."""
    staging = f"{path}.{os.getpid()}.new"
    try:
        with open(os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(staging, path)
    except OSError:
        if os.path.exists(staging):
            os.unlink(staging)
        raise


def make_data_dir(folder: str) -> None:
    """Make the data folder (0700) and its `logs`; OSError names the path that cannot be made."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.makedirs(os.path.join(folder, "logs"), mode=0o700, exist_ok=True)


def require_room(folder: str) -> None:
    """Write as much as a start needs, and remove it; OSError names `folder` when it is read-only or its disk is full.

    Before a detached process is started: its own last words would have to be written there.
    """
    trial = os.path.join(folder, f".room.{os.getpid()}")
    try:
        write_whole(trial, " " * ROOM_BYTES)
        os.unlink(trial)
    except OSError as error:
        error.filename = folder
        raise


def plugin_version() -> str:
    """The version of this plugin, read from the package without importing it."""
    with open(os.path.join(PACKAGE, "__init__.py"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("__version__"):
                return line.split('"')[1]
    raise LaunchError(f"{PACKAGE} names no version; install the plugin again.")


def parse_seconds(word: str, origin: str) -> float:
    """`word` as a number of seconds, 0 when it is empty; UsageError names `origin`."""
    try:
        seconds = float(word or 0)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(f"{origin} cannot be {word!r}: it takes a number of seconds.")
    return seconds


def absolute_environment(environ: Mapping[str, str], where: Place) -> dict[str, str]:
    """The environment for a server that works in its data folder: the place spelled out, relative folders made absolute."""
    environment = dict(environ, LIVE_MEMORY_DATA_DIR=where.data_dir, LIVE_MEMORY_PORT=str(where.port))
    wheelhouse = environment.get("LIVE_MEMORY_WHEELHOUSE")
    if wheelhouse:
        environment["LIVE_MEMORY_WHEELHOUSE"] = os.path.abspath(wheelhouse)
    return environment
