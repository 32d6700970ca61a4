"""The globs a model writes, over paths relative to a folder: what they match, and what the engine may know of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from live_memory.errors import ToolRefusal
from live_memory.explore.globs import GlobInvalid, to_regex
from live_memory.explore.jail import shown

MAX_GLOB_CHARS = 1000
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.*+@-]+")  # no `?`: it is a byte to the engine


def matcher(root: Path, glob: str) -> Callable[[str], bool]:
    """Whether a path matches `glob`: one with a `/` is matched against the whole path, one without against the name.
    A folder's name with `/` at its end means all that is in it. ToolRefusal for text that is no glob."""
    anchored = _relative_to(root, glob)
    text = anchored if "/" in anchored.rstrip("/") or glob.startswith("/") else f"**/{anchored}"
    text = f"{text}**" if text.endswith("/") else text
    try:
        regex = re.compile(to_regex(text), re.DOTALL)
    except (GlobInvalid, re.error) as error:
        raise ToolRefusal(f"{shown(glob)} is no glob: {error}. Write one like src/**/*.py or *.{{ts,tsx}}.") from error
    return lambda path: regex.fullmatch(path) is not None


def _relative_to(root: Path, glob: str) -> str:
    if len(glob) > MAX_GLOB_CHARS:
        raise ToolRefusal(f"A glob has at most {MAX_GLOB_CHARS} characters.")
    glob = glob.strip().removeprefix(f"{root.as_posix()}/").removeprefix("./").lstrip("/")
    if ".." in PurePosixPath(glob).parts:
        raise ToolRefusal("A glob cannot go above the workspace with `..`; write it relative to the workspace root.")
    return glob


def file_names(glob: str) -> tuple[str, ...]:
    """A glob over file names that all files matching `glob` match, where that is plain to see; else nothing."""
    name = glob.rsplit("/", 1)[-1].strip()
    return (name,) if _PLAIN_NAME.fullmatch(name) and name.strip("*") else ()


def split_list(globs: str) -> list[str]:
    """The globs in a list parted by commas or blanks outside of braces."""
    parts = [""]
    depth = 0
    for char in globs:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth <= 0 and (char == "," or char.isspace()):
            parts.append("")
        else:
            parts[-1] += char
    return [part for part in parts if part]
