"""A desk whose window is small enough to be full soon, and a model that answers and distils what it is shown."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.scene import Scene, make_scene, until

from live_memory.agent.answers import Answer
from live_memory.agent.workspace import Workspace
from live_memory.llm.base import Completion, CompletionRequest
from live_memory.llm.scripted import ScriptedModel, ScriptedReply
from live_memory.window.messages import Text
from live_memory.window.window import Exchange, Window

MAX_TOKENS = 12_000
MARK = re.compile(r"mark_\d+")


def is_summary(request: CompletionRequest) -> bool:
    return request.purpose == "compaction"


def words(request: CompletionRequest) -> str:
    return "\n".join(block.text for turn in request.prompt.turns for block in turn.blocks if isinstance(block, Text))


def material(request: CompletionRequest) -> str:
    return words(request).partition("The material to be dropped:")[2]


def facts_in(request: CompletionRequest) -> str:
    marks = sorted(set(MARK.findall(material(request))))
    return "\n".join(f"The thing {mark} is kept in server.py." for mark in marks) or "NONE"


@dataclass
class Speaker:
    """A model that answers with text, and distils one fact for each mark that the material holds."""

    provider: str = "scripted"
    name: str = "scripted-1"
    answer: str = "See server.py:1. " + "words " * 600
    requests: list[CompletionRequest] = field(default_factory=list)
    on_summary: Callable[[CompletionRequest], ScriptedReply | Exception | None] = lambda _request: None
    asked: ScriptedModel = field(default_factory=ScriptedModel)

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        self.requests.append(request)
        if is_summary(request):
            special = self.on_summary(request)
            self.asked._steps.append(special if special is not None else facts_in(request))
        else:
            mark = MARK.findall(words(request))
            self.asked._steps.append(f"{mark[-1] if mark else ''} {self.answer}")
        return await self.asked.complete(request, on_text)

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing is open."""

    def summaries(self) -> list[CompletionRequest]:
        return [request for request in self.requests if is_summary(request)]


def full_scene(tmp_path: Path, speaker: Speaker, **settings: Any) -> Scene:
    """A desk with a window of MAX_TOKENS; `settings` also take what `make_scene` takes."""
    chosen: dict[str, Any] = {
        "max_context_tokens": MAX_TOKENS,
        "max_answer_tokens": 256,
        "force_explore_when_cold": False,
        "reuse_answers": False,
        "background_budget_ratio": 0,  # nothing is compacted ahead: questions make room for themselves
    }
    return make_scene(tmp_path, model=speaker, **(chosen | settings))


def workspace_of(scene: Scene) -> Workspace:
    return scene.desk._workspaces[scene.root]


def window_of(scene: Scene) -> Window:
    window = workspace_of(scene).window
    assert window is not None
    return window


def exchanges(scene: Scene) -> tuple[Exchange, ...]:
    return window_of(scene).history.exchanges


async def fill(scene: Scene, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        await scene.ask(f"What is mark_{number}?")


@dataclass(frozen=True)
class UnderWay:
    """The question that has begun a compaction."""

    number: int
    task: asyncio.Task[Answer]


async def ask_until_it_compacts(scene: Scene) -> UnderWay:
    await fill(scene, 1)
    state = workspace_of(scene).compaction
    for number in range(1, 100):
        task = asyncio.create_task(scene.ask(f"What is mark_{number}?"))
        await until(lambda task=task: task.done() or state.ended is not None)  # type: ignore[misc]
        if state.ended is not None:
            return UnderWay(number, task)
    raise AssertionError("never full")


def is_carried(scene: Scene, number: int) -> bool:
    """Whether a question is in the window, or in a fact that search finds."""
    mark = f"mark_{number}"
    asked = any(entry.question == f"What is {mark}?" for entry in exchanges(scene))
    return asked or any(mark in fact.text for fact in scene.store.notes.search(str(scene.root), f"what is {mark}", 5))
