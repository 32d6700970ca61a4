"""A note as a model or a person reads it: one line of a table, or whole. Pure.

What goes to a model stands in a fence: `text/fencing.py` with NOTES_TAG.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from live_memory.notes.note import GLOBAL, Note
from live_memory.text.fencing import fenced, one_line

NOTES_TAG = "live-memory-notes"
LINE_CHARS = 160  # of a note in a table, its id and kind included, unless there are many
ELLIPSIS = "…"


def shown_as_data(text: str) -> str:
    """Notes as they stand in a prompt or a tool's result."""
    return fenced(NOTES_TAG, text)


def marks(note: Note, state: str = "") -> str:
    """Kind, status, reach and the state of its files, as far as they say something."""
    words = (note.kind, note.status, "global" if note.scope == GLOBAL else "", "" if state == "FRESH" else state)
    return ", ".join(word for word in words if word)


def table_line(note: Note, state: str = "", max_chars: int = LINE_CHARS) -> str:
    """`- #id (marks): what it is about`, on one line."""
    return cut(f"- #{note.id} ({marks(note, state)}): {gist(note)}", max_chars)


def gist(note: Note) -> str:
    """What a note is about in one line: its title, and its description where that says more."""
    title, description = _line(note.title) or _line(note.body), _line(note.description)
    if not description or description.casefold() in title.casefold():
        return title
    return description if title.casefold() in description.casefold() else f"{title}. {description}"


def whole_text(note: Note, state: str = "", backlinks: Sequence[str] = (), disputes: Sequence[str] = ()) -> str:
    """Heading, description, body, what others say against it, and a last line of what it is connected with."""
    parts = [
        f"## #{note.id} ({marks(note, state)}): {_line(note.title)}".rstrip(": "),
        note.description.strip(),
        note.body.strip(),
        *map(_line, disputes),
    ]
    return "\n".join([*(part for part in parts if part), _connections(note, state, backlinks)])


def day(at_s: float) -> str:
    """The UTC day of an instant, `YYYY-MM-DD`."""
    return datetime.fromtimestamp(at_s, UTC).date().isoformat()


def cut(text: str, max_chars: int) -> str:
    """`text`, or its beginning and an ellipsis."""
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + ELLIPSIS


def _line(text: str) -> str:
    return one_line(" ".join(text.split()))


def _connections(note: Note, state: str, backlinks: Sequence[str]) -> str:
    files = ", ".join(one_line(path) for path in sorted(note.sources))
    named = {
        "refs": _ids(note.refs),
        "cited by": _ids(backlinks),
        "supersedes": _ids(note.supersedes),
        "files": f"{files} ({state})" if files and state else files,
        "updated": day(note.updated_at_s),
        "expires": day(note.expires_at_s) if note.expires_at_s is not None else "",
    }
    return "[" + " · ".join(f"{name} {value}" for name, value in named.items() if value) + "]"


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(f"#{each}" for each in ids)
