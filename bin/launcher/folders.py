"""Which data folder is meant where no server is asked. Imports nothing but `os` and `sys`: the status line runs at every redraw.

`env` is a mapping like os.environ everywhere; its type would cost an import.
"""

from __future__ import annotations

import os
import sys

import _client
from launcher.errors import LaunchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PLUGIN_FOLDERS = "live-memory-"


def named(flag: str | None, env: Mapping[str, str]) -> str:
    """The folder that the environment or `--data-dir` names; empty when neither does."""
    return env.get("LIVE_MEMORY_DATA_DIR") or flag or env.get("CLAUDE_PLUGIN_DATA") or ""


def default(env: Mapping[str, str]) -> str:
    """The folder of the plugin under Claude Code's configuration where there is one, else the platform's user data folder."""
    claude = env.get("CLAUDE_CONFIG_DIR") or os.path.join(home(env), ".claude")
    plugins = [path for path in _plugin_folders(os.path.join(claude, "plugins", "data")) if os.path.isdir(path)]
    if plugins:
        # The one used last: several exist where the plugin was tried from a folder as well as installed.
        return max(plugins, key=_last_use)
    return user_data(env)


def user_data(env: Mapping[str, str]) -> str:
    """The platform's folder for a user's data."""
    if sys.platform == "darwin":
        return os.path.join(home(env), "Library", "Application Support", "live-memory")
    if sys.platform == "win32":
        return os.path.join(env.get("LOCALAPPDATA") or os.path.join(home(env), "AppData", "Local"), "live-memory")
    return os.path.join(env.get("XDG_DATA_HOME") or os.path.join(home(env), ".local", "share"), "live-memory")


def home(env: Mapping[str, str]) -> str:
    """The user's home folder; LaunchError where there is none: `~` would be a folder in the user's repository."""
    folder = env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")
    if folder.startswith("~"):
        raise LaunchError("This user has no home folder; set HOME, or LIVE_MEMORY_DATA_DIR.")
    return folder


def is_plugins(folder: str) -> bool:
    """Whether Claude Code made `folder` for this plugin."""
    parent, name = os.path.split(folder)
    return name.startswith(PLUGIN_FOLDERS) and parent.endswith(os.path.join("plugins", "data"))


def is_of_this_claude(folder: str, env: Mapping[str, str]) -> bool:
    """Whether `folder` is the plugin's in the very configuration that CLAUDE_CONFIG_DIR names."""
    claude = env.get("CLAUDE_CONFIG_DIR") or ""
    return bool(claude) and os.path.dirname(folder) == os.path.join(claude, "plugins", "data") and is_plugins(folder)


def _plugin_folders(parent: str) -> list[str]:
    try:
        return [os.path.join(parent, name) for name in os.listdir(parent) if name.startswith(PLUGIN_FOLDERS)]
    except OSError:
        return []


def _last_use(folder: str) -> tuple[float, str]:
    files = [os.path.join(folder, name) for name in (_client.RECORD_FILE, _client.TOKEN_FILE)]
    return max(_mtime(path) for path in files), folder


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
