"""The formats of files of notes, by name and by look; what they are made of is in the runtime's codecs, which run here."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from launcher.commands import files_read, runtime_package
from launcher.errors import LaunchError, UsageError

if TYPE_CHECKING:
    from live_memory.notes.codecs.base import Decoded
    from live_memory.notes.note import Note

READABLE = ("json", "agd", "markdown", "claude", "am-memory")
WRITABLE = ("json", "agd", "markdown", "claude")
IN_FOLDERS = ("markdown", "claude")
BY_SUFFIX = {".json": "json", ".agd": "agd", ".md": "markdown", ".db": "am-memory", ".sqlite": "am-memory"}
DATABASE = b"SQLite format 3\0"
INDEX = "MEMORY.md"
STDIN = "-"
SHOWN = {"am": "am-memory", "md": "markdown", "claude-memory": "claude", "sqlite": "am-memory"}


class Source(NamedTuple):
    """A file or folder, and its format."""

    path: str
    form: str


class Written(NamedTuple):
    """What an export is in a format: one text, or files by name."""

    text: str
    files: dict[str, str]


def named(word: str, allowed: Iterable[str]) -> str:
    """The format that `word` names, empty for none; UsageError for one that there is not."""
    form = SHOWN.get(word, word)
    if form and form not in allowed:
        raise UsageError(f"there is no format {word!r} here; it is one of {', '.join(allowed)}")
    return form


def source(path: str, form: str) -> Source:
    """What is at `path`, in the format named or else in the one that it looks like."""
    if form:
        return Source(path, form)
    if os.path.isdir(path):
        return Source(path, "claude" if os.path.isfile(os.path.join(path, INDEX)) else "markdown")
    head = files_read.beginning(path)
    if head.startswith(DATABASE):
        return Source(path, "am-memory")
    if os.path.basename(path) == INDEX:
        return Source(os.path.dirname(path) or os.curdir, "claude")
    told = BY_SUFFIX.get(os.path.splitext(path)[1].lower(), "")
    looks = {b"@": "agd", b"{": "json", b"[": "json"}.get(head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1], "")
    if not (told or looks):
        raise LaunchError(
            f"{path} looks like no format that is known here: name it with --format ({', '.join(READABLE)})."
        )
    return Source(path, told or looks)


def usual_places(form: str, folder: str) -> list[Source]:
    """Where the programs of a format keep the notes of `folder`, those places that there are."""
    home = os.path.expanduser("~")
    claude = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    # agd-memory replaces the slashes of the path only, Claude Code whatever is no letter and no digit.
    by_agd, by_claude = folder.replace("/", "-"), "".join(c if c.isascii() and c.isalnum() else "-" for c in folder)
    agds = [
        os.path.join(claude, "projects", name, "memory", "memory.agd") for name in dict.fromkeys((by_agd, by_claude))
    ]
    places = {
        "agd": [*agds, os.path.join(claude, "memory", "global.agd")],
        "claude": [os.path.join(claude, "projects", by_claude, "memory")],
        "am-memory": [os.path.join(home, ".am-memory", "memory.db")],
    }
    searched = places.get(form, [])
    found = [Source(path, form) for path in searched if os.path.exists(path)]
    if not found:
        looked = f"looked for {' and '.join(searched)}" if searched else f"{form} has no place of its own"
        raise LaunchError(f"There is nothing to import; {looked}: name a file or a folder.")
    return found


def read(source: Source, project: str) -> Decoded:
    """The notes of a file or folder. LaunchError where it cannot be read as what it should be."""
    runtime_package.reachable()
    from live_memory.errors import QuestionError

    try:
        return _read(source, project)
    except QuestionError as error:
        raise LaunchError(f"{source.path}: {error}") from None


def _read(source: Source, project: str) -> Decoded:
    from live_memory.notes.codecs import agd, claude_memory, json_codec, markdown
    from live_memory.notes.codecs.base import Decoded, Omission
    from live_memory.store import am_memory

    now_s = time.time()
    if source.form == "am-memory":
        files_read.beginning(source.path)  # refuses what is no regular file
        return am_memory.read(Path(source.path), now_s, project)
    if source.form in IN_FOLDERS:
        folder = _folder(source)
        decoded = (claude_memory if source.form == "claude" else markdown).decode(folder.files, now_s)
        return Decoded(decoded.notes, (*(Omission(*each) for each in folder.omissions), *decoded.omissions))
    text = files_read.text_of(source.path)
    return agd.decode(text, now_s) if source.form == "agd" else json_codec.decode(text)


def _folder(source: Source) -> files_read.Folder:
    if os.path.isdir(source.path):
        return files_read.folder_of(source.path)
    return files_read.Folder({os.path.basename(source.path): files_read.text_of(source.path)}, [])


def write(notes: Iterable[Note], form: str) -> Written:
    """`notes` in a format."""
    runtime_package.reachable()
    from live_memory.notes.codecs import agd, claude_memory, json_codec, markdown

    if form in IN_FOLDERS:
        return Written("", (claude_memory if form == "claude" else markdown).encode(notes))
    return Written(agd.encode(notes) if form == "agd" else json_codec.encode(notes), {})


def is_our_page(text: str) -> bool:
    """Whether a Markdown file's beginning says that an export made it."""
    runtime_package.reachable()
    from live_memory.notes.codecs import front_matter

    named = front_matter.read(text).named
    return "id" in named and "origin" in named
