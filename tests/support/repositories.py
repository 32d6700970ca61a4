"""Real git repositories, made for one test, whatever the user's own configuration says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in {"NAME": "A", "EMAIL": "a@example.com", "DATE": "1700000000 +0000"}.items()
}


def git(folder: Path, *arguments: str) -> str:
    """What git printed in `folder`."""
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {**os.environ, **AUTHOR, **settings}
    allowed = ("-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main")
    command = ["git", *allowed, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def repository(folder: Path, text: str = "x") -> Path:
    """The real path of a new repository with one commit; the same text makes the same commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "file.txt").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder.resolve()


def clone(source: Path | str, folder: Path) -> Path:
    folder.parent.mkdir(parents=True, exist_ok=True)
    git(folder.parent, "clone", "-q", str(source), folder.name)
    return folder
