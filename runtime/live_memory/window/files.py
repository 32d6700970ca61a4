"""What the window knows of a file, and what was seen of it since. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

# stale: the tree has another version than the one the window knows; deleted: it is no longer there.
FileState: TypeAlias = Literal["fresh", "stale", "deleted"]
# tee: seen while others worked with it; preload: named by the setting preload_globs; read: by a tool of ours.
Origin: TypeAlias = Literal["tee", "preload", "read"]


@dataclass(frozen=True, slots=True)
class FileContext:
    """A file as the window knows it: `path` is relative to the root with `/`, `sha256` is of its bytes (hex).

    `content` is the text that prompts carry, secrets taken out; None where the file is only named (manifest).
    `used_at_s` is when it last mattered: the least recently used content goes first.
    """

    path: str
    sha256: str
    size_bytes: int
    mtime_ns: int
    read_at_s: float
    origin: Origin = "read"
    state: FileState = "fresh"
    content: str | None = None
    used_at_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Observation:
    """A file as it was seen since the last question: what the next one's deltas are made of.

    `text` has its secrets taken out; None where the content is not taken over. `changes` counts what was collapsed into
    this one.
    """

    path: str
    sha256: str
    size_bytes: int
    mtime_ns: int
    at_s: float
    origin: Origin = "tee"
    state: FileState = "fresh"
    text: str | None = None
    changes: int = 1

    def says_what_is_known(self, held: FileContext | None) -> bool:
        """Whether a window that holds `held` learns nothing from this."""
        if held is None:
            return self.state != "fresh"
        if self.state != held.state:
            return False
        if self.state == "fresh":
            return held.content == self.text if self.text is not None else held.sha256 == self.sha256
        return True
