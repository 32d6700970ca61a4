"""The jail: which paths a tool may name, and how a file inside the root is opened. Nothing here writes.

A path is judged by where it really leads (links resolved), then opened component by component without following any
link, so that what was judged is what is read. Opening never waits: pipes, sockets and devices are refused unread.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from live_memory.errors import ToolRefusal
from live_memory.explore.base import FileStamp
from live_memory.explore.secret_files import is_secret_file

MAX_FILE_BYTES = 16 << 20
MAX_PATH_CHARS = 4096
MAX_LINK_LOOPS = 8
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_KINDS = (
    (stat.S_ISDIR, "a folder; list it with find_paths"),
    (stat.S_ISFIFO, "a named pipe, which has no content to read"),
    (stat.S_ISSOCK, "a socket, which has no content to read"),
    (stat.S_ISCHR, "a device, which is not read"),
    (stat.S_ISBLK, "a device, which is not read"),
    (stat.S_ISLNK, "a link that changed while it was opened; try again"),
)


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text, the stamp of its bytes, and a remark for the model where the text is not quite the bytes."""

    text: str
    stamp: FileStamp
    remark: str = ""


def resolve(root: Path, path: str) -> Path:
    """Where `path` (relative to `root`, or absolute inside it) really is; it need not exist. ToolRefusal when that is
    outside of `root` or inside git's own folder. `root` must be canonical."""
    _refuse_odd_names(path)
    wanted = root / path.replace("\\", "/") if os.name == "nt" else root / path
    try:
        real = _end_of_links(wanted)
    except (OSError, ValueError):
        raise ToolRefusal(f"{shown(path)} cannot be looked up.") from None
    inside = _inside(root, real)
    if inside is None:
        raise ToolRefusal(f"{shown(path)} is outside of the workspace; only paths inside it can be read.")
    if any(is_git_folder(part) for part in inside.parts) or any(is_git_folder(part) for part in Path(path).parts):
        raise ToolRefusal("Git's own folder is not read; use git_search or get_changed_files.")
    return root / inside


def _end_of_links(wanted: Path) -> Path:
    """Where `wanted` leads. `realpath` gives up at a link that leads to itself and leaves unresolved what comes after it, so
    it is asked until nothing moves. OSError when that never ends."""
    real = os.path.realpath(wanted)
    for _ in range(MAX_LINK_LOOPS):
        further = os.path.realpath(real)
        if further == real:
            return Path(real)
        real = further
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def relative(root: Path, real: Path) -> str:
    """The name of a resolved path as tools write it: relative to `root`, with `/`; `.` is the root."""
    return real.relative_to(root).as_posix()


def _refuse_odd_names(path: str) -> None:
    if "\0" in path:
        raise ToolRefusal("A path cannot hold a NUL character.")
    if len(path) > MAX_PATH_CHARS:
        raise ToolRefusal(f"A path of {len(path)} characters is too long.")
    if path.startswith(("~/", "~\\")) or path == "~":
        raise ToolRefusal(f"{shown(path)}: the home folder is outside of the workspace; give a path relative to it.")
    if path.startswith(("\\\\", "//")):
        raise ToolRefusal(f"{shown(path)} is a network path; give a path relative to the workspace.")
    if os.name != "nt" and path[1:3] in {":\\", ":/"} and path[0].isalpha():
        raise ToolRefusal(f"{shown(path)} names a drive; give a path relative to the workspace.")


def _inside(root: Path, real: Path) -> Path | None:
    """`real` relative to `root`; None when it is elsewhere. Where a file system ignores case, spelling does not decide."""
    if real.is_relative_to(root):
        return real.relative_to(root)
    for ancestor in (real, *real.parents):
        try:
            if os.path.samefile(ancestor, root):
                return real.relative_to(ancestor)
        except OSError:
            continue
    return None


def is_git_folder(name: str) -> bool:
    """Whether a path component is `.git` on any file system: case, trailing dots and blanks, streams, 8.3 names and
    the characters that HFS+ ignores are all seen through."""
    folded = "".join(char for char in name if char.isprintable()).casefold().split(":", 1)[0].rstrip(". ")
    return folded in {".git", "git~1"}


