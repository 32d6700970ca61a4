"""Running git to read, never to act: no hook, pager, filter, diff driver, monitor, lock, network or prompt of the repository's own.

A repository's configuration may name programs; every command here runs without them, bounded in time and output.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore.child import Bounds, Child
from live_memory.explore.worktrees import checkout_top

NO_GIT = "git is not installed here, so there is no history and no list of changes; Read, Grep and Glob still work."
NO_CHECKOUT = "This workspace is not a git repository, so there is no history and no list of changes."
NOT_TRUSTED = (
    "git does not trust this repository because somebody else owns it; "
    "the user can allow it with `git config --global --add safe.directory <folder>`."
)
CONFIG_BOUNDS = Bounds(timeout_s=5, max_bytes=1 << 20)
_HARMLESS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.editor=false",
    "core.alternateRefsCommand=false",
    "core.quotePath=false",
    "credential.helper=",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
    "color.ui=false",
    "diff.ignoreSubmodules=all",
    "diff.mnemonicPrefix=false",
    "diff.noprefix=false",
    "diff.submodule=short",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
)
_FILTER = re.compile(r"(filter\..+)\.(?:clean|smudge|process|required)", re.DOTALL | re.IGNORECASE)


def child(root: Path, arguments: Sequence[str], bounds: Bounds) -> Child:
    """The git command, ready to be read. Raises ToolRefusal outside of a checkout; FileNotFoundError comes with the
    reading where git is not installed."""
    top = checkout_top(root)
    if top is None:
        raise ToolRefusal(NO_CHECKOUT)
    settings = [part for setting in _HARMLESS for part in ("-c", setting)]
    return Child(["git", "--no-pager", *settings, *arguments], root, bounds, _environment(top))


def output(root: Path, arguments: Sequence[str], bounds: Bounds) -> tuple[bytes, Child]:
    """What the command printed, and how it ended. ToolRefusal when git is missing, refuses, or fails."""
    git = child(root, arguments, bounds)
    try:
        printed = git.output()
    except FileNotFoundError:
        raise ToolRefusal(NO_GIT) from None
    if git.code and git.is_whole:
        raise ToolRefusal(_failure(git.stderr))
    return printed, git


def without_filters(root: Path) -> list[str]:
    """The `-c` options that empty every content filter the configuration names: git runs those to compare a file."""
    names, _ = output(root, ["config", "--list", "--name-only", "-z"], CONFIG_BOUNDS)
    filters = {
        match[1] for name in names.decode("utf-8", "surrogateescape").split("\0") if (match := _FILTER.fullmatch(name))
    }
    if any("=" in name for name in filters):
        raise ToolRefusal(
            "This repository's git configuration names a filter that cannot be turned off; changes are not listed."
        )
    emptied = (
        f"{name}.{part}" for name in sorted(filters) for part in ("clean=", "smudge=", "process=", "required=false")
    )
    return [part for setting in emptied for part in ("-c", setting)]


def _environment(top: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_ALLOW_PROTOCOL": "",  # no fetching of missing objects, by any transport
        "GIT_CEILING_DIRECTORIES": os.fspath(top.parent),
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_WORK_TREE": os.fspath(top),  # core.worktree may point anywhere
        "LC_ALL": "C",
    }


def _failure(complaint: str) -> str:
    if "dubious ownership" in complaint:
        return NOT_TRUSTED
    if "not a git repository" in complaint:
        return NO_CHECKOUT
    first = next((line for line in complaint.splitlines() if line.startswith(("fatal:", "error:"))), complaint[:200])
    return f"git could not do that: {first.removeprefix('fatal: ').removeprefix('error: ')}"
