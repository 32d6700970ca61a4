"""Whether a note's files are still what they were."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from live_memory.agent.explorers import FileSight, Threads
from live_memory.explore import held_files
from live_memory.memory.place import Place
from live_memory.memory.provenance import Provenance
from live_memory.notes.note import GLOBAL, Note


def look_at(root: Path, path: str) -> FileSight:
    return FileSight(held_files.stamp(root, path, 1 << 20), 1)


@pytest.fixture
def threads() -> Iterator[Threads]:
    pool = Threads(1)
    yield pool
    pool.close()


def note(name: str, *files: str, text: str = "a", scope: str = "git:x") -> Note:
    digest = sha256(text.encode()).hexdigest()
    return Note(scope, name, "project", name, name, sources=dict.fromkeys(files, digest))


async def test_a_note_says_whether_its_files_are_what_they_were(threads: Threads, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a")
    (tmp_path / "b.py").write_text("b")
    (tmp_path / ".env").write_text("a")
    notes = [
        note("fresh", "a.py"),
        note("stale", "a.py", "b.py"),
        note("gone", "b.py", "c.py"),
        note("none"),
        note("secret", ".env", "a.py"),
        note("everywhere", "c.py", scope=GLOBAL),
    ]
    states = await Provenance(threads, look_at, held_files.is_gone).states(notes, Place(tmp_path, "git:x"))
    assert states == {"fresh": "FRESH", "stale": "STALE", "gone": "GONE", "none": "", "secret": "", "everywhere": ""}


async def test_a_fact_rests_on_the_files_of_the_tree_that_it_was_learned_in(threads: Threads, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("a")
    fact = Note(str(other), "fact-1", "fact", "", "x", sources=note("x", "a.py").sources)
    states = await Provenance(threads, look_at, held_files.is_gone).states([fact], Place(tmp_path, "git:x"))
    assert states == {"fact-1": "FRESH"}


async def test_what_cannot_be_told_in_time_is_left_open(threads: Threads, tmp_path: Path) -> None:
    ended = threading.Event()

    def slow(root: Path, path: str) -> FileSight:
        if path == "slow.py":
            ended.wait(5.0)
        return look_at(root, path)

    (tmp_path / "a.py").write_text("a")
    notes = [note("quick", "a.py"), note("slow", "slow.py")]
    states = await Provenance(threads, slow, held_files.is_gone).states(notes, Place(tmp_path, "git:x"), within_s=0.05)
    ended.set()
    assert states == {"quick": "FRESH", "slow": ""}
