"""Files that somebody names to be imported, read as text: bounded, regular files only, no link inside a folder followed.

What cannot be used is left out with a reason; a file that was named itself and cannot be used is a LaunchError.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from launcher.errors import LaunchError

MAX_FILE_BYTES = 64 << 20  # of a file that holds many notes
MAX_NOTE_BYTES = 4 << 20  # of a file that holds one
MAX_FOLDER_BYTES = 256 << 20
MAX_FILES = 50_000
MAX_DEPTH = 12
SUFFIX = ".md"
PACKED = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "packed with gzip",
    b"\xfd7zXZ": "packed with xz",
    b"BZh": "packed with bzip2",
}
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Folder(NamedTuple):
    """Path inside the folder → text, and what was left out: a place and the reason."""

    files: dict[str, str]
    omissions: list[tuple[str, str]]


def beginning(path: str, count: int = 64) -> bytes:
    """The first bytes of a regular file; LaunchError for anything else."""
    return _regular(path, count, _FLAGS)


def text_of(path: str) -> str:
    """The whole text of a file that holds notes."""
    raw = _regular(path, MAX_FILE_BYTES + 1, _FLAGS)
    if len(raw) > MAX_FILE_BYTES:
        raise LaunchError(f"{path} is over {MAX_FILE_BYTES >> 20} MiB; part it into smaller files.")
    packed = next((what for mark, what in PACKED.items() if raw.startswith(mark)), "")
    if packed:
        raise LaunchError(f"{path} is {packed}; unpack it first.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LaunchError(f"{path} is not UTF-8 (at byte {error.start}); save it as that first.") from None


def folder_of(path: str) -> Folder:
    """The Markdown files below a folder, in the order of their names; hidden folders are passed over."""
    found = Folder({}, [])
    size_bytes = 0
    for name in _names(path, found.omissions):
        if len(found.files) == MAX_FILES or size_bytes > MAX_FOLDER_BYTES:
            found.omissions.append((name, "the folder holds too much: this file and those after it"))
            break
        try:
            raw = _regular(os.path.join(path, name), MAX_NOTE_BYTES + 1, _FLAGS | getattr(os, "O_NOFOLLOW", 0))
            text = raw.decode("utf-8")
        except LaunchError:
            found.omissions.append((name, "no regular file"))
            continue
        except OSError as error:
            found.omissions.append((name, error.strerror or str(error)))
            continue
        except UnicodeDecodeError:
            found.omissions.append((name, "it is not UTF-8"))
            continue
        size_bytes += len(raw)
        if len(raw) > MAX_NOTE_BYTES:
            found.omissions.append((name, f"it is over {MAX_NOTE_BYTES >> 20} MiB"))
        else:
            found.files[name.replace(os.sep, "/")] = text
    return found


def _names(path: str, omissions: list[tuple[str, str]]) -> list[str]:
    names: list[str] = []
    for folder, folders, files in os.walk(path):
        inside = os.path.relpath(folder, path)
        depth = 0 if inside == os.curdir else inside.count(os.sep) + 1
        folders[:] = sorted(each for each in folders if not each.startswith(".")) if depth < MAX_DEPTH else []
        for name in sorted(files):
            shown = name if depth == 0 else os.path.join(inside, name)
            if not name.lower().endswith(SUFFIX) or name.startswith("."):
                continue
            if os.path.islink(os.path.join(folder, name)):
                omissions.append((shown, "a link, which is not followed"))
            else:
                names.append(shown)
        if len(names) > MAX_FILES:
            break
    return names


def _regular(path: str, count: int, flags: int) -> bytes:
    """At most `count` bytes of a regular file; a pipe or a device would keep us waiting, or never end."""
    handle = os.open(path, flags)
    with open(handle, "rb", closefd=True) as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise LaunchError(f"{path} is no regular file; name one, or a folder of them.")
        return file.read(count)
