"""Notes on their way out of the store and into it, in parts, so that neither a message nor a moment gets too long.

Formats are not known here: what travels is notes as JSON, and whoever asks turns files into them (ADR-0027). A note is never
written over by an older one, nothing is read from a path that a caller names, and all parts of one import are one batch of
the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from live_memory.clock import Clock
from live_memory.errors import QuestionError
from live_memory.memory.pace import Pace
from live_memory.memory.place import Place
from live_memory.memory.planning import new_batch
from live_memory.notes.arrival import Entry, arrived, says_the_same, stamped
from live_memory.notes.codecs.base import HOME, TREE, Omission
from live_memory.notes.note import GLOBAL, Note
from live_memory.notes.note_json import from_json
from live_memory.settings import Settings
from live_memory.store.note_changes import NoteConflict, key_of
from live_memory.store.note_store import Change, Key, NoteStore, Sieve
from live_memory.text.secrets import redact

logger = logging.getLogger(__name__)

Extent: TypeAlias = Literal["all", "repo", "global", "everything"]
Mode: TypeAlias = Literal["apply", "dry-run"]

PAGE_NOTES = 200
SLICE_MS = 5.0  # of work between two chances for others
MAX_SLICE_NOTES = 100
TRIES = 4  # of a slice that another process gets in the way of
BUT_FACTS = Sieve(but_kinds=["fact"])
MAX_WHERE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Page:
    """Some notes of an export, their scopes as words; `after` is where the next page begins, None after the last."""

    notes: tuple[Note, ...]
    after: Key | None


@dataclass(frozen=True, slots=True)
class Parcel:
    """Some notes of an import, as JSON. `batch` is that of the first parcel, empty in it; `scope` sends them all to one
    place, where it is not empty; `source` names the file in the log."""

    notes: Sequence[Mapping[str, object]]
    batch: str = ""
    scope: Literal["", "repo", "global"] = ""
    source: str = ""
    mode: Mode = "apply"


@dataclass(slots=True)
class Receipt:
    """What became of a parcel; `elsewhere` counts what was written for others than this repository, by their scopes."""

    batch: str
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    omissions: list[Omission] = field(default_factory=list)
    elsewhere: dict[str, int] = field(default_factory=dict)


class Transfer:
    """Exports and imports by place. Owned by one event loop."""

    def __init__(self, store: NoteStore, clock: Clock, settings: Callable[[], Settings]) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings

    async def export(self, place: Place, extent: Extent, after: Key | None) -> Page:
        """The next notes of `extent`, by scope and id; of everything, those of other repositories keep their scopes."""
        words = {place.repo_id: HOME, GLOBAL: GLOBAL, str(place.root): TREE}
        here = {"global": [GLOBAL], "repo": [place.repo_id, str(place.root)]}
        scopes = here.get(extent, [*here["repo"], GLOBAL])
        if extent == "everything":
            scopes = [*dict.fromkeys([*scopes, *self._store.scopes()])]
        shown: list[Note] = []
        pace = self._pace()
        while len(shown) < PAGE_NOTES:
            with pace:
                wanted = min(pace.notes, PAGE_NOTES - len(shown))
                notes = self._store.page(scopes, after, wanted)
                shown += [_leaving(note, words) for note in notes]
            if len(notes) < wanted:
                return Page(tuple(shown), None)
            after = key_of(notes[-1])
            await asyncio.sleep(0)
        return Page(tuple(shown), after)

    async def take(self, place: Place, parcel: Parcel) -> Receipt:
        """Keep the notes of a parcel: those that are not there, and those that are newer than what is there."""
        receipt = Receipt(parcel.batch or new_batch("import"))
        rest = list(parcel.notes)
        room = _Room(self._store, self._settings().notes_max_count)
        pace = self._pace()
        while rest:
            some, rest = rest[: pace.notes], rest[pace.notes :]
            with pace:
                made = self._keep(list(self._arrived(place, some, parcel, receipt)), parcel, receipt, room)
            for scope in (change.key[0] for change in made):
                if scope not in (place.repo_id, str(place.root)):
                    receipt.elsewhere[scope] = receipt.elsewhere.get(scope, 0) + 1
            await asyncio.sleep(0)
        logger.debug("imported batch=%s created=%d updated=%d", receipt.batch, receipt.created, receipt.updated)
        return receipt

    def _pace(self) -> Pace:
        return Pace(self._clock, slice_ms=SLICE_MS, most=MAX_SLICE_NOTES)

    def _arrived(
        self, place: Place, some: Sequence[Mapping[str, object]], parcel: Parcel, receipt: Receipt
    ) -> Iterator[Note]:
        target = {"repo": place.repo_id, "global": GLOBAL}.get(parcel.scope, "")
        scopes = {HOME: target or place.repo_id, GLOBAL: target or GLOBAL, TREE: str(place.root)}
        entry = Entry(scopes, self._settings().note_max_bytes, self._clock.wall_s())
        for fields in some:
            name = fields.get("id")
            try:
                yield arrived(from_json(fields), entry)
            except QuestionError as error:
                where = f"#{name}" if isinstance(name, str) and name else "a note without an id"
                receipt.omissions.append(Omission(redact(where)[:MAX_WHERE_CHARS], redact(str(error)).rstrip(".")))

    def _keep(self, notes: Sequence[Note], parcel: Parcel, receipt: Receipt, room: _Room) -> Sequence[Change]:
        """Keep some notes in one transaction, and look again where another process was quicker; the changes made."""
        for tries_left in reversed(range(TRIES)):
            counted = replace(receipt, omissions=list(receipt.omissions))
            changes = list(self._changes(notes, parcel, counted, room))
            try:
                if parcel.mode == "apply":
                    self._store.apply(changes)
            except NoteConflict:
                if not tries_left:
                    raise
                continue
            room.take(changes)
            receipt.created, receipt.updated, receipt.unchanged = counted.created, counted.updated, counted.unchanged
            receipt.omissions = counted.omissions
            return changes
        return ()

    def _changes(self, notes: Sequence[Note], parcel: Parcel, receipt: Receipt, room: _Room) -> Iterator[Change]:
        now_s = self._clock.wall_s()
        kept = {key_of(note): note for note in self._store.get(map(key_of, notes))}
        reason = f"import of {parcel.source}" if parcel.source else "import"
        coming: list[Note] = []
        for note in notes:
            there = kept.get(key_of(note))
            if there is None and not room.has_for(note, coming):
                receipt.omissions.append(
                    Omission(f"#{note.id}", f"there are {room.most:,} notes already (notes_max_count)")
                )
            elif there is None:
                receipt.created += 1
                kept[key_of(note)] = new = stamped(note, now_s)
                coming.append(new)
                yield Change("import", None, new, now_s, "user", reason, receipt.batch)
            elif says_the_same(there, note):
                receipt.unchanged += 1
            elif note.updated_at_s < there.updated_at_s:
                receipt.omissions.append(Omission(f"#{note.id}", "the one that is here was updated later"))
            else:
                receipt.updated += 1
                kept[key_of(note)] = new = _in_place_of(there, stamped(note, now_s))
                yield Change("import", there, new, now_s, "user", reason, receipt.batch)


class _Room:
    """How many notes each scope may still get; counted once for a parcel."""

    def __init__(self, store: NoteStore, most: int) -> None:
        self.most = most
        self._store = store
        self._counts: dict[str, int] = {}

    def has_for(self, note: Note, coming: Sequence[Note]) -> bool:
        """Whether `note` may come as well, after those that are `coming`."""
        if note.kind == "fact":
            return True
        if note.scope not in self._counts:
            self._counts[note.scope] = self._store.count([note.scope], BUT_FACTS)
        before = sum(each.scope == note.scope and each.kind != "fact" for each in coming)
        return self._counts[note.scope] + before < self.most

    def take(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.before is None and change.after is not None and change.after.kind != "fact":
                self._counts[change.after.scope] = self._counts.get(change.after.scope, 0) + 1


def _in_place_of(there: Note, note: Note) -> Note:
    """`note` as it takes the place of the one that is `there`: it was made when the older of them was, and is used as often
    as both say."""
    made_s = min(there.created_at_s, note.created_at_s)
    uses, used_s = max(there.use_count, note.use_count), max(there.used_at_s, note.used_at_s)
    return replace(note, created_at_s=made_s, use_count=uses, used_at_s=used_s)


def _leaving(note: Note, words: Mapping[str, str]) -> Note:
    """`note` as it may leave: its scope a word, and without secrets that the store may still hold."""
    scope = words.get(note.scope, note.scope)
    title, description, body = map(redact, (note.title, note.description, note.body))
    sources = {redact(path): held for path, held in note.sources.items()}
    symbols = tuple(map(redact, note.symbols))
    left = replace(note, scope=scope, title=title, description=description, body=body)
    return replace(left, sources=sources, symbols=symbols)
