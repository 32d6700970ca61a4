"""`service install|remove`: a systemd user unit or a launchd agent that starts the server at login. Offered, never needed.

The unit names no version of the plugin: it starts whichever launcher the data folder records as the last one used.
"""

from __future__ import annotations

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from typing import NamedTuple

from launcher import folders, paths
from launcher.errors import LaunchError, UsageError

UNIT_NAME = "live-memory.service"
AGENT_LABEL = "io.github.live-memory"
COMMAND_TIMEOUT_S = 30.0


class Unit(NamedTuple):
    """A unit's file, its content, and the commands that switch it on and off."""

    path: str
    content: str
    on: tuple[tuple[str, ...], ...]
    off: tuple[tuple[str, ...], ...]


def run(arguments: list[str]) -> int:
    """`service install|remove [--data-dir DIR]`."""
    action, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if action in ("-h", "--help"):
        sys.stdout.write("usage: live-memory service install|remove [--data-dir DIR]\n")
        return 0
    if action not in ("install", "remove"):
        raise UsageError("say `service install` or `service remove`")
    place = paths.place(paths.parse_flags(rest, {"--data-dir": "value"}).get("--data-dir"))
    unit = unit_for(place)
    if action == "install":
        install(place, unit)
        sys.stdout.write(f"The server starts at login from now on ({unit.path}).\n")
    else:
        sys.stdout.write(f"Removed {unit.path}.\n" if remove(unit) else "No unit was installed.\n")
    return 0


def unit_for(place: paths.Place) -> Unit:
    """The unit of this platform; LaunchError where there is no service manager to give it to."""
    if sys.platform == "darwin":
        return launchd_agent(place, os.geteuid())
    if sys.platform == "linux" and shutil.which("systemctl"):
        return systemd_unit(place)
    raise LaunchError(
        "There is neither systemd nor launchd here; nothing needs it: the plugin starts the server itself."
    )


def shell_line(place: paths.Place) -> str:
    """The command line for `/bin/sh -c` that starts the recorded launcher."""
    recorded = os.path.join(place.data_dir, paths.LAUNCHER_FILE)
    return f'exec "$(cat {shlex.quote(recorded)})" serve --data-dir {shlex.quote(place.data_dir)}'


def systemd_unit(place: paths.Place) -> Unit:
    """A systemd user unit. A server that ends by itself (idle, replaced by a newer one) is not started again."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(folders.home(os.environ), ".config")
    # systemd expands $ and % in a command itself: doubled, they reach the shell as they are.
    line = shell_line(place).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    content = (
        "[Unit]\nDescription=Live Memory for Claude Code\n\n"
        f'[Service]\nExecStart=/bin/sh -c "{line}"\nRestart=on-failure\n\n'
        "[Install]\nWantedBy=default.target\n"
    )
    systemctl = ("systemctl", "--user")
    return Unit(
        os.path.join(base, "systemd", "user", UNIT_NAME),
        content,
        on=((*systemctl, "daemon-reload"), (*systemctl, "enable", "--now", UNIT_NAME)),
        off=((*systemctl, "disable", "--now", UNIT_NAME), (*systemctl, "daemon-reload")),
    )


def launchd_agent(place: paths.Place, user_id: int) -> Unit:
    """A launchd agent of the user's own session."""
    path = os.path.join(folders.home(os.environ), "Library", "LaunchAgents", AGENT_LABEL + ".plist")
    content = plistlib.dumps(
        {
            "Label": AGENT_LABEL,
            "ProgramArguments": ["/bin/sh", "-c", shell_line(place)],
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
        }
    ).decode()
    domain = f"gui/{user_id}"
    return Unit(
        path,
        content,
        on=(("launchctl", "bootstrap", domain, path),),
        off=(("launchctl", "bootout", f"{domain}/{AGENT_LABEL}"),),
    )


def install(place: paths.Place, unit: Unit) -> None:
    """Write the unit and switch it on; LaunchError leaves none behind."""
    paths.make_data_dir(place.data_dir)
    paths.write_whole(os.path.join(place.data_dir, paths.LAUNCHER_FILE), paths.COMMAND + "\n")
    os.makedirs(os.path.dirname(unit.path), exist_ok=True)
    paths.write_whole(unit.path, unit.content)
    try:
        for command in unit.on:
            _command(command)
    except LaunchError:
        os.unlink(unit.path)
        raise


def remove(unit: Unit) -> bool:
    """Switch the unit off and remove it; whether there was one."""
    if not os.path.exists(unit.path):
        return False
    _command(unit.off[0])
    os.unlink(unit.path)
    for command in unit.off[1:]:
        _command(command)
    return True


def _command(command: tuple[str, ...]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMMAND_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"`{' '.join(command)}` failed: {error}.") from error
    if done.returncode != 0:
        raise LaunchError(f"`{' '.join(command)}` failed: {done.stderr.strip() or done.returncode}.")
