"""What a read-only tool brings back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

# checkout: git's, by its own mark; unreachable: not there, forbidden, or an empty place where something was mounted.
Standing: TypeAlias = Literal["checkout", "folder", "unreachable"]


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file as it was when read: `path` is relative to the root with `/`, `sha256` is of its bytes (hex)."""

    path: str
    sha256: str
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A tool's answer for the model, and the files whose content it showed."""

    text: str
    files: tuple[FileStamp, ...] = ()


class FileSignature(NamedTuple):
    """What tells, without a read, that a file may have changed since. A tuple, because thousands are made and compared
    before a question."""

    mtime_ns: int
    ctime_ns: int
    size_bytes: int
    inode: int


@dataclass(frozen=True, slots=True)
class SeenText:
    """A file's text, and the stamp of its bytes."""

    text: str
    stamp: FileStamp
