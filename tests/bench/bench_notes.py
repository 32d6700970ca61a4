"""Eight sessions that save and search at once for 60 s, beside questions, compaction and a kill; and one that does so alone.

The baseline is the same server with one session: what the others' company costs.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.table import Row, median, percentile
from e2e.note_siege import COMPACTED, SESSIONS, Outcome, besieged

from live_memory.agent.explorers import Threads
from live_memory.clock import SystemClock
from live_memory.memory.notebook import Notebook
from live_memory.memory.place import Place
from live_memory.notes.draft import Draft
from live_memory.settings import Settings
from live_memory.store.sqlite import SqliteStore
from live_memory.wiring import explorers

SIEGE_S, ALONE_S = 60.0, 10.0
SAVES = 200
SIZES = (1_000, 10_000)


def run() -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, sessions, seconds in (("one session", 1, ALONE_S), (f"{SESSIONS} sessions", SESSIONS, SIEGE_S)):
            rows += _rows(name, seconds, besieged(Path(folder) / name.replace(" ", "-"), seconds, sessions))
        for size in SIZES:
            rows.append(asyncio.run(_saving(Path(folder) / f"{size}.db", size)))
    return rows


def _rows(name: str, seconds: float, outcome: Outcome) -> Iterator[Row]:
    told = outcome.told
    what = f"{name}, {seconds:.0f} s beside questions, killed once"
    lost = f"{len(outcome.lost)} lost, {len(told.troubles)} troubles, integrity {outcome.integrity}"
    counts = f"{len(told.save_s)} saves, {len(told.search_s)} searches, {told.answers} answers"
    yield Row(
        f"{what}: {counts}, {outcome.log.count(COMPACTED)} compactions",
        lost,
        target="nothing lost",
        is_met=not outcome.lost and not told.troubles and outcome.integrity == "ok",
    )
    for verb, took_s in (("saved", told.save_s), ("found", told.search_s)):
        took_ms = [seconds * 1000 for seconds in took_s]
        yield Row(f"{what}: {verb}, p50 / p95", f"{median(took_ms):.1f} / {percentile(took_ms, 0.95):.1f} ms")


async def _saving(path: Path, size: int) -> Row:
    """What the notebook itself takes for a save, with the look for the same said before, in a store that is full."""
    store, threads = SqliteStore(path), Threads(2)
    notebook = Notebook(store.note_store, SystemClock(), Settings, threads, explorers().look_at)
    place = Place(path.parent, "git:example.com/bench/repo")

    async def save(number: int) -> float:
        began_s = time.perf_counter()
        word = f"w{number}"
        body = (
            f"The word {word} stands in module {word}.py, beside step{number % 97} and part{number % 31} of the whole."
        )
        await notebook.save(place, Draft(f"What {word} is for", body))
        return (time.perf_counter() - began_s) * 1000

    for number in range(size):
        await save(number)
    took_ms = [await save(size + number) for number in range(SAVES)]
    threads.close()
    store.close()
    return Row(
        f"the notebook alone, {size} notes: saved, p50 / p95",
        f"{median(took_ms):.1f} / {percentile(took_ms, 0.95):.1f} ms",
    )
