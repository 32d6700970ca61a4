"""`kill -9` in the middle of dreams: no merge is half made, the run is gone on with, and one undo takes all of it back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import dreamt_notes, dying_dream
from support.dreamt_notes import fill
from support.made_notes import REPO, made

from live_memory.agent.explorers import Threads
from live_memory.notes.note_json import to_json
from live_memory.store.sqlite import SqliteStore

NOTES = 200
KILLS = ((1, "AMID"), (2, "AFTER"), (5, "AMID"), (3, "AFTER"), (2, "AMID"), (1, "AFTER"))
TIMEOUT_S = 60.0


def dream(database: Path, tree: Path, write: int = 0, occasion: str = "AFTER") -> subprocess.CompletedProcess[str]:
    words = [sys.executable, dying_dream.__file__, str(database), str(tree), str(write), occasion]
    return subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def kept(store: SqliteStore) -> list[str]:
    notes = store.note_store.page([REPO], None, 10_000)
    return [json.dumps(to_json(note), sort_keys=True) for note in notes]


def said(store: SqliteStore) -> dict[str, tuple[Any, ...]]:
    """The notes without their stamps."""
    notes = store.note_store.page([REPO], None, 10_000)
    return {note.id: (note.status, note.body, note.refs, note.supersedes) for note in notes}


async def test_a_dream_that_is_killed_over_and_over_ends_as_one_that_was_not(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    planted = made(NOTES, tree)
    stores = {name: SqliteStore(tmp_path / f"{name}.db") for name in ("killed", "whole")}
    for store in stores.values():
        fill(store, planted.notes)
    before = kept(stores["killed"])
    whole = json.loads(dream(tmp_path / "whole.db", tree).stdout)
    for write, occasion in KILLS:
        died = dream(tmp_path / "killed.db", tree, write, occasion)
        assert died.returncode == -signal.SIGKILL, died.stderr
        assert dreamt_notes.lost(planted, stores["killed"]) == []
    ended = json.loads(dream(tmp_path / "killed.db", tree).stdout)
    assert ended["state"] == whole["state"] == "done"
    assert said(stores["killed"]) == said(stores["whole"])
    batches = {change.batch for change in stores["killed"].note_store.log([REPO], 10_000) if change.actor == "dream"}
    assert batches == {ended["batch"]}
    threads = Threads(2)
    await dreamt_notes.dreams_over(stores["killed"], tree, threads).dream(str(tree), "undo")
    assert kept(stores["killed"]) == before
    threads.close()
    for store in stores.values():
        store.close()
