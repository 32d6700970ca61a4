"""Taking a whole run back: first looked at whether every note is as the run left it, then undone in slices, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from live_memory.errors import QuestionError
from live_memory.memory import undoing
from live_memory.memory.dream.collector import no_collection
from live_memory.memory.dream.tree_texts import TreeTexts
from live_memory.memory.dream.workbook import Workbook
from live_memory.store.note_changes import NoteConflict, settled
from live_memory.store.note_store import Change, Key
from live_memory.store.notes import Notes

ACTOR = "user"
PAGE_CHANGES = 20


async def take_back(book: Workbook, facts: Notes, texts: TreeTexts) -> tuple[Change, ...]:
    """The changes that undid all that is in force of the book's batch. QuestionError where there is nothing, or a note was
    changed again since: nothing is undone then."""
    with no_collection():
        in_force = await _in_force(book)
        if not in_force:
            raise QuestionError("no-change", "The last dream changed nothing that could be undone.", status=404)
        await _require_untouched(book, in_force)
        undone: list[Change] = []
        for _, group in groupby(in_force, key=lambda change: change.at_s):  # what was written at once is undone at once
            await book.breathe()
            undone += book.store.apply(undoing.reversal(list(group), book.clock.wall_s(), ACTOR))
    await _compare_facts(undone, facts, texts)
    return tuple(undone)


async def _in_force(book: Workbook) -> tuple[Change, ...]:
    """What of the run was not taken back, the newest first."""
    batches: dict[str, list[Change]] = {}
    name = book.batch
    while name not in batches:  # the run, an undo of it, an undo of that, and so on
        found: list[Change] = []
        batches[name] = found
        before: int | None = None
        while some := book.store.batch(name, PAGE_CHANGES, before):
            found += some
            before = some[-1].number
            await book.breathe()
        name = undoing.undo_of(name) if found else name
    return undoing.batch_in_force(lambda each: batches.get(each, ()), book.batch)


async def _require_untouched(book: Workbook, newest_first: Sequence[Change]) -> None:
    seen: set[Key] = set()
    for change in newest_first:
        await book.breathe()
        if change.key in seen:
            continue
        seen.add(change.key)
        now = next(iter(book.store.get([change.key])), None)
        try:
            settled(Change("undo", change.after, change.before, 0.0, ACTOR), now, None)
        except NoteConflict as conflict:
            raise QuestionError(
                "changed-since",
                f"The note #{change.key[1]} was changed again after the dream: undo that first "
                "(`live-memory log` shows it). Nothing was undone.",
                status=409,
            ) from conflict


async def _compare_facts(undone: Sequence[Change], facts: Notes, texts: TreeTexts) -> None:
    """A fact that is back is compared with its files again: whether it is demoted is not written in the log."""
    wanted: dict[str, set[str]] = {}
    for change in undone:
        if change.after is not None and change.after.kind == "fact":
            wanted.setdefault(change.after.scope, set()).update(change.after.sources)
    for root, paths in wanted.items():
        for path, sight in (await texts.look(Path(root), sorted(paths))).items():
            if sight.sha256 != "":
                facts.demote(root, path, sight.sha256)
