"""What a search is and what it brings back, whichever engine runs it. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Case: TypeAlias = Literal["ignore", "sensitive"]
MAX_SEARCHED_FILE_BYTES = 10 << 20
MAX_FILES = 200_000
# Folders of built or fetched things, left out where no .gitignore can say so.
HEAVY_FOLDERS = (
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
    ".gradle",
    ".terraform",
    ".next",
    ".nuxt",
    ".turbo",
    ".yarn",
    ".cache",
    ".hg",
    ".svn",
    "DerivedData",
    "Pods",
)


@dataclass(frozen=True, slots=True)
class Search:
    """A regular expression in ripgrep's syntax, matched within one line.

    `start` is a folder or file relative to the root. `max_per_file` is a number of matching lines, `max_file_bytes` the
    size of the largest file looked into; 0 is no limit.
    `names` are globs over file names (no folders) of which a file must match one, where there are any.
    `skipped` are globs in .gitignore's syntax for files and folders to leave out."""

    pattern: str
    case: Case = "ignore"
    start: str = "."
    names: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    max_per_file: int = 0
    max_file_bytes: int = MAX_SEARCHED_FILE_BYTES
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A match: its line and column (bytes) count from 1, the column is 0 for an empty match at a file's end; `text` is the line, or the matched part where only that was asked for."""

    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class FileHits:
    """The matches in one file, in order."""

    path: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """Files by path; `is_whole` is False when a bound cut the search short."""

    files: tuple[FileHits, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """Matching lines by path, sorted by path; `is_whole` as in Hits."""

    files: tuple[tuple[str, int], ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class FileList:
    """Paths relative to the root, sorted; `is_whole` as in Hits."""

    paths: tuple[str, ...]
    is_whole: bool


class PatternInvalid(Exception):
    """The pattern is no regular expression; the text says why."""


class PatternUnsupported(Exception):
    """The pattern asks for something the engine cannot do; the text says what, and what to write instead."""
