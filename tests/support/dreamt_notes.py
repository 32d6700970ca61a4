"""What a dream made of a made store, check by check: how much of what was planted was found, and what was found beside it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.made_notes import NOW_S, REPO, Made

from live_memory import wiring
from live_memory.agent.background import Background, Seats
from live_memory.agent.explorers import Threads
from live_memory.agent.seat import Models, ModelSeat
from live_memory.agent.spend import Spend
from live_memory.clock import Clock, SystemClock
from live_memory.llm.choice import Choice
from live_memory.llm.retry import DEFAULT_BACKOFF
from live_memory.llm.scripted import ScriptedModel
from live_memory.memory.dream.runner import DreamBench, Dreams
from live_memory.memory.place import Identities, Places
from live_memory.notes.note import Note
from live_memory.settings import Settings
from live_memory.store.base import Store
from live_memory.store.note_store import Change

SLICE_NOTES = 500


@dataclass(frozen=True, slots=True)
class MadeClock:
    """The made store's present, going on with the system's time."""

    system: SystemClock = field(default_factory=SystemClock)
    began_s: float = field(default_factory=time.time)

    def monotonic_s(self) -> float:
        return self.system.monotonic_s()

    def wall_s(self) -> float:
        return NOW_S + self.system.wall_s() - self.began_s


@dataclass(frozen=True, slots=True)
class Score:
    """Of one check."""

    found: int
    wrong: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.found / (self.found + self.wrong) if self.found + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.wanted if self.wanted else 1.0


def fill(store: Store, notes: Iterable[Note]) -> None:
    """Keep the notes, as if they had been saved."""
    pending = [Change("create", None, note, note.created_at_s, "claude") for note in notes]
    for start in range(0, len(pending), SLICE_NOTES):
        store.note_store.apply(pending[start : start + SLICE_NOTES])


def dreams_over(store: Store, root: Path, threads: Threads, clock: Clock | None = None) -> Dreams:
    """A server's dreams, without a model, over a store and a tree."""
    clock = clock or MadeClock()
    choice = Choice("passages", "", "", "")
    seat = ModelSeat(choice, "", None, Settings(), None, DEFAULT_BACKOFF)

    async def current() -> ModelSeat:
        return seat

    async def locate(_cwd: str) -> Path:
        return root

    models = Models(lambda _configuration, _now_s: choice, lambda _choice: ScriptedModel())
    background = Background(Seats(lambda: seat, current), models, Spend(store, clock), store)
    identities = Identities(lambda _root: REPO, lambda _root, _repo_id: True)
    places = Places(locate, identities, threads, store.note_store, clock)
    return Dreams(DreamBench(store, wiring.means(store, threads, background), clock), places, answer_s=600.0)


def scores(made: Made, changes: Iterable[Change], report: Mapping[str, Any]) -> dict[str, Score]:
    """By check. Of a chain of merges each link counts."""
    changes = tuple(changes)
    disputes = {
        frozenset((c.key[1], ref))
        for c in changes
        if c.action == "dispute" and c.before and c.after
        for ref in set(c.after.refs) - set(c.before.refs)
    }
    merges = {
        frozenset((c.key[1], gone))
        for c in changes
        if c.action == "merge" and c.before and c.after
        for gone in set(c.after.supersedes) - set(c.before.supersedes)
        if c.reason.endswith(f"as #{c.key[1]}")
    }
    expiries = [c for c in changes if c.action == "expire"]
    dead = {c.key[1] for c in expiries if c.reason.startswith("gone from the code")}
    dead |= {each["ids"][0] for each in report["listed"].get("doubtful", ())}
    over = {c.key[1] for c in expiries if c.after is None and c.reason == "it expired"} - dead
    found: dict[str, set[Any]] = {
        "dead code": dead,
        "contradiction": disputes,
        "near-duplicate": merges,
        "expiry": over,
    }
    return {check: _score(made, check, each) for check, each in found.items()}


def lost(made: Made, store: Store) -> list[str]:
    """The ids of true notes whose words no note has any more."""
    doomed = set(made.wanted.get("dead code", ())) | set(made.wanted.get("expiry", ()))
    kept = store.note_store.page([REPO], None, 1_000_000)
    by_id = {note.id: note for note in kept}
    heirs = {gone: note for note in kept for gone in note.supersedes}
    return [
        note.id
        for note in made.notes
        if note.id not in doomed and not _is_said(note, by_id.get(note.id) or heirs.get(note.id))
    ]


def _is_said(note: Note, kept: Note | None) -> bool:
    if kept is None:
        return False
    words = {word.strip(".,`-:;") for word in f"{note.body}".lower().split()}
    return words <= {word.strip(".,`-:;") for word in f"{kept.title} {kept.body}".lower().split()}


def _score(made: Made, check: str, found: set[Any]) -> Score:
    wanted = {frozenset(each) if isinstance(each, tuple) else each for each in made.wanted.get(check, set())}
    return Score(len(found & wanted), len(found - wanted), len(wanted))
