"""What a save does to the store: which note it makes or changes, and which ones give way to it. Synchronous, from the look at
the store to the plan; nothing here writes."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from live_memory.errors import QuestionError
from live_memory.memory.place import Place
from live_memory.memory.twins import twin_of
from live_memory.notes.draft import Draft
from live_memory.notes.note import GLOBAL, Note
from live_memory.notes.slugs import free_id, slug
from live_memory.notes.writing import Findings, created, merged, updated
from live_memory.store.note_changes import key_of
from live_memory.store.note_store import Change, NoteStore

Deed = Literal["create", "merge", "update"]
TOKEN_BYTES = 6


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes of a save, that of the note itself first, and what whoever saves should know."""

    changes: tuple[Change, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Meant:
    deed: Deed
    before: Note | None
    after: Note
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Planning:
    """Saves planned on what `store` holds; a scope takes no more than `max_count` notes."""

    store: NoteStore
    max_count: int

    def plan(self, place: Place, draft: Draft, findings: Findings, actor: str) -> Plan:
        """What to write so that `draft` is kept. QuestionError where it names no note and makes none, takes the place of its
        own successor, or is one too many."""
        old = self.named(place, draft)
        if old is not None:
            meant = _Meant("update", old, updated(old, draft, findings))
        else:
            meant = self._added(place, draft, findings)
        replaced, remarks = self._replaced(place, meant.after, draft.supersedes)
        batch = new_batch("save") if replaced else ""
        now_s, reason = findings.now_s, f"replaced by #{meant.after.id}"
        giving_way = [
            Change(
                "supersede", note, replace(note, status="superseded", updated_at_s=now_s), now_s, actor, reason, batch
            )
            for note in replaced
        ]
        own = Change(meant.deed, meant.before, meant.after, now_s, actor, batch=batch)
        return Plan((own, *giving_way), (*meant.remarks, *remarks))

    def named(self, place: Place, draft: Draft) -> Note | None:
        """The note that the draft's id names: one of the scope that it names, else one of the repository, else a global one."""
        scopes = (_scope_of(place, draft),) if draft.scope else place.scopes
        return next(iter(self.store.get([(scope, draft.id) for scope in scopes])), None) if draft.id else None

    def is_taken(self, place: Place, note_id: str) -> bool:
        """Whether a note that is seen from `place` bears that id."""
        return bool(self.store.get([(scope, note_id) for scope in place.scopes]))

    def _added(self, place: Place, draft: Draft, findings: Findings) -> _Meant:
        if not (draft.title and draft.body):
            sentence = f"There is no note #{draft.id}: a new one needs a title and a body."
            raise QuestionError("no-note", sentence, status=404)
        scope, wanted = _scope_of(place, draft), draft.id or slug(draft.title)
        name = draft.id or free_id(draft.title, lambda each: self.is_taken(place, each))
        new = created(draft, scope, name, findings)
        twin = None if draft.id else twin_of(self.store, new, new.created_at_s)
        if twin is not None:
            return _Meant("merge", twin, merged(twin, new), (f"#{twin.id} says it already; the two are one now.",))
        if self.store.vocabulary([scope], ()).notes >= self.max_count:  # known without a count of them all
            raise QuestionError(
                "too-many-notes",
                f"There are {self.max_count:,} notes here already, as many as notes_max_count allows: forget some, or "
                "raise it.",
                status=409,
            )
        namesake = f"#{wanted} bears the same name and says something else; pass its id to change it."
        return _Meant("create", None, new, () if name == wanted else (namesake,))

    def _replaced(self, place: Place, note: Note, ids: Sequence[str]) -> tuple[tuple[Note, ...], tuple[str, ...]]:
        """The notes in force that `note` takes the place of, and what there is to say of the other ids."""
        replaced, remarks = [], []
        for each in ids:
            kept = self.store.get([(scope, each) for scope in dict.fromkeys((note.scope, *place.scopes))])[:1]
            if each == note.id or (kept and key_of(kept[0]) == key_of(note)):
                remarks.append("A note does not take its own place.")
            elif not kept:
                remarks.append(f"There is no note #{each} that it could take the place of.")
            elif self._comes_after(place, kept[0], note):
                sentence = f"#{each} took the place of #{note.id}: a note cannot replace its successor."
                raise QuestionError("bad-note", sentence)
            elif kept[0].status != "superseded":
                replaced.append(kept[0])
        return tuple(replaced), tuple(remarks)

    def _comes_after(self, place: Place, later: Note, earlier: Note) -> bool:
        """Whether `earlier` is among those that `later` took the place of, directly or not."""
        seen, wave = {later.id}, list(later.supersedes)
        while wave:
            if earlier.id in wave:
                return True
            seen.update(wave)
            notes = self.store.get([(scope, each) for each in wave for scope in place.scopes])
            wave = [each for note in notes for each in note.supersedes if each not in seen]
        return False


def new_batch(name: str) -> str:
    """A name for changes that belong together, of which there is no other."""
    return f"{name}-{secrets.token_hex(TOKEN_BYTES)}"


def _scope_of(place: Place, draft: Draft) -> str:
    return GLOBAL if draft.scope == GLOBAL else place.repo_id
