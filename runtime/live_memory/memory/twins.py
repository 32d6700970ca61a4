"""The note that says already what another one says."""

from __future__ import annotations

from live_memory.notes.duplicates import NEAR, likest
from live_memory.notes.note import Kind, Note
from live_memory.store.note_store import NoteStore, Sieve
from live_memory.text.terms import terms

MAX_QUERY_TERMS = 64  # of a note, among which the rarest are looked for
RAREST_TERMS, FEWEST_TERMS = 8, 3  # what says the same shares most of them, and hardly anything else does
MAX_POSTINGS = 2_000  # to be ranked; where all words are common, the fewest terms have to do
LIKELY = 8  # notes compared with it
UNMERGED: frozenset[Kind] = frozenset({"state", "session"})  # known by their ids, not by what they say


def twin_of(store: NoteStore, note: Note, now_s: float) -> Note | None:
    """The living note of `note`'s scope and kind that says the same, of several the likest; None where there is none."""
    if note.kind in UNMERGED:
        return None
    wanted = tuple(dict.fromkeys(terms(f"{note.title}\n{note.body}")))[:MAX_QUERY_TERMS]
    held = store.vocabulary([note.scope], wanted).frequencies
    rarest = sorted((term for term in wanted if held[term]), key=lambda term: held[term])[:RAREST_TERMS]
    while len(rarest) > FEWEST_TERMS and sum(held[term] for term in rarest) > MAX_POSTINGS:
        rarest.pop()
    sieve = Sieve(kinds=(note.kind,), but_statuses=["superseded"], alive_at_s=now_s)
    likely = [one.note for one in store.candidates([note.scope], rarest, LIKELY, sieve)]
    likeness, twin = likest(note, [each for each in likely if each.id not in note.supersedes])
    return twin if likeness >= NEAR else None
