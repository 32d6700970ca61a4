"""A repository with notes, and the dreams of a server over it: the store is forgotten with the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent.scene import no_wait
from memory.notes_scene import REPO, NotesScene

from live_memory import wiring
from live_memory.agent.background import Background, Seats
from live_memory.agent.explorers import Threads
from live_memory.agent.seat import Models, ModelSeat
from live_memory.agent.spend import Spend
from live_memory.llm.base import Model
from live_memory.llm.choice import Choice
from live_memory.llm.retry import Backoff
from live_memory.llm.scripted import ScriptedModel, Step
from live_memory.memory.dream.runner import DreamBench, Dreams, Mode
from live_memory.memory.place import Identities, Places
from live_memory.notes.note import Note, new_fact
from live_memory.notes.note_json import to_json
from live_memory.settings import Settings
from live_memory.store.base import Store
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.note_store import Change
from live_memory.store.transcript_queue import Sighting

NO_DIGEST = "0" * 64


@dataclass(slots=True)
class DreamScene:
    """`script` is the model's, none without; `put` keeps a note as it is, whatever the notebook would make of it."""

    folder: Path
    script: tuple[Step, ...] = ()
    store: Store = field(default_factory=InMemoryStore)
    settings: Settings = field(default_factory=Settings)
    notes: NotesScene = field(init=False)
    seat: ModelSeat = field(init=False)
    dreams: Dreams = field(init=False)
    spend: Spend = field(init=False)
    threads: Threads = field(init=False)

    def __post_init__(self) -> None:
        self.notes = NotesScene(self.folder, self.store.note_store)
        model: Model | None = ScriptedModel(self.script) if self.script else None
        choice = Choice("openai" if model else "passages", "", "scripted", "scripted-1")
        backoff = Backoff(max_attempts=1, sleep=no_wait)
        self.seat = ModelSeat(choice, "", model, self.settings, None, backoff)
        self.spend = Spend(self.store, self.notes.clock)
        self.spend.note_client()
        self.threads = Threads(2)
        self.dreams = self.server()

    def server(self) -> Dreams:
        """The dreams of one more server over the same store."""
        models = Models(lambda _configuration, _now_s: self.seat.choice, lambda _choice: ScriptedModel(), None)
        background = Background(Seats(lambda: self.seat, self._seat), models, self.spend, self.store)
        means = wiring.means(self.store, self.threads, background)
        identities = Identities(lambda _root: REPO, lambda _root, _repo_id: True)
        places = Places(self._root, identities, self.threads, self.store.note_store, self.notes.clock)
        return Dreams(DreamBench(self.store, means, self.notes.clock), places)

    def set(self, **changes: Any) -> None:
        self.seat.settings = replace(self.seat.settings, **changes)

    def file(self, path: str, text: str) -> None:
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def put(self, note_id: str, body: str, title: str = "", **fields: Any) -> Note:
        """Keep a note of that id, a second after the last one."""
        self.notes.clock.advance(1.0)
        now_s = self.notes.clock.wall_s()
        stamps = dict.fromkeys(("created_at_s", "updated_at_s", "verified_at_s"), now_s)
        note = Note(
            **{
                "scope": REPO,
                "id": note_id,
                "kind": "project",
                "title": title or note_id,
                "body": body,
                **stamps,
                **fields,
            }
        )
        self.store.note_store.apply([Change("create", None, note, now_s, "user")])
        return note

    def fact(self, text: str, path: str, sha256: str = NO_DIGEST) -> str:
        """A fact of the tree that rests on a file, demoted; its id."""
        fact = new_fact(text, {path: sha256}, self.notes.clock.wall_s())
        self.store.notes.add(str(self.folder), [fact])
        self.store.notes.demote(str(self.folder), path, "1" * 64)
        return fact.id

    def session(self, name: str) -> None:
        """A session that has ended just now."""
        now_s = self.notes.clock.wall_s()
        self.store.transcripts.see(Sighting(name, f"/t/{name}.jsonl", str(self.folder), REPO, 10, True, now_s))

    async def dream(self, mode: Mode = "force") -> dict[str, Any]:
        return await self.dreams.dream(str(self.folder), mode)

    async def counts(self, mode: Mode = "force") -> dict[str, int]:
        """How often a dream did what."""
        answer = await self.dream(mode)
        assert answer["state"] == "done", answer
        counts: dict[str, int] = answer["report"]["counts"]
        return counts

    def note(self, note_id: str, scope: str = REPO) -> Note | None:
        return next(iter(self.store.note_store.get([(scope, note_id)])), None)

    def kept(self, note_id: str, scope: str = REPO) -> Note:
        """The note, which is there."""
        found = self.note(note_id, scope)
        assert found is not None
        return found

    def bytes(self) -> str:
        """All that is kept, facts and log aside, to the byte."""
        scopes = (REPO, "global", str(self.folder))
        notes = self.store.note_store.page(scopes, None, 100_000)
        return "\n".join(json.dumps(to_json(note), sort_keys=True) for note in notes)

    async def _seat(self) -> ModelSeat:
        return self.seat

    async def _root(self, _cwd: str) -> Path:
        return self.folder

    async def close(self) -> None:
        await self.dreams.close()
        self.threads.close()
        self.notes.close()


Scenes = Callable[..., DreamScene]
