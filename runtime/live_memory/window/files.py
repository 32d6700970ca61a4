"""What the window knows of a file: which content of it was seen, and when. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileContext:
    """A file as it was when it was last read: `path` is relative to the root with `/`, `sha256` is of its bytes (hex)."""

    path: str
    sha256: str
    size_bytes: int
    mtime_ns: int
    read_at_s: float
