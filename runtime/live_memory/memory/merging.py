"""The notes of one repository that two identities of it have gathered, brought together: those that say the same become one,
those that share an id and say something else are both kept, and all of it is one batch of the log.

The facts of its trees stay where they are: they belong to a tree, whatever it is called.
"""

from __future__ import annotations

import asyncio
import logging
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from live_memory.clock import Clock
from live_memory.errors import QuestionError
from live_memory.memory.pace import Pace
from live_memory.memory.planning import new_batch
from live_memory.memory.transfer import BUT_FACTS, MAX_SLICE_NOTES, SLICE_MS, TRIES, Mode
from live_memory.memory.twins import UNMERGED, twin_of
from live_memory.notes.arrival import says_the_same
from live_memory.notes.duplicates import NEAR, similarity
from live_memory.notes.note import GLOBAL, Note
from live_memory.notes.writing import merged
from live_memory.store.note_changes import NoteConflict, key_of
from live_memory.store.note_store import Change, NoteStore

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Union:
    """What became of the notes of one identity. `joined` maps the ids of those that were said already to the notes that say
    it, `renamed` those whose id was another note's to their new ones."""

    batch: str
    moved: int = 0
    joined: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Routes:
    """Where each note goes: `twins` are the notes of the target that say the same, `taken` the ids that are given away."""

    target: str
    taken: set[str]
    union: Union
    twins: dict[str, Note] = field(default_factory=dict)
    moving: set[str] = field(default_factory=set)

    @property
    def names(self) -> Mapping[str, str]:
        """What the notes are called by now, those whose name is another."""
        return ChainMap(self.union.joined, self.union.renamed)

    def forget(self, note_id: str) -> None:
        if self.twins.pop(note_id, None) is not None:
            del self.union.joined[note_id]
        elif note_id in self.moving:
            self.moving.discard(note_id)
            self.union.moved -= 1
            self.union.renamed.pop(note_id, None)


class Merging:
    """Owned by one event loop."""

    def __init__(self, store: NoteStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def merge(self, source: str, target: str, mode: Mode) -> Union:
        """Bring the notes of the repo id `source` to `target`. QuestionError where that makes no sense."""
        notes = self._notes_of(source, target)
        union = Union(new_batch("merge"))
        routes = _Routes(target, {note.id for note in notes}, union)
        await self._paced(notes, lambda note: self._route(note, routes))
        if mode == "apply":
            await self._paced(notes, lambda note: self._bring_persistently(note, routes))
            logger.info("merged notes=%d from=%s to=%s batch=%s", len(notes), source, target, union.batch)
        return union

    def _notes_of(self, source: str, target: str) -> tuple[Note, ...]:
        if source == target:
            raise QuestionError("same-repository", f"Both are {target}: there is nothing to bring together.")
        if GLOBAL in (source, target):
            raise QuestionError(
                "bad-field", "The global notes belong to every repository: they are not merged with one."
            )
        notes = self._store.notes([source], BUT_FACTS)
        if not notes:
            raise QuestionError(
                "no-notes", f"There are no notes of {source}, so there is nothing to bring together.", status=404
            )
        return notes

    def _route(self, note: Note, routes: _Routes) -> None:
        """Find out what becomes of `note`, in place of what was found out before."""
        routes.forget(note.id)
        twin = self._twin(replace(note, scope=routes.target))
        if twin is not None:
            routes.twins[note.id] = twin
            routes.union.joined[note.id] = twin.id
            return
        routes.moving.add(note.id)
        routes.union.moved += 1
        name = self._free(note.id, routes.target, routes.taken)
        if name != note.id:
            routes.taken.add(name)
            routes.union.renamed[note.id] = name

    def _twin(self, note: Note) -> Note | None:
        namesake = next(iter(self._store.get([key_of(note)])), None)
        if namesake is not None and namesake.kind == note.kind and _are_one(namesake, note):
            return namesake
        return twin_of(self._store, note, self._clock.wall_s())

    def _free(self, name: str, target: str, taken: set[str]) -> str:
        """`name`, numbered where the target has it; no other note on its way gets the numbered one."""
        candidate, number = name, 1
        while self._store.get([(target, candidate)]) or (candidate != name and candidate in taken):
            number += 1
            candidate = f"{name}-{number}"
        return candidate

    async def _paced(self, notes: Sequence[Note], work: Callable[[Note], None]) -> None:
        pace = Pace(self._clock, slice_ms=SLICE_MS, most=MAX_SLICE_NOTES)
        rest = list(notes)
        while rest:
            some, rest = rest[: pace.notes], rest[pace.notes :]
            with pace:
                for note in some:
                    work(note)
            await asyncio.sleep(0)

    def _bring_persistently(self, note: Note, routes: _Routes) -> None:
        """Others go on writing meanwhile: where one of them was quicker, look again at what becomes of `note`, if it is still
        there."""
        for _ in range(TRIES - 1):
            try:
                return self._bring(note, routes)
            except NoteConflict:
                routes.forget(note.id)
                kept = self._store.get([key_of(note)])
                if not kept:
                    return None
                (note,) = kept
                self._route(note, routes)
        return self._bring(note, routes)

    def _bring(self, note: Note, routes: _Routes) -> None:
        """One note, in one transaction; what its neighbours are called by now it calls them as well. NoteConflict."""
        target, batch, names = routes.target, routes.union.batch, routes.names
        now_s, reason = self._clock.wall_s(), f"merged from {note.scope}"
        name = names.get(note.id, note.id)
        refs, supersedes = (_renamed(ids, names, name) for ids in (note.refs, note.supersedes))
        arriving = replace(note, scope=target, id=name, refs=refs, supersedes=supersedes)
        twin = routes.twins.get(note.id)
        if twin is None:
            self._store.apply([Change("move", note, arriving, now_s, "user", reason, batch)])
            return
        there = next(iter(self._store.get([key_of(twin)])), None)  # it may have taken in another one by now
        if there is None:
            raise NoteConflict(key_of(twin))
        one = merged(there, arriving)
        one = replace(one, created_at_s=min(there.created_at_s, note.created_at_s))
        self._store.apply(
            [
                Change("merge", there, one, now_s, "user", reason, batch),
                Change("forget", note, None, now_s, "user", f"#{twin.id} of {target} says it", batch),
            ]
        )


def _are_one(one: Note, other: Note) -> bool:
    return says_the_same(one, other) or (one.kind not in UNMERGED and similarity(one, other) >= NEAR)


def _renamed(ids: Iterable[str], names: Mapping[str, str], own: str) -> tuple[str, ...]:
    """What the notes are called by now, each once, without the one that names them."""
    return tuple(dict.fromkeys(name for each in ids if (name := names.get(each, each)) != own))
