"""What meaning adds to words: search and recall with `semantic` off and on, on the half of the project's own set that was not
tuned on; what it takes. Installs the extra under build/ from the package index, and says so where it cannot."""

from __future__ import annotations

import asyncio
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.bench_recall import ASKED, KINDS, MAX_FALSE_RATIO, TOP, NoStates, Shown, Tally
from bench.recall_cases import AT_S, Case, all_notes, cases, projects
from bench.table import Row, percentile

from live_memory.agent.explorers import Threads
from live_memory.clock import ManualClock
from live_memory.embed.extra import SemanticExtra
from live_memory.embed.local import LocalEmbedder
from live_memory.memory.embedding import EmbeddingError
from live_memory.memory.meaning import Meaning, Source
from live_memory.memory.nearest import Nearest
from live_memory.memory.place import Place
from live_memory.memory.recall import Recall
from live_memory.memory.search import Search, SearchQuery
from live_memory.notes.vectors import signs, unit
from live_memory.settings import Settings
from live_memory.store.note_store import Change, NoteStore
from live_memory.store.note_vectors import Signed
from live_memory.store.sqlite import SqliteStore
from live_memory.text.tokens import estimate_tokens

BUILD = Path(__file__).resolve().parents[2] / "build"
ON = Settings(semantic="local")
MANY = 100_000
ASKED_OFTEN = 20


def run() -> list[Row]:
    before_mb = _peak_mb()
    packages = SemanticExtra(BUILD)
    BUILD.mkdir(exist_ok=True)
    embedder = LocalEmbedder(packages)
    try:
        embedder.prepare()
    except EmbeddingError as error:
        return [Row("search by meaning", f"not measured: {error}")]
    memory = Row("memory that the local model takes", f"{_peak_mb() - before_mb:.0f} MB", "", "≤ 200 MB")
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "notes.db")
        store.note_store.apply([Change("create", None, note, AT_S, "bench") for note in all_notes()])
        return [memory, *asyncio.run(_rows(store, embedder)), _nearest()]


async def _rows(store: SqliteStore, embedder: LocalEmbedder) -> list[Row]:
    meaning = Meaning(Source(lambda _: embedder, store.note_vectors, Threads(2)), lambda: ON, ManualClock(AT_S))
    began_s = time.perf_counter()
    await meaning.step()
    ms = (time.perf_counter() - began_s) * 1000 / len(all_notes())
    rows = [Row("vectors of notes, in the background", f"{ms:.1f} ms a note", f"{len(all_notes())} notes")]
    rows += await _searches(store.note_store, meaning)
    rows += await _recalls(store.note_store, meaning)
    await meaning.close()
    return rows


async def _searches(store: NoteStore, meaning: Meaning) -> list[Row]:
    rows = []
    took: dict[str, list[float]] = {}
    for kind in ASKED:
        asked = [case for case in cases("held-out") if case.kind == kind]
        figures = {}
        for name, semantic in (("off", None), ("on", meaning)):
            search = Search(store, ManualClock(AT_S), lambda: ON, semantic)
            found = []
            for case in asked:
                began_s = time.perf_counter()
                hits = await search.find(Place(Path("/"), case.project), SearchQuery(case.text))
                took.setdefault(name, []).append((time.perf_counter() - began_s) * 1000)
                found.append([hit.note.id for hit in hits])
            figures[name] = _hits(found, asked)
        rows.append(Row(f"search, {kind}, semantic on: hit@1, recall@3", figures["on"], f"off {figures['off']}"))
    shown = {name: f"p50 {percentile(ms, 0.5):.1f}, p95 {percentile(ms, 0.95):.1f} ms" for name, ms in took.items()}
    return [*rows, Row("a search, semantic on", shown["on"], f"off {shown['off']}")]


def _hits(found: Sequence[Sequence[str]], asked: Sequence[Case]) -> str:
    first = sum(ids[:1] != [] and ids[0] in case.answers for ids, case in zip(found, asked, strict=True))
    top = sum(any(i in case.answers for i in ids[:TOP]) for ids, case in zip(found, asked, strict=True))
    return f"{first / len(asked):.3f}, {top / len(asked):.3f}"


async def _recalls(store: NoteStore, meaning: Meaning) -> list[Row]:
    off = await _tally(store, None, "held-out")
    on = await _tally(store, meaning, "held-out")
    tuning = await _tally(store, meaning, "tuning")
    rows = []
    for kind in (*ASKED, *sorted(kind for kind in on.asked if kind.startswith("told "))):
        figure = f"{on.recall(kind):.3f} (tuning half {tuning.recall(kind):.3f})"
        rows.append(Row(f"recall, {kind}, semantic on: the answer is injected", figure, f"off {off.recall(kind):.3f}"))
    for kind in KINDS:
        ratio = on.false_ratio(kind)
        figure = f"{ratio:.2%} (tuning half {tuning.false_ratio(kind):.2%})"
        target = ("≤ 1 %", ratio <= MAX_FALSE_RATIO)
        rows.append(Row(f"false injections, {kind}, semantic on", figure, f"off {off.false_ratio(kind):.2%}", *target))
    return rows


async def _tally(store: NoteStore, semantic: Meaning | None, half: str) -> Tally:
    recall = Recall(store, NoStates(), ManualClock(AT_S), lambda: ON, semantic)
    for project in projects(half):
        await recall.recall(Place(Path("/"), project), "this prompt begins the calibration of a project", "")
    await recall.settled()
    tally = Tally()
    for case in cases(half):
        recalled = await recall.recall(Place(Path("/"), case.project), case.text, "")
        tokens = estimate_tokens(recalled.context) if recalled.context else 0
        shown: Shown = ([note.id for note in recalled.notes], tokens)
        tally.add(case, shown)
    return tally


def _nearest() -> Row:
    """The nearest of many notes by their signs alone."""
    rng = random.Random(7)
    nearest = Nearest(0.0)
    nearest.put(Signed(number, "many", rng.getrandbits(512)) for number in range(MANY))
    vector = unit(rng.gauss(0, 1) for _ in range(512))
    assert signs(vector)
    took = [_ms(lambda: nearest.numbers(["many"], vector, 64)) for _ in range(ASKED_OFTEN)]
    return Row(
        f"the 64 nearest of {MANY} notes", f"p50 {percentile(took, 0.5):.1f}, p95 {percentile(took, 0.95):.1f} ms"
    )


def _ms(work: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    work()
    return (time.perf_counter() - began_s) * 1000


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
