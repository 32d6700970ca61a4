"""Files that an export makes: each is there whole or not at all, none takes the place of somebody else's, and none is
written through a link out of the folder that was named."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping

from launcher.errors import LaunchError


def write_file(path: str, text: str) -> None:
    """`text` at `path`, in place of what was there; straight into what is no regular file (`/dev/stdout`)."""
    if os.path.exists(path) and not os.path.isfile(path):
        if os.path.isdir(path):
            raise LaunchError(f"{path} is a folder; name a file, or say --to {path}.")
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)  # beside the file itself: a link to it may lie on another disk
    if not os.path.isdir(folder):
        raise LaunchError(f"There is no folder {folder}; make it first.")
    handle, staged = tempfile.mkstemp(dir=folder, prefix=".live-memory-")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(staged, 0o666 & ~_mask())
        os.replace(staged, target)
    except BaseException:
        os.unlink(staged)
        raise


def write_folder(folder: str, files: Mapping[str, str], may_replace: Callable[[str], bool]) -> list[str]:
    """Every file of `files` in `folder`, which is made; the Markdown files there that are ours (`may_replace` tells by their text)
    and are none of them any more. LaunchError before anything is written where a file is somebody else's."""
    for name in files:
        _refuse_links(folder, name)
        path = os.path.join(folder, *name.split("/"))
        if os.path.lexists(path) and not _is_ours(path, may_replace):
            raise LaunchError(f"{path} is none of our files: move it, or name another folder. Nothing was written.")
    for name, text in files.items():
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_file(path, text)
    return _left_over(folder, files, may_replace)


def _left_over(folder: str, files: Mapping[str, str], may_replace: Callable[[str], bool]) -> list[str]:
    subfolders = {name.rpartition("/")[0] for name in files} | {""}
    there = [
        f"{subfolder}/{name}" if subfolder else name
        for subfolder in sorted(subfolders)
        for name in sorted(os.listdir(os.path.join(folder, subfolder)))
        if name.endswith(".md")
    ]
    return [name for name in there if name not in files and _is_ours(os.path.join(folder, name), may_replace)]


def _is_ours(path: str, may_replace: Callable[[str], bool]) -> bool:
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        return may_replace(file.read(1 << 16))


def _refuse_links(folder: str, name: str) -> None:
    """The folders below the one that was named must be folders."""
    parts = name.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        inner = os.path.join(folder, *parts[:count])
        if os.path.islink(inner):
            raise LaunchError(f"{inner} is a link out of the folder: nothing is written through it.")


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
