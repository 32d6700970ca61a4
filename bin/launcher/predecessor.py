"""What the command line set up before the plugin was there: the plugin's folder takes over its port, and a copy of its memory.

Only from the data folder of this user's own command line, and only into one that Claude Code made for the plugin.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import closing

from launcher import folders, identity, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DATABASE = "live-memory.db"
CONFIG = "config.json"


def of(data_dir: str, env: Mapping[str, str]) -> str:
    """The command line's own data folder, where `data_dir` is the plugin's; else empty."""
    return folders.user_data(env) if folders.is_plugins(data_dir) else ""


def serving(place: paths.Place, env: Mapping[str, str]) -> paths.Place | None:
    """The command line's server, proved to be that, where it holds the port that the plugin's needs."""
    folder = of(place.data_dir, env)
    before = paths.Place(folder, place.port)
    return before if folder and identity.probe(before).kind == "ours" else None


def inherit(data_dir: str, env: Mapping[str, str]) -> None:
    """Copy memory and settings into a folder of the plugin's that has none yet; what cannot be read stays where it is."""
    folder, target = of(data_dir, env), os.path.join(data_dir, DATABASE)
    source = os.path.join(folder, DATABASE)
    if not folder or os.path.exists(target) or not paths.is_own_file(source):
        return
    import sqlite3

    staging = f"{target}.{os.getpid()}.new"
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(staging)) as new:
            old.backup(new)
        config = os.path.join(folder, CONFIG)
        if paths.is_own_file(config) and not os.path.exists(os.path.join(data_dir, CONFIG)):
            shutil.copy(config, os.path.join(data_dir, CONFIG))
        os.replace(staging, target)
    except (OSError, sqlite3.Error) as error:
        sys.stderr.write(f"live-memory: the memory in {folder} could not be taken over ({error})\n")
        if os.path.exists(staging):
            os.unlink(staging)