def read_text(root: Path, path: str) -> FileText:
    """The text of the file at `path`. ToolRefusal, with a sentence for the model, for anything that is no readable text
    of at most MAX_FILE_BYTES inside the root."""
    real = resolve(root, path)
    content, state = read_bytes(root, real)
    name = relative(root, real)
    text, remark = decode(name, content)
    return FileText(text, FileStamp(name, hashlib.sha256(content).hexdigest(), len(content), state.st_mtime_ns), remark)


def read_bytes(root: Path, real: Path) -> tuple[bytes, os.stat_result]:
    """The bytes of the file that `resolve` named, whole, and its stat; ToolRefusal as `read_text`."""
    with opened(root, real) as (file, state):
        if state.st_size > MAX_FILE_BYTES:
            raise ToolRefusal(too_large(relative(root, real), state.st_size))
        try:
            content = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise ToolRefusal(f"{shown(relative(root, real))} cannot be read ({error.strerror}).") from error
    if len(content) > MAX_FILE_BYTES:  # a file that grows, or one of /proc's that names no size
        raise ToolRefusal(too_large(relative(root, real), len(content)))
    return content, state


def too_large(name: str, size_bytes: int) -> str:
    return f"{shown(name)} is {size_in_words(size_bytes)}, too large to read; find the lines you need with Grep and its path."


def size_in_words(size_bytes: int) -> str:
    """`4.2 MB`, in thousands."""
    size = float(size_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:  # noqa: PLR2004  # the step between units
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def decode(name: str, content: bytes) -> tuple[str, str]:
    """The text of `content` and a remark on how it was made; ToolRefusal for a binary file."""
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            remark = "" if encoding == "utf-8" else f"({shown(name)} is UTF-16; shown as text.)"
            return content[len(bom) :].decode(encoding, "replace"), remark
    if b"\0" in content:
        raise ToolRefusal(f"{shown(name)} is a binary file of {size_in_words(len(content))}; it has no text to show.")
    try:
        return content.decode("utf-8"), ""
    except UnicodeDecodeError:
        remark = f"({shown(name)} is not valid UTF-8; bytes that make no character are shown as \ufffd.)"
        return content.decode("utf-8", "replace"), remark


@contextmanager
def opened(root: Path, real: Path) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """The regular file that `resolve` named, open for reading, and its stat. ToolRefusal for anything else."""
    name = relative(root, real)
    if is_secret_file(name):
        raise ToolRefusal(f"{shown(name)} may hold secrets by its name, so it is never read; do without its content.")
    try:
        _refuse_special(name, os.lstat(real))  # before opening: some devices act on being opened
        descriptor = descend(root, PurePosixPath(name).parts)
    except OSError as error:
        raise ToolRefusal(_why_not_opened(name, error)) from error
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(file.fileno())
        _refuse_special(name, state)
        yield file, state


def descend(root: Path, parts: tuple[str, ...]) -> int:
    """A descriptor of the file that `parts` lead to from `root`, downwards and over no link; OSError."""
    if os.open not in os.supports_dir_fd:
        return os.open(root.joinpath(*parts), _FLAGS)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FLAGS | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], _FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _refuse_special(name: str, state: os.stat_result) -> None:
    for is_kind, what in _KINDS:
        if is_kind(state.st_mode):
            raise ToolRefusal(f"{shown(name)} is {what}.")


def _why_not_opened(name: str, error: OSError) -> str:
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return f"There is no file {shown(name)}; look for it with Glob or find_paths."
    if isinstance(error, PermissionError):
        return f"{shown(name)} cannot be read: its permissions forbid it."
    return f"{shown(name)} cannot be opened ({error.strerror})."


def shown(path: str) -> str:
    """A path as text that is safe in a prompt: one line, no control characters, valid Unicode."""
    if path.isprintable():
        return path
    return "".join(_shown_char(char) for char in path)


def _shown_char(char: str) -> str:
    if char.isprintable():
        return char
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    return char.encode("unicode_escape").decode("ascii")
