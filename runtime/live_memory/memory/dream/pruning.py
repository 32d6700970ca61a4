"""What has had its time: expired notes, and the log beyond what it is kept for."""

from __future__ import annotations

from live_memory.memory.dream.workbook import Edit, Workbook
from live_memory.notes.lifecycle import DAY_S
from live_memory.notes.note import Note

TOGETHER = 8  # in one transaction


async def prune(book: Workbook, log_keep_days: int) -> None:
    """Drop the notes that have expired, facts aside, and the changes that nobody may want back any more."""
    now_s = book.clock.wall_s()
    over = [note for note in book if note.is_expired(now_s)]
    for start in range(0, len(over), TOGETHER):
        await book.breathe()
        some = [_gone(note) for note in over[start : start + TOGETHER]]
        # Where somebody has changed one of them meanwhile, each is tried alone.
        for edits in [some] if book.write(some) else [[edit] for edit in some if book.write([edit])]:
            for edit in edits:
                book.report.add("expired", edit.id)
    if book.mode == "run":
        book.report.log_trimmed = book.store.trim_log(now_s - log_keep_days * DAY_S)


def _gone(note: Note) -> Edit:
    return Edit("expire", note, None, "it expired")
