"""The note that says already what another one says."""

from __future__ import annotations

from live_memory.notes.duplicates import NEAR, similarity
from live_memory.notes.note import Kind, Note
from live_memory.store.note_store import NoteStore, Sieve
from live_memory.text.terms import terms

MAX_QUERY_TERMS = 48  # of a note, to find what says the same
LIKELY = 8  # notes compared with it
UNMERGED: frozenset[Kind] = frozenset({"state", "session"})  # known by their ids, not by what they say


def twin_of(store: NoteStore, note: Note, now_s: float) -> Note | None:
    """The living note of `note`'s scope and kind that says the same, of several the likest; None where there is none."""
    if note.kind in UNMERGED:
        return None
    wanted = tuple(dict.fromkeys(terms(f"{note.title}\n{note.body}")))[:MAX_QUERY_TERMS]
    sieve = Sieve(kinds=(note.kind,), but_statuses=["superseded"], alive_at_s=now_s)
    likely = [one.note for one in store.candidates([note.scope], wanted, LIKELY, sieve)]
    near = [(similarity(each, note), each) for each in likely if each.id not in note.supersedes]
    likeness, twin = max(near, key=lambda pair: pair[0], default=(0.0, note))
    return twin if likeness >= NEAR else None
