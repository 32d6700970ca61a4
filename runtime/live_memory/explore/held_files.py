"""Files as the window holds them: found, read whole, and looked at without a read. Secrets are taken out by whoever keeps the text."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore.base import FileSignature, FileStamp, SeenText, Standing
from live_memory.explore.globbing import matcher
from live_memory.explore.jail import (
    decode,
    descend,
    is_git_folder,
    read_bytes,
    relative,
    resolve,
    shown,
    size_in_words,
)
from live_memory.explore.secret_files import is_secret_file
from live_memory.explore.spelling import ignores_case, true_name
from live_memory.explore.walk import walk
from live_memory.text.secrets import redact

MAX_WALKED = 200_000  # files looked at for a glob
MAX_STRAIGHT = 16_384  # names whose spelling is remembered
_WILD = frozenset("*?[{")
# What says that there is no such file; anything else says that nobody can tell.
_ABSENCE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG))


def locate(root: Path, path: str, is_case_blind: Callable[[Path], bool] = ignores_case) -> str:
    """The real place of `path`, relative to the canonical `root`, whether or not a file is there, and spelled as the disk
    spells it. ToolRefusal when it is outside, when its name says that it may hold secrets, or no prompt can spell it."""
    name = relative(root, resolve(root, path))
    if is_case_blind(root):
        name = true_name(root, name)
    if is_secret_file(name):
        raise ToolRefusal(f"{shown(name)} may hold secrets by its name, so it is never read.")
    if redact(name) != name:
        raise ToolRefusal("A file whose very name holds a secret is not read.")
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolRefusal(f"{shown(name)} has a name that is no text.") from None
    return name


def read(root: Path, path: str, max_bytes: int) -> SeenText:
    """The text at `path`; ToolRefusal for what is no text file of at most `max_bytes`."""
    stamped, content = _stamped(root, path, max_bytes)
    text, _remark = decode(stamped.path, content)
    return SeenText(text, stamped)


def stamp(root: Path, path: str, max_bytes: int) -> FileStamp:
    """The version of the file at `path`, text or not; ToolRefusal for what is no file of at most `max_bytes`."""
    return _stamped(root, path, max_bytes)[0]


def _stamped(root: Path, path: str, max_bytes: int) -> tuple[FileStamp, bytes]:
    content, state = _straight(root, path, max_bytes) or (None, None)
    if content is None or state is None:
        real = resolve(root, path)
        path = relative(root, real)
        looks = signature(root, path)
        if looks is not None and looks.size_bytes > max_bytes:
            raise ToolRefusal(_too_large(path, looks.size_bytes))
        content, state = read_bytes(root, real)
    if len(content) > max_bytes:
        raise ToolRefusal(_too_large(path, len(content)))
    return FileStamp(path, hashlib.sha256(content).hexdigest(), len(content), state.st_mtime_ns), content


def _straight(root: Path, path: str, max_bytes: int) -> tuple[bytes, os.stat_result] | None:
    """The bytes of a regular file whose name leads to it over no link, as the names of files that are held do; None where
    that is not so, and the long way through the jail has to tell. Thousands are read this way before a question."""
    if not _is_straight(path):
        return None
    try:
        if not stat.S_ISREG(os.lstat(f"{root}/{path}").st_mode):
            return None
        descriptor = descend(root, tuple(path.split("/")))
    except (OSError, ValueError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > max_bytes:
            return None
        try:
            return file.read(max_bytes + 1), state  # one more than fits, of a file that grows
        except OSError:
            return None


@lru_cache(MAX_STRAIGHT)
def _is_straight(path: str) -> bool:
    """Whether `path` is spelled as `locate` spells it: downwards, no part of it git's, and no secret file."""
    parts = path.split("/")
    is_odd = any(part in ("", ".", "..") or is_git_folder(part) for part in parts)
    return not (is_odd or "\\" in path or ":" in path or "\0" in path or is_secret_file(path))


def prepare(path: str, text: str, max_bytes: int) -> SeenText:
    """`text`, which somebody else read at `path`, as `read` would have given it; ToolRefusal as there."""
    content = text.encode("utf-8", "replace")
    if len(content) > max_bytes:
        raise ToolRefusal(_too_large(path, len(content)))
    if "\0" in text:
        raise ToolRefusal(f"{shown(path)} is a binary file.")
    return SeenText(content.decode(), FileStamp(path, hashlib.sha256(content).hexdigest(), len(content), 0))


def signature(root: Path, path: str) -> FileSignature | None:
    """How the file at `path` looks without a read; None where there is no regular file."""
    try:
        state = os.lstat(f"{root}/{path}")
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(state.st_mode):
        return None
    return FileSignature(state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)


def is_gone(root: Path, path: str) -> bool:
    """Whether there is surely no regular file at `path`: not so where the disk does not say."""
    try:
        state = os.lstat(f"{root}/{path}")
    except OSError as error:
        return error.errno in _ABSENCE
    except ValueError:
        return True
    return not stat.S_ISREG(state.st_mode)


def standing(root: Path) -> Standing:
    """Whether the tree at `root` can be seen at all. What is not mounted is missing, forbidden or an empty folder."""
    try:
        with os.scandir(root) as entries:
            if next(entries, None) is None:
                return "unreachable"
        mark = root / ".git"
        return "checkout" if mark.is_file() or (mark / "HEAD").exists() else "folder"
    except OSError:
        return "unreachable"


def matching(root: Path, globs: Sequence[str]) -> Iterator[str]:
    """The files that `globs` name, relative to `root` and each once: those of the first glob first, then by path. A glob
    that goes above the root, or is none, names nothing."""
    given: set[str] = set()
    for glob in globs:
        for path in _matching_one(root, glob):
            if path not in given:
                given.add(path)
                yield path


def _matching_one(root: Path, glob: str) -> Iterator[str]:
    try:
        if not _WILD.intersection(glob):
            plain = locate(root, glob)
            found = [plain] if signature(root, plain) else []
        else:
            is_match = matcher(root, f"/{glob}")  # anchored at the root, as a path is
            start = _fixed_folder(glob)
            entries = (entry for entry, _ in zip(walk(root, start), range(MAX_WALKED), strict=False))
            found = [entry.path for entry in entries if entry.kind == "file" and is_match(entry.path)]
    except ToolRefusal:
        return
    yield from sorted(path for path in found if not is_secret_file(path))


def _fixed_folder(glob: str) -> str:
    """The folder that all matches lie in, as far as the glob spells it out."""
    parts: list[str] = []
    for part in glob.removeprefix("./").split("/")[:-1]:
        if _WILD.intersection(part):
            break
        parts.append(part)
    return "/".join(part for part in parts if part) or "."


def _too_large(name: str, size_bytes: int) -> str:
    return f"{shown(name)} is {size_in_words(size_bytes)}, more than is taken over."
