"""Notes that were of use: counted, and their lives renewed. What cannot be counted is read all the same."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from live_memory.errors import StoreError
from live_memory.notes.lifecycle import renewed
from live_memory.notes.note import Note
from live_memory.store.note_changes import key_of
from live_memory.store.note_store import NoteStore

logger = logging.getLogger(__name__)


def count_uses(store: NoteStore, notes: Iterable[Note], now_s: float) -> None:
    """Count a use of each; a fact lives as long as its tree. A disk that is full or a database that somebody holds keeps
    nobody from reading."""
    used = tuple(notes)
    expiries = {key_of(note): renewed(note, now_s).expires_at_s for note in used if note.kind != "fact"}
    try:
        store.touch([key_of(note) for note in used], now_s, expiries)
    except StoreError as error:
        logger.info("uses not counted notes=%d reason=%s", len(used), error)
