"""Captured notes on their way into the notebook: what they rest on, how long they live, and what they contradict."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath, PurePosixPath

from live_memory.clock import Clock
from live_memory.errors import QuestionError
from live_memory.memory.capture.gate import priority
from live_memory.memory.capture.proposal import Candidate, as_kind
from live_memory.memory.notebook import Notebook
from live_memory.memory.place import Place
from live_memory.notes.claims import meaning
from live_memory.notes.contradictions import contradiction
from live_memory.notes.draft import Draft
from live_memory.notes.note import Kind, Note, Status
from live_memory.store.note_changes import NoteConflict
from live_memory.store.note_store import Change, NoteStore, Sieve
from live_memory.store.transcript_queue import Tally
from live_memory.text.terms import terms

logger = logging.getLogger(__name__)

ACTOR = "capture"
LATER = "a later session has ended"
NEIGHBOURS = 20  # notes that a new one may contradict
KNOWN_NOTES = 40  # of each kind that a model is shown beside a part
QUERY_TERMS = 60
MET_RATIO = 0.6  # of a request's words that a note has: it is the same
SESSION: tuple[Kind, ...] = ("session",)
UNTOLD: tuple[Kind, ...] = ("fact", "session", "state")
GONE: tuple[Status, ...] = ("superseded",)


class Keeping:
    """Saves what was captured. `contradiction` says in words how two notes contradict each other, empty where not."""

    def __init__(
        self,
        notebook: Notebook,
        store: NoteStore,
        clock: Clock,
        contradiction: Callable[[Note, Note], str] = contradiction,
    ) -> None:
        self._notebook = notebook
        self._store = store
        self._clock = clock
        self._contradiction = contradiction

    async def keep(self, place: Place, drafts: Iterable[Draft]) -> Tally:
        """Save each; one that the notebook refuses is counted and passed over. StoreError."""
        tally = Tally()
        for draft in drafts:
            try:
                tally += await self._keep(place, draft)
            except QuestionError as error:
                logger.info("not captured code=%s", error.code)
                tally += Tally(refused=1)
        return tally

    def known(self, place: Place, text: str, since_s: float) -> tuple[Note, ...]:
        """What a model should not write again: the notes written since then, and those that share words with `text`."""
        sieve = Sieve(but_kinds=UNTOLD, but_statuses=GONE, since_s=since_s, alive_at_s=self._clock.wall_s())
        newest = self._store.notes(place.scopes, sieve)[:KNOWN_NOTES]
        alike = self.like(place, text, KNOWN_NOTES)
        return tuple({(note.scope, note.id): note for note in (*newest, *alike)}.values())

    def unsaid(self, place: Place, drafts: Iterable[Draft], since_s: float) -> tuple[Draft, ...]:
        """Those of the user's requests that nobody has met since then: Claude may have saved one, in words of its own."""
        sieve = Sieve(but_kinds=UNTOLD, since_s=since_s)
        kept = [meaning(f"{note.title}\n{note.body}") for note in self._store.notes(place.scopes, sieve)]
        return tuple(draft for draft in drafts if not any(_covers(words, meaning(draft.body)) for words in kept))

    def like(self, place: Place, text: str, limit: int) -> tuple[Note, ...]:
        """The notes that share most words with `text`."""
        wanted = tuple(dict.fromkeys(terms(text)))[:QUERY_TERMS]
        sieve = Sieve(but_kinds=UNTOLD, but_statuses=GONE, alive_at_s=self._clock.wall_s())
        found = self._store.candidates(place.scopes, wanted, limit, sieve) if wanted else ()
        return tuple(candidate.note for candidate in found)

    def sessions(self, place: Place) -> tuple[Note, ...]:
        """The sessions' own notes that are in force, the newest update first."""
        sieve = Sieve(kinds=SESSION, but_statuses=GONE, alive_at_s=self._clock.wall_s())
        return self._store.notes([place.repo_id], sieve)

    async def keep_session(self, place: Place, draft: Draft, before: Iterable[Note]) -> None:
        """Save a session's own note, which takes the place of those `before`. Sessions are taken up again in any order, so
        none of the notes names another as its successor."""
        await self.keep(place, [draft])
        now_s = self._clock.wall_s()
        changes = [
            Change("supersede", note, replace(note, status="superseded", updated_at_s=now_s), now_s, ACTOR, LATER)
            for note in before
        ]
        with suppress(NoteConflict):  # somebody wrote one of them just now: it stays
            self._store.apply(changes)

    async def _keep(self, place: Place, draft: Draft) -> Tally:
        saved = await self._notebook.save(place, draft, ACTOR)
        if saved.outcome != "created":
            return Tally(merged=1)
        disputed = self._dispute(place, saved.note)
        return Tally(created=1, disputed=disputed)

    def _dispute(self, place: Place, note: Note) -> int:
        """Mark the new note and those that it contradicts, both kept, each naming the other; how many disputes there are."""
        others = self.like(place, f"{note.title}\n{note.body}", NEIGHBOURS)
        against = {
            other.id: (other, why)
            for other in others
            if (other.scope, other.id) != (note.scope, note.id) and (why := self._contradiction(note, other))
        }
        if not against:
            return 0
        now_s = self._clock.wall_s()
        marked = replace(note, status="disputed", refs=_joined(note.refs, tuple(against)), updated_at_s=now_s)
        reasons = "; ".join(why for _, why in against.values())
        changes = [Change("dispute", note, marked, now_s, ACTOR, reasons)]
        for other, why in against.values():
            after = replace(other, status="disputed", refs=_joined(other.refs, (note.id,)), updated_at_s=now_s)
            changes.append(Change("dispute", other, after, now_s, ACTOR, why))
        try:
            self._store.apply(changes)
        except NoteConflict:  # somebody wrote one of them just now; dream will see it
            return 0
        return len(against)


def draft_of(candidate: Candidate, place: Place) -> Draft:
    """The candidate as the notebook takes it."""
    return Draft(
        candidate.title,
        candidate.body,
        kind=as_kind(candidate.kind),
        description=candidate.description,
        priority=priority(candidate),
        origin="capture",
        files=tuple(dict.fromkeys(path for each in candidate.files if (path := _within(each, place)))),
    )


def _covers(words: frozenset[str], asked: frozenset[str]) -> bool:
    return bool(asked) and len(words & asked) >= MET_RATIO * len(asked)


def _within(path: str, place: Place) -> str:
    """`path` relative to the root; empty for one outside of it."""
    pure = PurePath(path)
    if pure.is_absolute():
        if not pure.is_relative_to(place.root):
            return ""
        pure = pure.relative_to(place.root)
    relative = PurePosixPath(pure.as_posix())
    return "" if ".." in relative.parts or not relative.parts else str(relative)


def _joined(refs: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*refs, *more)))
