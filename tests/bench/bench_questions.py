"""Our own time per question: everything but the model, which answers in no time; and 64 questions at once."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.table import Row, median, percentile

from live_memory import wiring
from live_memory.agent.answers import Question
from live_memory.agent.desk import QuestionDesk
from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import Threads
from live_memory.agent.seat import Models
from live_memory.clock import SystemClock
from live_memory.configuration import Configuration
from live_memory.llm.base import Completion, CompletionRequest, Model, Usage
from live_memory.llm.choice import Choice
from live_memory.settings import Settings
from live_memory.store.base import Account, Answered, Store
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.sqlite import SqliteStore
from live_memory.window.messages import Text, ToolCall
from live_memory.window.window import Exchange, Window

P50_TARGET_MS, P95_TARGET_MS = 10.0, 30.0
CROWD, CROWD_P95_TARGET_MS = 64, 1000.0
SOME, MANY = 200, 1000
SAMPLE = 40  # questions around the 10th and the last
FLAT_RATIO = 1.5
HELD_TOKENS = 100_000
EXCHANGE_CHARS = 1600


class InstantModel:
    """A model that answers at once, names a place, and, where told to, reads a file first."""

    provider = "instant"
    name = "instant-1"

    def __init__(self, path_to_read: str = "") -> None:
        self._path = path_to_read

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        last = request.prompt.turns[-1].blocks[0]
        if self._path and isinstance(last, Text):
            call = ToolCall("1", "Read", json.dumps({"file_path": self._path}))
            return Completion("", (call,), Usage(100, 10), "tool_calls")
        answer = f"It is set in src/module_7.py:3, as asked in request {len(request.prompt.turns)}."
        on_text(answer)
        return Completion(answer, (), Usage(100, 20), "end")

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing is open."""


class SnapshotStore(InMemoryStore):
    """The baseline: the whole window is written anew at every answer."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def record(self, root: str, answered: Answered) -> Exchange | None:
        exchange = super().record(root, answered)
        saved = self.load(root)
        if saved is not None:
            entries = [[entry.id, entry.question, entry.answer] for entry in saved.window.history.exchanges]
            files = [asdict(file) for file in saved.window.files.values()]
            staging = self._path.with_suffix(".new")
            staging.write_text(json.dumps({"tree": saved.window.tree, "entries": entries, "files": files}))
            os.replace(staging, self._path)
        return exchange


@dataclass(frozen=True)
class Place:
    """A folder with a repository of 300 small files."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "repo"

    def desk(self, store: Store, path_to_read: str = "", model: Model | None = None) -> QuestionDesk:
        settings = Settings(provider="scripted", max_context_tokens=1_000_000)
        configuration = Configuration(settings, {}, {}, home=self.folder / "home")
        choice = Choice("scripted", "a benchmark", "instant", "instant-1")
        speaker = model or InstantModel(path_to_read)
        return QuestionDesk(
            configuration,
            lambda: configuration,
            Models(lambda _configuration, _now_s: choice, lambda _choice: speaker),
            store,
            Equipment(wiring.explorers(), Threads(), SystemClock(), wiring.tree_files()),
        )


