"""The explorer port: a read-only tool the model calls, and what it brings back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from live_memory.window.messages import ToolSpec


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


class Explorer(Protocol):
    """A tool bound to no workspace: `run` gets the canonical root. Blocking; raises ToolRefusal with a useful sentence."""

    @property
    def spec(self) -> ToolSpec: ...

    def run(self, root: Path, arguments: Mapping[str, object]) -> ToolOutput: ...
