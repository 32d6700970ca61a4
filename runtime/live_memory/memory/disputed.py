"""The other sides of disputed notes, out of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from live_memory.notes.disputes import dispute_lines, opponents
from live_memory.notes.note import Note
from live_memory.store.note_store import NoteStore


def sides(store: NoteStore, note: Note) -> tuple[Note, ...]:
    """The notes that `note` is in dispute with, the newest first; none for one that is not disputed."""
    if note.status != "disputed":
        return ()
    return opponents(note, store.get([(note.scope, each) for each in note.refs]))


def lines_of(store: NoteStore, notes: Sequence[Note]) -> Mapping[str, tuple[str, ...]]:
    """Id → what the others say against it, for those that are disputed."""
    return {note.id: dispute_lines(note, sides(store, note)) for note in notes if note.status == "disputed"}
