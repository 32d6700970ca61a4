"""The notes of a place as a dream works on them: read once, changed in small transactions, each of them whole.

Every phase sees what the phases before it did. A rehearsal changes nothing but this copy, so that it tells what a run would do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from live_memory.clock import Clock
from live_memory.memory.dream.report import Report
from live_memory.memory.pace import MS, Pace
from live_memory.memory.place import Place
from live_memory.notes.note import Note
from live_memory.notes.overlap import Saying
from live_memory.store.note_changes import NoteConflict, key_of
from live_memory.store.note_store import Action, Change, Key, NoteStore

logger = logging.getLogger(__name__)

ACTOR = "dream"
SLICE_MS = 5.0  # of work between two chances for others
MAX_PAGE_NOTES = 100
MAX_CHANGES = 8_000  # of one run, so that one undo can take it back; the next run goes on
Rehearsal: TypeAlias = Literal["run", "dry-run"]


@dataclass(frozen=True, slots=True)
class Edit:
    """What a note becomes (None: it goes), and why."""

    action: Action
    before: Note | None
    after: Note | None
    reason: str

    @property
    def id(self) -> str:
        note = self.after or self.before
        assert note is not None
        return note.id


@dataclass(slots=True)
class Workbook:
    """Owned by one dream. `is_held` is asked before each write: whether the run is still this process's."""

    store: NoteStore
    place: Place
    clock: Clock
    batch: str
    mode: Rehearsal
    report: Report
    is_held: Callable[[], bool] = lambda: True
    is_full: bool = False
    _notes: dict[Key, Note] = field(default_factory=dict)
    _sayings: dict[Key, Saying] = field(default_factory=dict)
    _rested_at_s: float = 0.0

    async def read(self) -> None:
        """Take in all notes that are seen from the place, the facts of the tree aside."""
        after: Key | None = None
        pace = Pace(self.clock, slice_ms=SLICE_MS, most=MAX_PAGE_NOTES)
        while True:
            with pace:
                wanted = pace.notes
                some = self.store.page(self.place.scopes, after, wanted)
                self._notes.update((key_of(note), note) for note in some)
            if len(some) < wanted:
                break
            after = key_of(some[-1])
            await asyncio.sleep(0)
        self.report.notes = len(self._notes)

    def __iter__(self) -> Iterator[Note]:
        return iter(tuple(self._notes.values()))

    def get(self, key: Key) -> Note | None:
        return self._notes.get(key)

    def alive(self) -> list[Note]:
        """The notes that are in force: neither superseded nor expired."""
        now_s = self.clock.wall_s()
        return [note for note in self if note.status != "superseded" and not note.is_expired(now_s)]

    def saying(self, note: Note) -> Saying:
        """The note taken apart; kept for as long as its words are the same."""
        kept = self._sayings.get(key_of(note))
        if kept is None or (kept.note.title, kept.note.body) != (note.title, note.body):
            kept = self._sayings[key_of(note)] = Saying(note)
        kept.note = note
        return kept

    async def forget_sayings(self) -> None:
        """Nobody compares notes any more. One by one: to free them all takes a while, too."""
        while self._sayings:
            self._sayings.popitem()
            await self.breathe()

    async def release(self) -> None:
        """Nobody needs the copy any more."""
        await self.forget_sayings()
        while self._notes:
            self._notes.popitem()
            await self.breathe()

    def write(self, edits: Sequence[Edit]) -> bool:
        """Make all `edits` in one transaction; False, and none of them, where somebody wrote one of the notes meanwhile, or
        the run has made as many changes as one may."""
        if self.is_full or self.report.changes + len(edits) > MAX_CHANGES:
            self.is_full = True
            return False
        now_s = self.clock.wall_s()
        changes = [Change(e.action, e.before, e.after, now_s, ACTOR, e.reason, self.batch) for e in edits]
        if self.mode == "run":
            if not self.is_held():
                raise asyncio.CancelledError  # another process has taken the run over
            try:
                self.store.apply(changes)
            except NoteConflict as conflict:
                self._look_again([change.key for change in changes])
                self.report.add("passed over", conflict.key[1])
                return False
        for edit in edits:
            if edit.before is not None:
                self._notes.pop(key_of(edit.before), None)
            if edit.after is not None:
                self._notes[key_of(edit.after)] = edit.after
        self.report.changes += len(edits)
        return True

    async def breathe(self) -> None:
        """Let others have the loop, if this work had it for a while."""
        if (self.clock.monotonic_s() - self._rested_at_s) * MS >= SLICE_MS:
            await asyncio.sleep(0)
            self._rested_at_s = self.clock.monotonic_s()

    def _look_again(self, keys: Sequence[Key]) -> None:
        now = {key_of(note): note for note in self.store.get(keys)}
        for key in keys:
            if key in now:
                self._notes[key] = now[key]
            else:
                self._notes.pop(key, None)
