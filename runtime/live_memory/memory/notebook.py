"""The notebook: the one way in which notes are written. Every write is a change in the log, which can be taken back.

What a write rests on is read from the disk first, in a thread; from the look at the store to the commit nothing waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from live_memory.agent.explorers import FileSight, Threads
from live_memory.clock import Clock
from live_memory.errors import QuestionError
from live_memory.memory import undoing
from live_memory.memory.place import Place
from live_memory.memory.planning import Planning, new_batch
from live_memory.memory.source_files import SourceFiles, Sources
from live_memory.memory.uses import count_uses
from live_memory.notes import state_texts
from live_memory.notes.acceptance import accepted, title_of
from live_memory.notes.draft import Draft
from live_memory.notes.lifecycle import DAY_S
from live_memory.notes.note import GLOBAL, Note
from live_memory.notes.slugs import free_id, slug
from live_memory.notes.writing import Findings, paths_of
from live_memory.settings import Settings
from live_memory.store.note_changes import NoteConflict
from live_memory.store.note_store import Action, Change, Key, NoteStore, Sieve

Outcome = Literal["created", "merged", "updated"]
OUTCOMES: Mapping[Action, Outcome] = {"create": "created", "merge": "merged", "update": "updated"}
TRIES = 4  # of a write that another process gets in the way of
NAMESAKES = 9  # keys of working state whose words are the same (`a.b`, `a-b`, `a b`) that are looked up by their ids
LOG_SEARCHED = 10_000  # changes among which the newest that is in force is looked for

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Saved:
    """A note as it is kept now, how it came to be so, and what whoever saved it should know."""

    note: Note
    outcome: Outcome
    remarks: tuple[str, ...] = ()


class Notebook:
    """Notes written by place. `look_at` (root, path) reads a file or raises ToolRefusal. Owned by one event loop."""

    def __init__(
        self,
        store: NoteStore,
        clock: Clock,
        settings: Callable[[], Settings],
        threads: Threads,
        look_at: Callable[[Path, str], FileSight],
    ) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._files = SourceFiles(threads, look_at)
        self._trimmed_at_s = 0.0

    async def save(self, place: Place, draft: Draft, actor: str = "claude") -> Saved:
        """Keep what `draft` says: as a new note, in the note of its id, or in one that says the same. QuestionError for what
        is no note, for one too long, and where there are too many."""
        taken = accepted(draft, self._settings().note_max_bytes)
        draft = taken.draft
        if draft.kind == "state" and not draft.id:
            draft = replace(draft, id=self._state_id(place, draft.title))
        sources = await self._sources(place, draft)

        def write() -> Saved:
            findings = Findings(self._clock.wall_s(), sources.sha256_by_path)
            plan = self._planning.plan(place, draft, findings, actor)
            own, *_ = self._store.apply(plan.changes)
            assert own.after is not None
            return Saved(own.after, OUTCOMES[own.action], (*taken.remarks, *sources.remarks, *plan.remarks))

        saved = _persistently(write)
        self._trim_log()
        return saved

    async def forget(self, place: Place, ids: Iterable[str], actor: str = "user") -> tuple[Note, ...]:
        """Drop the notes of these ids that are seen from `place`; they come back, as they were."""
        wanted = tuple(dict.fromkeys(each.removeprefix("#") for each in ids))

        def write() -> tuple[Note, ...]:
            found = [self._store.get([(scope, each) for scope in _scopes(place)])[:1] for each in wanted]
            notes = tuple(note for notes in found for note in notes)
            now_s, batch = self._clock.wall_s(), new_batch("forget") if len(notes) > 1 else ""
            self._store.apply([Change("forget", note, None, now_s, actor, batch=batch) for note in notes])
            return notes

        return _persistently(write)

    def undo(self, place: Place, number: int | None = None, batch: str = "", actor: str = "user") -> tuple[Change, ...]:
        """Take back a change, all that is in force of a batch, or the newest change of the place with its batch, and return
        the changes that do so. QuestionError where there is none, or a note was changed again since: nothing is lost then."""
        newest_first: tuple[Change, ...] = ()

        def write() -> tuple[Change, ...]:
            nonlocal newest_first
            newest_first = self._to_undo(place, number, batch)
            return self._store.apply(undoing.reversal(newest_first, self._clock.wall_s(), actor))

        try:
            return _persistently(write)
        except NoteConflict as conflict:
            is_one = len(newest_first) == 1
            named = f"change {newest_first[0].number}" if is_one else f"the batch {newest_first[0].batch}"
            raise QuestionError(
                "changed-since",
                f"The note #{conflict.key[1]} was changed again after {named}: undo the later changes first. "
                "Nothing was undone.",
                status=409,
            ) from conflict

    def log(self, place: Place, limit: int) -> tuple[Change, ...]:
        """The newest changes first, of all notes that are seen from `place`."""
        return self._store.log(_scopes(place), limit)

    def apply(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        """Make changes that somebody planned on notes as they were; NoteConflict where one was changed since."""
        return self._store.apply(changes)

    def touch(self, keys: Iterable[Key]) -> None:
        """These notes were of use, which renews their lives."""
        count_uses(self._store, self._store.get(keys), self._clock.wall_s())

    def state_get(self, place: Place, key: str) -> str | None:
        """The JSON text kept under `key`; None where there is none. What came as a note and is no JSON is a text."""
        note = self._state(place, title_of(key))
        return None if note is None or note.is_expired(self._clock.wall_s()) else state_texts.as_json(note.body)

    async def state_set(self, place: Place, key: str, value_json: str, actor: str = "claude") -> Saved:
        """Keep a JSON text under `key`, in place of what was kept there. QuestionError for what is no JSON, and for what is
        none any more without its secrets."""
        body = state_texts.kept(key, value_json)
        origin: Literal["user", "claude"] = "user" if actor == "user" else "claude"
        return await self.save(place, Draft(key, body, kind="state", origin=origin), actor)

    @property
    def _planning(self) -> Planning:
        return Planning(self._store, self._settings().notes_max_count)

    async def _sources(self, place: Place, draft: Draft) -> Sources:
        """Of a note for every repository nothing: each has files of its own."""
        old = self._planning.named(place, draft)
        if (draft.scope or (old.scope if old else "")) == GLOBAL:
            return Sources()
        chosen = draft.files or (tuple(old.sources) if old else ())
        return await self._files.find(place.root, chosen, paths_of(f"{draft.title}\n{draft.body}"))

    def _state(self, place: Place, title: str) -> Note | None:
        names = [f"state-{slug(title)}{number}" for number in ("", *(f"-{n}" for n in range(2, NAMESAKES + 1)))]
        kept = self._store.get([(place.repo_id, name) for name in names])
        found = next((note for note in kept if note.kind == "state" and note.title == title), None)
        if found or not kept:
            return found
        every = self._store.notes([place.repo_id], Sieve(kinds=["state"]))  # it may be a namesake of a higher number
        return next((note for note in every if note.title == title), None)

    def _state_id(self, place: Place, title: str) -> str:
        """The id of the state of that title, kept already or not."""
        note, planning = self._state(place, title), self._planning
        return note.id if note else "state-" + free_id(title, lambda name: planning.is_taken(place, f"state-{name}"))

    def _to_undo(self, place: Place, number: int | None, batch: str) -> tuple[Change, ...]:
        """The changes to take back, the newest first."""
        scopes = _scopes(place)
        if number is not None:
            found = tuple(change for change in self._store.changes([number]) if change.key[0] in scopes)
        elif batch:
            found = undoing.batch_in_force(self._batch, batch)
            found = found if any(change.key[0] in scopes for change in found) else ()
        else:
            found = undoing.newest_in_force(self._store.log(scopes, LOG_SEARCHED), self._batch)
        if not found:
            what = f"change {number}" if number is not None else f"batch {batch}" if batch else "change"
            raise QuestionError("no-change", f"There is no {what} here that could be undone.", status=404)
        return found

    def _batch(self, name: str) -> tuple[Change, ...]:
        return self._store.batch(name, LOG_SEARCHED)

    def _trim_log(self) -> None:
        """Once a day, drop the changes that nobody may want back any more."""
        now_s = self._clock.wall_s()
        if now_s - self._trimmed_at_s >= DAY_S:
            self._trimmed_at_s = now_s
            self._store.trim_log(now_s - self._settings().log_keep_days * DAY_S)


def _scopes(place: Place) -> tuple[str, ...]:
    """Whose notes are seen from there, the facts of the tree among them."""
    return (*place.scopes, str(place.root))


def _persistently(write: Callable[[], Result]) -> Result:
    """What `write` returns; it looks again where another process wrote between its look and its commit."""
    for _ in range(TRIES - 1):
        try:
            return write()
        except NoteConflict:
            continue
    return write()
