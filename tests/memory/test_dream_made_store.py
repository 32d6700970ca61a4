"""A dream over a small made store: every check finds what was planted and nothing else. The large one is a bench."""

from __future__ import annotations

from pathlib import Path

from support.dreamt_notes import Score, dreams_over, fill, lost, scores
from support.made_notes import made

from live_memory.agent.explorers import Threads
from live_memory.clock import ManualClock
from live_memory.store.in_memory import InMemoryStore

NOTES = 250
WANTED = {"dead code": 6, "contradiction": 6, "near-duplicate": 4, "expiry": 4}


async def test_what_is_planted_is_found_and_nothing_else(tmp_path: Path) -> None:
    planted, store, threads = made(NOTES, tmp_path), InMemoryStore(), Threads(2)
    fill(store, planted.notes)
    dreams = dreams_over(store, tmp_path, threads, ManualClock())
    answer = await dreams.dream(str(tmp_path), "force")
    report = answer["report"]
    assert isinstance(report, dict)
    found = scores(planted, store.note_store.batch(str(answer["batch"]), 10_000), report)
    assert found == {check: Score(count, 0, count) for check, count in WANTED.items()}
    assert lost(planted, store) == []
    threads.close()
