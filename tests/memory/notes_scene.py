"""A notebook over a store that is forgotten with the test, in a folder of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from live_memory.agent.explorers import FileSight, Threads
from live_memory.clock import ManualClock
from live_memory.explore import held_files
from live_memory.memory.notebook import Notebook, Saved
from live_memory.memory.place import Place
from live_memory.notes.draft import Draft
from live_memory.notes.note import Note
from live_memory.settings import Settings
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.note_store import NoteStore

REPO = "git:example.com/owner/name"


def look_at(root: Path, path: str) -> FileSight:
    return FileSight(held_files.stamp(root, path, 1 << 20), 1)


class NotesScene:
    """`save` takes a Draft's fields; the clock moves a second with each save."""

    def __init__(self, root: Path, store: NoteStore | None = None) -> None:
        self.store = store or InMemoryStore().note_store
        self.clock, self.threads, self.settings = ManualClock(), Threads(1), Settings()
        self.place = Place(root, REPO)
        self.notebook = Notebook(self.store, self.clock, lambda: self.settings, self.threads, look_at)

    async def save(self, title: str, body: str, actor: str = "claude", **fields: Any) -> Saved:
        self.clock.advance(1.0)
        return await self.notebook.save(self.place, Draft(title, body, **fields), actor)

    def note(self, note_id: str, scope: str = REPO) -> Note:
        (found,) = self.store.get([(scope, note_id)])
        return found

    def notes(self) -> tuple[Note, ...]:
        return self.store.notes(self.place.scopes)

    def set(self, **changes: Any) -> None:
        self.settings = replace(self.settings, **changes)

    def close(self) -> None:
        self.threads.close()
