"""The notes of one repository that two identities of it have gathered, brought together: those that say the same become one,
those that share an id and say something else are both kept, and all of it is one batch of the log.

The facts of its trees stay where they are: they belong to a tree, whatever it is called.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from live_memory.clock import Clock
from live_memory.errors import QuestionError
from live_memory.memory.pace import Pace
from live_memory.memory.planning import new_batch
from live_memory.memory.transfer import BUT_FACTS, MAX_SLICE_NOTES, SLICE_MS, Mode
from live_memory.memory.twins import UNMERGED, twin_of
from live_memory.notes.arrival import says_the_same
from live_memory.notes.duplicates import NEAR, similarity
from live_memory.notes.note import GLOBAL, Note
from live_memory.notes.writing import merged
from live_memory.store.note_changes import key_of
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


class Merging:
    """Owned by one event loop."""

    def __init__(self, store: NoteStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def merge(self, source: str, target: str, mode: Mode) -> Union:
        """Bring the notes of the repo id `source` to `target`. QuestionError where that makes no sense."""
        notes = self._notes_of(source, target)
        union = Union(new_batch("merge"))
        twins = await self._plan(notes, target, union)
        if mode == "apply":
            names = {**union.joined, **union.renamed}
            await self._paced([(note, twins.get(note.id)) for note in notes], target, names, union.batch)
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

    async def _plan(self, notes: tuple[Note, ...], target: str, union: Union) -> dict[str, Note]:
        """Id → the note of the target that says the same; what else becomes of them goes to `union`."""
        twins: dict[str, Note] = {}
        taken = {note.id for note in notes}
        pace = Pace(self._clock, slice_ms=SLICE_MS, most=MAX_SLICE_NOTES)
        rest = list(notes)
        while rest:
            some, rest = rest[: pace.notes], rest[pace.notes :]
            with pace:
                for note in some:
                    twin = self._twin(replace(note, scope=target))
                    if twin is not None:
                        twins[note.id] = twin
                        union.joined[note.id] = twin.id
                        continue
                    union.moved += 1
                    name = self._free(note.id, target, taken)
                    if name != note.id:
                        taken.add(name)
                        union.renamed[note.id] = name
            await asyncio.sleep(0)
        return twins

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

    async def _paced(
        self, notes: list[tuple[Note, Note | None]], target: str, names: Mapping[str, str], batch: str
    ) -> None:
        pace = Pace(self._clock, slice_ms=SLICE_MS, most=MAX_SLICE_NOTES)
        while notes:
            some, notes = notes[: pace.notes], notes[pace.notes :]
            with pace:
                for note, twin in some:
                    self._bring(note, twin, target, names, batch)
            await asyncio.sleep(0)

    def _bring(self, note: Note, twin: Note | None, target: str, names: Mapping[str, str], batch: str) -> None:
        """One note, in one transaction; what its neighbours are called by now it calls them as well."""
        now_s, reason = self._clock.wall_s(), f"merged from {note.scope}"
        name = names.get(note.id, note.id)
        refs, supersedes = (_renamed(ids, names, name) for ids in (note.refs, note.supersedes))
        arriving = replace(note, scope=target, id=name, refs=refs, supersedes=supersedes)
        if twin is None:
            self._store.apply([Change("move", note, arriving, now_s, "user", reason, batch)])
            return
        (there,) = self._store.get([key_of(twin)])  # it may have taken in another one by now
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
