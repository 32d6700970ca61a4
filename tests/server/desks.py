"""A desk whose answers the test holds in its hand, and the state of a server around it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from live_memory import wiring
from live_memory.agent.answers import Answer, Question
from live_memory.agent.desk import QuestionDesk, ignore_progress
from live_memory.agent.explorers import Threads
from live_memory.clock import Clock, ManualClock
from live_memory.configuration import Configuration
from live_memory.errors import QuestionError
from live_memory.llm.base import Usage
from live_memory.memory.capture.reports import SessionReport
from live_memory.memory.capture.runner import Capture
from live_memory.memory.dream.runner import Dreams, Mode
from live_memory.memory.library import Library
from live_memory.server.http import Request
from live_memory.server.state import Phase, ServerState
from live_memory.settings import Settings
from live_memory.store.in_memory import InMemoryStore

TOKEN = "t" * 43
PORT = 7799


class HandDesk(QuestionDesk):
    """Answers what `answer_with` says, once `gate` is open; notes what happened to each question."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        self.configuration = configuration or Configuration(Settings(), {})
        self.gate = asyncio.Event()
        self.gate.set()
        self.arrived = asyncio.Event()
        self.asked: list[Question] = []
        self.cancelled: asyncio.Queue[Question] = asyncio.Queue()
        self.calls: list[tuple[str, str]] = []
        self.progress: tuple[str, ...] = ()
        self.error: Exception | None = None
        self.is_model = False
        self.working: set[asyncio.Task[object]] = set()
        self.is_closed = False
        self.clients = 0

    def note_client(self) -> None:
        self.clients += 1

    async def ask(self, question: Question, on_progress: Callable[[str], None] = ignore_progress) -> Answer:
        self.asked.append(question)
        task = asyncio.current_task()
        assert task is not None
        self.working.add(task)
        self.arrived.set()
        try:
            for line in self.progress:
                on_progress(line)
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.put_nowait(question)
            raise
        finally:
            self.working.discard(task)
        if self.error is not None:
            raise self.error
        text = f"about: {question.text}"
        return Answer(text, "hand-1", 12, False, 1, 1, Usage(3, 4, 5, 6), 0.25, True, 100, 1000, ())

    def stats(self, cwd: str) -> dict[str, object]:
        self.calls.append(("stats", cwd))
        return {"root": cwd}

    async def clear(self, cwd: str) -> None:
        self.calls.append(("clear", cwd))

    async def reset(self, cwd: str) -> None:
        self.calls.append(("reset", cwd))

    async def concern(self, cwd: str) -> str:
        return "Redaction is OFF." if cwd == "/open" else ""

    async def watched_paths(self, cwd: str) -> tuple[str, ...]:
        return (f"{cwd}/a.py",)

    def reload(self) -> Configuration:
        if self.error is not None:
            raise self.error
        return self.configuration

    def needs_packages(self) -> bool:
        return self.is_model

    async def close(self, grace_s: float) -> None:
        if self.working:
            _, late = await asyncio.wait(self.working, timeout=grace_s)
            for task in late:
                task.cancel()
        self.is_closed = True


class HandCapture(Capture):
    """Keeps the reports, and shows what it is told to."""

    def __init__(self) -> None:
        self.reports: list[SessionReport] = []
        self.listed: tuple[Mapping[str, object], ...] = ()
        self.asked: list[tuple[str, str]] = []
        self.is_running = False

    async def report(self, report: SessionReport) -> None:
        self.reports.append(report)

    def start(self) -> None:
        self.is_running = True

    async def close(self) -> None:
        self.is_running = False

    async def sessions(self, cwd: str, session_id: str = "") -> tuple[Mapping[str, object], ...]:
        self.asked.append((cwd, session_id))
        return self.listed

    def figures(self) -> dict[str, object]:
        return {"captured": 0}


class HandDreams(Dreams):
    """Answers what it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mode]] = []
        self.is_running = False

    async def dream(self, cwd: str, mode: Mode) -> dict[str, object]:
        self.asked.append((cwd, mode))
        return {"state": "done"}

    def start(self) -> None:
        self.is_running = True

    async def close(self) -> None:
        self.is_running = False

    def figures(self) -> dict[str, object]:
        return {"runs": 0}


def library_of(clock: Clock, **settings: Any) -> Library:
    """A library that is forgotten with the test; its workspaces are the folders themselves."""

    async def locate(cwd: str) -> Path:
        if not Path(cwd).is_absolute():
            raise QuestionError("bad-cwd", f"cwd must be an absolute path, and {cwd!r} is relative.")
        return Path(cwd)

    in_force = Settings(**settings)
    return wiring.library_over(InMemoryStore().note_store, locate, lambda: in_force, Threads(1), clock)


def state_of(
    desk: QuestionDesk, *, phase: Phase | None = None, clock: Clock | None = None, port: int = PORT
) -> ServerState:
    """A server that stands in `phase` ("ok" unless given)."""
    clock = clock or ManualClock()
    started_s = clock.monotonic_s()
    return ServerState(
        version="1.2.3",
        token=TOKEN,
        data_dir=Path("/data"),
        port=port,
        clock=clock,
        started_s=started_s,
        desk=desk,
        library=library_of(clock),
        capture=HandCapture(),
        dreams=HandDreams(),
        phase=phase or Phase("ok"),
        shutdown=asyncio.Event(),
        last_request_s=started_s,
    )


def request_of(method: str, path: str, body: bytes = b"", **headers: str) -> Request:
    """A request as our own client sends it; `headers` (with _ for -) replace or add, an empty one takes away."""
    path, _, query = path.partition("?")
    sent = {"host": f"127.0.0.1:{PORT}", "authorization": f"Bearer {TOKEN}", "content-length": str(len(body))}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    pairs = dict(pair.partition("=")[::2] for pair in query.split("&") if pair)
    return Request(method, path, pairs, {name: value for name, value in sent.items() if value}, body)
