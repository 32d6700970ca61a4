"""What news of files costs: 10,000 notices in ten seconds from eight sessions while questions run, against a real server
and a provider that takes its time; and what looking at all files that a window holds costs before each question."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.bench_questions import P50_TARGET_MS, P95_TARGET_MS, Place, is_quick, make_place, shown
from bench.bench_window import CountingModel, Session
from bench.table import Row, median, percentile
from server.processes import AUTHORIZATION, TOKEN, listening, made_data_dir, port_of, serving
from support.provider_server import ProviderServer, WireReply, WireRequest
from support.wire import chat_stream

from live_memory import wiring
from live_memory.agent.freshness import Freshness
from live_memory.agent.ingest import FileNotice
from live_memory.clock import SystemClock
from live_memory.store.sqlite import SqliteStore
from live_memory.window.files import FileContext
from live_memory.window.window import Window

SESSIONS, NOTICES, LENGTH_S, FILES = 8, 1250, 10, 2  # of each session: notices and files of its own
MODEL_S = 1.0  # a quick one of the cheap models
SLOWDOWN = 1.10
MEMORY_GROWTH_MIB = 10
CHECK_TARGET_MS = 50.0
HELD = (300, 2000)
AGAIN = 100
SETTLED_S = 0.3  # by then a file's time tells whether it changed
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Answers:
    """How long the questions of one spell took, and how large the server was after it."""

    taken_ms: list[float]
    resident_mib: float


class Questioner:
    """Asks one question after the other of a server at work."""

    def __init__(self, port: int, pid: int, root: Path) -> None:
        self._port, self._pid, self._root = port, pid, root
        self._asked = 0

    def ask(self) -> float:
        self._asked += 1
        body = json.dumps({"question": f"What is VALUE_{self._asked}?", "cwd": str(self._root)})
        started_s = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        try:
            connection.request("POST", "/ask", body, AUTHORIZATION)
            answer = json.load(connection.getresponse())
            assert answer["model"] == "bench", answer
        finally:
            connection.close()
        return (time.perf_counter() - started_s) * 1000

    def ask_while(self, noise: subprocess.Popen[bytes]) -> Answers:
        taken = []
        while noise.poll() is None:
            taken.append(self.ask())
        return Answers(taken, self._resident_mib())

    def ask_for(self, length_s: float) -> Answers:
        until_s, taken = time.monotonic() + length_s, []
        while time.monotonic() < until_s:
            taken.append(self.ask())
        return Answers(taken, self._resident_mib())

    def _resident_mib(self) -> float:
        status = Path(f"/proc/{self._pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


@contextmanager
def slow_provider() -> Iterator[ProviderServer]:
    """A provider that answers each request after MODEL_S."""

    def speak(_request: WireRequest) -> WireReply:
        time.sleep(MODEL_S)
        return WireReply(chunks=chat_stream(("It is in src/session_0_0.py:1.",)))

    provider = ProviderServer()
    provider.answer_by(speak)
    try:
        yield provider
    finally:
        provider.close()


@contextmanager
def telling(port: int, root: Path, notices: int) -> Iterator[subprocess.Popen[bytes]]:
    script = Path(__file__).with_name("notify_sessions.py")
    words = (str(port), TOKEN, str(root), str(SESSIONS), str(notices), str(LENGTH_S), str(FILES))
    with (root.parent / "told.json").open("w") as told:  # no pipe: nobody would read it before the end
        process = subprocess.Popen([sys.executable, "-ES", str(script), *words], stdout=told)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def storm() -> list[Row]:
    """Ten quiet seconds, ten with notices, ten quiet ones more."""
    with tempfile.TemporaryDirectory() as name, slow_provider() as provider:
        data_dir = made_data_dir(Path(name))
        root = (Path(name) / "repo").resolve()
        (root / "src").mkdir()
        settings: dict[str, Any] = {
            "provider": "openai",
            "model": "bench",
            "base_url": f"{provider.address}/v1",
            "api_key": "none",
            "max_context_tokens": "1000000",
            "daily_budget_usd": "0",
            "daily_budget_tokens": "0",
            "force_explore_when_cold": "false",
        }
        with listening() as listener, serving(data_dir, listener, **settings) as server:
            asker = Questioner(port_of(listener), server.pid, root)
            asker.ask()
            before = asker.ask_for(LENGTH_S)
            with telling(port_of(listener), root, NOTICES) as sessions:
                during = asker.ask_while(sessions)
            told = json.loads((root.parent / "told.json").read_text())
            after = asker.ask_for(LENGTH_S)
        prompt = json.dumps(provider.requests[-1].body)
    lost = [path for path, text in told["texts"].items() if json.dumps(edited_line(text))[1:-1] not in prompt]
    quiet, noisy = [*before.taken_ms, *after.taken_ms], during.taken_ms
    slowdown = median(noisy) / median(quiet)
    growth = after.resident_mib - before.resident_mib
    notices = SESSIONS * NOTICES
    return [
        Row(
            f"{notices:,} notices from {SESSIONS} sessions while questions run: taken, lost",
            f"{told['length_s']:.1f} s, {told['refused']} refused, {len(lost)} of {len(told['texts'])} files' last texts "
            f"not in the next prompt; a notice p50 {median(told['taken_s']) * 1000:.0f} ms, "
            f"p95 {percentile(told['taken_s'], 0.95) * 1000:.0f} ms",
            "",
            "none lost",
            not lost and not told["refused"],
        ),
        Row(
            f"questions meanwhile ({MODEL_S * 1000:.0f} ms model)",
            f"p50 {median(noisy):.0f} ms, p95 {percentile(noisy, 0.95):.0f} ms ({len(noisy)})",
            f"without notices p50 {median(quiet):.0f} ms, p95 {percentile(quiet, 0.95):.0f} ms ({len(quiet)})",
            f"≤ {SLOWDOWN:g} × p50",
            slowdown <= SLOWDOWN,
        ),
        Row(
            "memory after the notices",
            f"{after.resident_mib:.0f} MiB",
            f"{before.resident_mib:.0f} MiB before",
            f"+ {MEMORY_GROWTH_MIB} MiB at most",
            growth <= MEMORY_GROWTH_MIB,
        ),
    ]


def edited_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("EDITED"))


async def held_times_ms(run: Session, count: int, wait_s: float) -> list[float]:
    """How long questions take while the window holds `count` files, `wait_s` after it was told of them."""
    paths = [f"src/module_{number}.py" for number in range(count)]
    for first in range(0, count, 500):
        await run.desk.observe(FileNotice(str(run.place.root), "touched", tuple(paths[first : first + 500])))
    await run.ask("first?")
    await asyncio.sleep(wait_s)
    taken = [await run.ask(f"Where is function_7_{number} set?") for number in range(AGAIN)]
    await run.desk.close(1)
    return taken


def held(folder: Path) -> Iterator[Row]:
    place = make_place(folder)
    for number in range(300, max(HELD)):
        lines = [f"def function_{number}_{line}(): return {line}" for line in range(60)]
        (place.root / "src" / f"module_{number}.py").write_text("\n".join(lines) + "\n")
    target = f"p50 ≤ {P50_TARGET_MS:g} ms, p95 ≤ {P95_TARGET_MS:g} ms"
    none = asyncio.run(held_times_ms(_session(place, "none"), 0, 0))
    for count in HELD:
        for wait_s, when in ((0.0, "at once"), (SETTLED_S, "later")):
            times = asyncio.run(held_times_ms(_session(place, f"{count}_{wait_s}"), count, wait_s))
            what = f"own time per question, {count:,} files held, {when}"
            yield Row(what, shown(times), f"none held: {shown(none)}", target, is_quick(times))


def _session(place: Place, name: str) -> Session:
    model, folder = CountingModel(), place.folder
    return Session(place, place.desk(SqliteStore(folder / f"{name}.db"), model=model), model)


def looks(folder: Path) -> Iterator[Row]:
    """What a check takes by itself: of files whose looks are known, and of files seen for the first time."""
    root, count, clock = folder / "repo", max(HELD), SystemClock()
    files = wiring.tree_files()
    known = {}
    for number in range(count):
        seen = files.read(root.resolve(), f"src/module_{number}.py", 1 << 20)
        stamp = seen.stamp
        known[stamp.path] = FileContext(
            stamp.path, stamp.sha256, stamp.size_bytes, stamp.mtime_ns, float(number), content=seen.text
        )
    window = Window("", files=known)
    first, again = [], []
    for _ in range(AGAIN // 5):
        freshness = Freshness(files, root.resolve(), clock)
        first.append(_timed_ms(freshness, window))
        again += [_timed_ms(freshness, window) for _ in range(5)]
    yield Row(
        f"looking at {count:,} held files, CPU time",
        shown(again),
        f"and reading them all: {shown(first)}",
        f"p95 ≤ {CHECK_TARGET_MS:g} ms",
        percentile(again, 0.95) <= CHECK_TARGET_MS,
    )


def _timed_ms(freshness: Freshness, window: Window) -> float:
    """In CPU time: what else the machine does must not look like it."""
    started_s = time.thread_time()
    findings = freshness.check(window, 1 << 20)
    assert not findings.news
    return (time.thread_time() - started_s) * 1000


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        rows = [*held(Path(name)), *looks(Path(name))]
    return [*storm(), *rows]
