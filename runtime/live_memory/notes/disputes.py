"""How a dispute reads: who else is in it, and what each side says. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from live_memory.notes.contradictions import contradictions
from live_memory.notes.note import Note
from live_memory.notes.rendering import day


def opponents(note: Note, others: Iterable[Note]) -> tuple[Note, ...]:
    """Those of `others` that `note` is in dispute with, the newest first: both are marked, and each names the other."""
    if note.status != "disputed":
        return ()
    sides = (each for each in others if each.status == "disputed" and each.id in note.refs and note.id in each.refs)
    return tuple(sorted(sides, key=lambda each: (-each.updated_at_s, each.id)))


def dispute_lines(note: Note, others: Iterable[Note]) -> tuple[str, ...]:
    """A line for each side of the dispute but the note's own, with the sentences that cannot both be true."""
    return tuple(_line(note, other) for other in opponents(note, others))


def _line(note: Note, other: Note) -> str:
    age = "later" if other.updated_at_s > note.updated_at_s else "earlier"
    head = f"Disputed by #{other.id} (written {age}, {day(other.updated_at_s)})"
    found = contradictions(note, other)
    return f"{head}: here \u201c{found[0].one}\u201d, there \u201c{found[0].other}\u201d" if found else head
