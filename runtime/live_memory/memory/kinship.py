"""What notes have in common with a prompt in words and in meaning, and how much of that is chance in this store."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import replace

from live_memory.clock import Clock
from live_memory.memory.calibration import SIEVE, Calibration, Chance, Scopes
from live_memory.memory.finding import Finder, Found
from live_memory.memory.semantic import Semantic
from live_memory.notes.gate import NO_EVIDENCE, Evidence, evidence_of
from live_memory.notes.note import Note
from live_memory.notes.query import query_of
from live_memory.notes.ranking import Ranked
from live_memory.store.note_store import Key, NoteStore, Sieve

Seen = list[tuple[Ranked, Evidence]]
COMPARED = 6


class Kinship:
    """The evidence of words with that of meaning beside it."""

    def __init__(self, store: NoteStore, clock: Clock, semantic: Semantic) -> None:
        self.semantic = semantic
        self._store = store
        self._calibration = Calibration(store, clock, self._chance_of)
        self._model = ""

    def seen(self, found: Found, near: Mapping[Key, float], sieve: Sieve, limit: int) -> Seen:
        """The best notes by words and the nearest that pass, `limit` of each at most; those with the most of both first."""
        best = {(each.note.scope, each.note.id): each for each in found.ranked}
        nearest = heapq.nlargest(limit, near, key=lambda key: near[key])
        unknown = [key for key in nearest if key not in best]
        keys = dict.fromkeys((*list(best)[:limit], *(key for key in nearest if key in best)))
        shown = [best[key] for key in keys]
        shown += [Ranked(note, 0.0) for note in self._store.get(unknown) if _passes(note, sieve)]
        seen = []
        for each in shown:
            evidence = evidence_of(found.query, each, found.vocabulary) if each.score else NO_EVIDENCE
            seen.append((each, replace(evidence, nearness=near.get((each.note.scope, each.note.id), 0.0))))
        return sorted(seen, key=lambda pair: -pair[1].fused)

    def chance(self, scopes: Scopes, notes: int) -> Chance:
        """What is known of chance in these scopes; another model's findings are forgotten."""
        if self._model != self.semantic.model:
            self._model = self.semantic.model
            self._calibration.forget()
        return self._calibration.chance(scopes, notes)

    async def settled(self) -> None:
        await self._calibration.settled()

    async def close(self) -> None:
        await self._calibration.close()

    def _chance_of(self, scopes: Scopes, note: Note) -> float:
        """The most that a note's title, and what it means, has in common with other notes, those beside it excepted."""
        key = (note.scope, note.id)
        near = self.semantic.near_note(key, scopes) or {}
        found = Finder(self._store).find(scopes, query_of(note.title), SIEVE)
        seen = self.seen(found, near, SIEVE, COMPARED)
        beside = {note.id, *note.refs, *note.supersedes}
        others = [
            evidence.fused
            for each, evidence in seen
            if each.note.id not in beside and note.id not in (*each.note.refs, *each.note.supersedes)
        ]
        return max(others, default=0.0)


def _passes(note: Note, sieve: Sieve) -> bool:
    """Whether a note that no index was asked for may be shown, as far as recall narrows."""
    return not (
        note.kind in sieve.but_kinds
        or note.status in sieve.but_statuses
        or (sieve.alive_at_s is not None and note.is_expired(sieve.alive_at_s))
    )
