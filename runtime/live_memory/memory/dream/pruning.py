"""What has had its time: expired notes, and the log beyond what it is kept for."""

from __future__ import annotations

from live_memory.memory.dream.workbook import Edit, Workbook
from live_memory.notes.lifecycle import DAY_S


async def prune(book: Workbook, log_keep_days: int) -> None:
    """Drop the notes that have expired, facts aside, and the changes that nobody may want back any more."""
    now_s = book.clock.wall_s()
    for note in book:
        await book.breathe()
        if note.is_expired(now_s) and book.write([Edit("expire", note, None, "it expired")]):
            book.report.add("expired", note.id)
    if book.mode == "run":
        book.report.log_trimmed = book.store.trim_log(now_s - log_keep_days * DAY_S)
