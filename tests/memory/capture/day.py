"""Sessions of one repository, told to a queue, distilled by a scripted model, kept in a notebook: all in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent.scene import no_wait
from memory.capture.scripts import Script
from memory.notes_scene import REPO, NotesScene

from live_memory.agent.background import Background, Seats
from live_memory.agent.explorers import Threads
from live_memory.agent.seat import Models, ModelSeat
from live_memory.agent.spend import Spend
from live_memory.llm.base import CompletionRequest, Model
from live_memory.llm.choice import Choice
from live_memory.llm.retry import Backoff
from live_memory.llm.scripted import ScriptedModel, Step
from live_memory.memory.capture.distiller import Bench
from live_memory.memory.capture.keeping import Keeping
from live_memory.memory.capture.reports import SessionEvent, SessionReport
from live_memory.memory.capture.runner import Capture
from live_memory.memory.place import Identities, Places
from live_memory.notes.note import Note
from live_memory.settings import Settings
from live_memory.store.base import Store
from live_memory.store.in_memory import InMemoryStore
from live_memory.window.messages import Text

FILLER = "We looked at the matter from all sides and said so at some length. " * 8


def note(kind: str, title: str, evidence: str, **more: Any) -> dict[str, Any]:
    """A proposed note."""
    return {
        "kind": kind,
        "title": title,
        "description": "d",
        "body": f"{title}.",
        "evidence": evidence,
        "files": [],
        **more,
    }


def reply(*notes: Mapping[str, Any], topic: str = "", done: tuple[str, ...] = (), open_: tuple[str, ...] = ()) -> str:
    """A model's reply."""
    return json.dumps({"notes": notes, "session": {"topic": topic, "done": done, "open": open_}}, ensure_ascii=False)


def sent(request: CompletionRequest) -> str:
    """All that a request shows."""
    return "\n".join(block.text for turn in request.prompt.turns for block in turn.blocks if isinstance(block, Text))


@dataclass(slots=True)
class Day:
    """`script` is the model's; `store` may be one that outlives this server."""

    folder: Path
    script: tuple[Step, ...] = ()
    store: Store = field(default_factory=InMemoryStore)
    settings: Settings = field(default_factory=lambda: Settings(capture_backoff_s=30))
    now_s: float = 1_800_000_000.0
    model: Model | None = None
    contradiction: Callable[[Note, Note], str] | None = None
    notes: NotesScene = field(init=False)
    seat: ModelSeat = field(init=False)
    spend: Spend = field(init=False)
    capture: Capture = field(init=False)
    threads: Threads = field(init=False)

    def __post_init__(self) -> None:
        self.notes = NotesScene(self.folder, self.store.note_store)
        self.notes.clock.now_s = self.now_s
        clock = self.notes.clock
        if self.model is None and self.script:
            self.model = ScriptedModel(self.script)
        choice = Choice("openai" if self.model else "passages", "", "scripted", "scripted-1")
        backoff = Backoff(max_attempts=1, sleep=no_wait)
        self.seat = ModelSeat(choice, "", self.model, self.settings, None, backoff)
        self.spend = Spend(self.store, clock)
        self.spend.note_client()
        models = Models(
            lambda _configuration, _now_s: choice, lambda _choice: self.model or ScriptedModel(), None, backoff
        )
        background = Background(Seats(lambda: self.seat, self._seat), models, self.spend, self.store)
        self.threads = Threads(2)
        kept = {"contradiction": self.contradiction} if self.contradiction else {}
        keeping = Keeping(self.notes.notebook, self.store.note_store, clock, **kept)
        bench = Bench(self.store.transcripts, keeping, background, self.threads, clock)
        identities = Identities(lambda _root: REPO, lambda _root, _repo_id: True)
        places = Places(self._root, identities, self.threads, self.store.note_store, clock)
        self.capture = Capture(bench, places)

    async def _seat(self) -> ModelSeat:
        return self.seat

    async def _root(self, _cwd: str) -> Path:
        return self.folder

    def set(self, **changes: Any) -> None:
        self.seat.settings = replace(self.seat.settings, **changes)

    def session(self, name: str) -> Script:
        """A transcript of that name, empty at first."""
        return Script(self.folder / f"{name}.jsonl")

    async def tell(self, script: Script, event: SessionEvent = "session-end", client_pid: int = 0) -> None:
        """A hook's report."""
        size_bytes = script.size_bytes if script.path.exists() else 0
        path = str(script.path)
        report = SessionReport(str(self.folder), script.path.stem, event, path, size_bytes, client_pid=client_pid)
        await self.capture.report(report)

    async def look(self) -> int:
        return await self.capture.look()

    def requests(self) -> list[CompletionRequest]:
        assert isinstance(self.model, ScriptedModel)
        return self.model.requests

    def kept(self) -> dict[str, Note]:
        """The notes by title, but the sessions' own."""
        return {each.title: each for each in self.notes.notes() if each.kind != "session"}

    def sessions(self) -> list[Note]:
        return [each for each in self.notes.notes() if each.kind == "session"]

    def close(self) -> None:
        with suppress(RuntimeError):
            self.threads.close()
            self.notes.close()


def talk(script: Script, *words: str) -> Script:
    """A session in which the user says `words`, one prompt each, and Claude answers at length."""
    for each in words:
        script.user(each).claude(FILLER)
    return script


WORDS = "We keep sessions in Redis because they must be revocable."
OTHER = "Deploys go out on Tuesdays from main only."
DECISION = note("decision", "Sessions live in Redis", WORDS)
SECOND = note("decision", "Deploys are on Tuesdays", OTHER)
Made = Callable[..., Day]
