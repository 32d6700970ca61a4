"""Whatever keeps a use from being counted, notes are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory.notes_scene import REPO, NotesScene

from live_memory.memory.search import Search, SearchQuery
from live_memory.store.sqlite import SqliteStore


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[NotesScene, sqlite3.Connection]]:
    monkeypatch.setattr("live_memory.store.database.BUSY_TIMEOUT_S", 0.01)
    store = SqliteStore(tmp_path / "live-memory.db")
    scene = NotesScene(tmp_path, store.note_store)
    other = sqlite3.connect(tmp_path / "live-memory.db", isolation_level=None)
    yield scene, other
    other.close()
    scene.close()
    store.close()


async def test_a_locked_database_is_searched(locked: tuple[NotesScene, sqlite3.Connection]) -> None:
    scene, other = locked
    note = (await scene.save("Axolotl buffer", "It is flushed every 40 ms.")).note
    search = Search(scene.store, scene.clock, lambda: scene.settings)
    other.execute("BEGIN IMMEDIATE")
    (hit,) = await search.find(scene.place, SearchQuery("axolotl"))
    scene.notebook.touch([(REPO, note.id)])
    assert hit.note == note == scene.note(note.id)
    other.execute("ROLLBACK")
    scene.notebook.touch([(REPO, note.id)])
    assert scene.note(note.id).use_count == 1
