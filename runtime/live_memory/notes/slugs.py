"""Ids of notes, made from their titles. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable

from live_memory.text.secrets import redact
from live_memory.text.terms import fold

MAX_SLUG_CHARS = 64
MAX_ID_CHARS = 128
DIGEST_CHARS = 8
NAMELESS = "note"
_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_SPELLED = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "þ": "th", "ð": "d"})


def is_id(text: str) -> bool:
    """Whether a note may bear it: ASCII letters and digits, joined by `-`, `_` or `.`, as a body can cite it."""
    return len(text) <= MAX_ID_CHARS and _ID.fullmatch(text) is not None and not text.isdigit()


def slug(title: str) -> str:
    """An id that says what `title` says, of at most MAX_SLUG_CHARS: its words in ASCII, and a digest of the whole where that
    leaves letters out or nothing is left, or where its words would be taken for a secret wherever the note is shown."""
    folded = fold(title).translate(_SPELLED)
    ascii_only = unicodedata.normalize("NFKD", folded).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_only)
    lost = any(char.isalnum() and not char.isascii() for char in folded)
    digest = hashlib.sha256(title.encode("utf-8", "backslashreplace")).hexdigest()[:DIGEST_CHARS]
    suffix = [digest] if lost or not words else []
    if not words or "".join(words).isdigit():
        words = [NAMELESS, *words]
    room = MAX_SLUG_CHARS - sum(len(part) + 1 for part in suffix)
    name = "-".join((_cut("-".join(words), room), *suffix))
    return name if redact(name) == name else f"{NAMELESS}-{digest}"


def free_id(title: str, is_taken: Callable[[str], bool]) -> str:
    """The slug of `title`, numbered from 2 on where others bear it already: with a number behind a taken one, found in as many
    looks as that number has digits, twice over in binary."""
    name = slug(title)
    if not is_taken(name):
        return name
    taken, free = 1, 2
    while is_taken(f"{name}-{free}"):
        taken, free = free, 2 * free
    while free - taken > 1:
        middle = (taken + free) // 2
        taken, free = (middle, free) if is_taken(f"{name}-{middle}") else (taken, middle)
    return f"{name}-{free}"


def _cut(name: str, room: int) -> str:
    """The words that fit; a first one that does not fit alone is broken."""
    if len(name) <= room:
        return name
    whole = name[: room + 1].rpartition("-")[0]
    return whole or name[:room]