def make_place(folder: Path) -> Place:
    place = Place(folder)
    (place.root / ".git").mkdir(parents=True)
    (place.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (place.root / "src").mkdir()
    for number in range(300):
        lines = [f"def function_{number}_{line}(): return {line}" for line in range(60)]
        (place.root / "src" / f"module_{number}.py").write_text("\n".join(lines) + "\n")
    return place


def hold(store: Store, place: Place) -> None:
    """Fill the window of `place` with HELD_TOKENS of questions and answers."""
    root = str(place.root.resolve())
    store.begin(root, Window("src/\n"), time.time())
    for number in range(HELD_TOKENS * 4 // EXCHANGE_CHARS):
        exchange = Exchange(0, f"What is {number}?", f"answer {number} " * (EXCHANGE_CHARS // 11))
        store.record(root, Answered(Account(questions=1), time.time(), exchange))


async def times_ms(
    desk: QuestionDesk, place: Place, count: int, watch_s: Callable[[], float] = time.perf_counter
) -> list[float]:
    """How long each of `count` questions took, one after the other; one more before them is not counted."""
    await desk.ask(Question("warm up", str(place.root)))
    taken = []
    for number in range(count):
        started_s = watch_s()
        await desk.ask(Question(f"Where is function_7_{number} set?", str(place.root)))
        taken.append((watch_s() - started_s) * 1000)
    await desk.close(1)
    return taken


async def crowd_ms(desk: QuestionDesk, place: Place) -> tuple[list[float], int]:
    """How long each of CROWD questions asked at once took, on a window that is empty and cold; and the pairs kept."""

    async def one(number: int) -> float:
        started_s = time.perf_counter()
        await desk.ask(Question(f"crowd {number}", str(place.root)))
        return (time.perf_counter() - started_s) * 1000

    taken = await asyncio.gather(*(one(number) for number in range(CROWD)))
    messages = desk.stats(str(place.root))["messages"]
    await desk.close(1)
    assert isinstance(messages, int)
    return list(taken), messages // 2


def shown(values: Sequence[float]) -> str:
    return f"p50 {median(values):.1f} ms, p95 {percentile(values, 0.95):.1f} ms"


def is_quick(values: Sequence[float]) -> bool:
    return median(values) <= P50_TARGET_MS and percentile(values, 0.95) <= P95_TARGET_MS


def growth(values: Sequence[float]) -> str:
    early, late = median(values[:SAMPLE]), median(values[-SAMPLE:])
    return f"q10 {early:.1f} ms, q{len(values)} {late:.1f} ms"


def run() -> list[Row]:
    """Own time per question, its growth, and the crowd, each beside a store that rewrites a snapshot."""
    with tempfile.TemporaryDirectory() as folder:
        place = make_place(Path(folder))
        target = f"p50 ≤ {P50_TARGET_MS:g} ms, p95 ≤ {P95_TARGET_MS:g} ms"

        def sqlite(name: str) -> SqliteStore:
            return SqliteStore(Path(folder) / f"{name}.db")

        def snapshot(name: str) -> SnapshotStore:
            return SnapshotStore(Path(folder) / f"{name}.json")

        empty = asyncio.run(times_ms(place.desk(sqlite("empty")), place, SOME))
        empty_snapshot = asyncio.run(times_ms(place.desk(snapshot("empty")), place, SOME))
        # Growth in CPU time: what else the machine does must not look like it.
        many = asyncio.run(times_ms(place.desk(sqlite("many")), place, MANY, time.process_time))
        many_snapshot = asyncio.run(times_ms(place.desk(snapshot("many")), place, MANY, time.process_time))
        full_store, full_snapshot_store = sqlite("full"), snapshot("full")
        hold(full_store, place)
        hold(full_snapshot_store, place)
        full = asyncio.run(times_ms(place.desk(full_store), place, SOME))
        full_snapshot = asyncio.run(times_ms(place.desk(full_snapshot_store), place, 100))
        reading = asyncio.run(times_ms(place.desk(sqlite("read"), "src/module_7.py"), place, SOME))
        crowd, pairs = asyncio.run(crowd_ms(place.desk(sqlite("crowd")), place))
        crowd_snapshot, _ = asyncio.run(crowd_ms(place.desk(snapshot("crowd")), place))

    is_flat = median(many[-SAMPLE:]) <= FLAT_RATIO * median(many[:SAMPLE])
    crowd_is_met = pairs == CROWD and percentile(crowd, 0.95) <= CROWD_P95_TARGET_MS
    return [
        Row(
            "own time per question, empty window",
            shown(empty),
            shown(empty_snapshot),
            target,
            is_quick(empty),
        ),
        Row("own time per question, 100k tokens held", shown(full), shown(full_snapshot), target, is_quick(full)),
        Row("own time per question with one Read", shown(reading), "", target, is_quick(reading)),
        Row(
            "own CPU time from q10 to q1000",
            growth(many),
            growth(many_snapshot),
            f"q1000 ≤ {FLAT_RATIO:g} × q10",
            is_flat,
        ),
        Row(
            f"{CROWD} questions at once, 0 ms model",
            f"p95 {percentile(crowd, 0.95):.0f} ms, {pairs} of {CROWD} pairs kept",
            f"p95 {percentile(crowd_snapshot, 0.95):.0f} ms",
            f"p95 ≤ {CROWD_P95_TARGET_MS:g} ms, none lost",
            crowd_is_met,
        ),
    ]
