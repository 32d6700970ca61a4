"""What a change does to a note as it is by now: a note that somebody else has written since is not written over."""

from __future__ import annotations

from dataclasses import replace

from live_memory.errors import StoreError
from live_memory.notes.note import Note
from live_memory.store.note_store import Change, Key


class NoteConflict(StoreError):
    """A note is no longer what a change was planned on; nothing was written."""

    def __init__(self, key: Key) -> None:
        super().__init__(f"The note {key[1]} was changed meanwhile; nothing was written: look at it and try again.")
        self.key = key


def key_of(note: Note) -> Key:
    return (note.scope, note.id)


def places(change: Change) -> tuple[Key, ...]:
    """Where the change takes a note from and where it puts one: two places where a note moves."""
    return tuple(dict.fromkeys(key_of(note) for note in (change.before, change.after) if note is not None))


def settled(change: Change, now: Note | None, in_the_way: Note | None) -> Change:
    """`change` on top of the note as it is `now`, whose uses since are kept. NoteConflict when it is another one than the
    change was planned on, or when a note is `in_the_way` of one that moves."""
    before, after = change.before, change.after
    if in_the_way is not None:
        raise NoteConflict(key_of(in_the_way))
    if (now is None) != (before is None) or (now and before and _without_use(now) != _without_use(before)):
        raise NoteConflict(change.key)
    if now is None or before is None or after is None:
        return replace(change, before=now)
    used = replace(
        after,
        use_count=max(0, now.use_count + after.use_count - before.use_count),
        used_at_s=max(now.used_at_s, after.used_at_s) if after.used_at_s >= before.used_at_s else after.used_at_s,
        expires_at_s=now.expires_at_s if after.expires_at_s == before.expires_at_s else after.expires_at_s,
    )
    return replace(change, before=now, after=used)


def _without_use(note: Note) -> Note:
    return replace(note, use_count=0, used_at_s=0.0, expires_at_s=None, sources=dict(note.sources))


def later_expiry(kept: float | None, named: float | None) -> float | None:
    """The later of two expiries; None is never."""
    return None if kept is None or named is None else max(kept, named)
