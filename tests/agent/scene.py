"""A desk over a small real tree, with the scripted model: what the sentences of this folder are told about."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from live_memory import wiring
from live_memory.agent.answers import Answer, Question
from live_memory.agent.desk import QuestionDesk
from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import Explorers, FileSight, Threads, TreeFiles
from live_memory.agent.note_search import FindNotes, no_notes
from live_memory.agent.seat import Models
from live_memory.clock import Clock, SystemClock
from live_memory.configuration import Configuration
from live_memory.errors import ToolRefusal
from live_memory.explore.base import FileStamp, ToolOutput
from live_memory.llm.base import CompletionRequest, Model
from live_memory.llm.choice import Choice
from live_memory.llm.retry import Backoff
from live_memory.llm.scripted import ScriptedModel
from live_memory.settings import Settings
from live_memory.store.base import Store
from live_memory.store.in_memory import InMemoryStore
from live_memory.text.redaction import Redaction
from live_memory.window.messages import Text, ToolCall, ToolResult, ToolSpec

GROUNDED = "See server.py:1."  # an answer that rests on the tree, and is not sent back
READ = ToolSpec("Read", "Read a file.", {"type": "object", "properties": {"file_path": {"type": "string"}}})


async def no_wait(_seconds: float) -> None:
    """In place of the pauses between tries."""


def read_call(path: str, call_id: str = "call-1") -> ToolCall:
    return ToolCall(call_id, "Read", json.dumps({"file_path": path}))


@dataclass(slots=True)
class Tree:
    """The explorers of a scene: they read the real tree, and keep count."""

    tools_run: list[str] = field(default_factory=list)
    trees_made: int = 0
    searches: list[str] = field(default_factory=list)

    def explorers(self) -> Explorers:
        return Explorers((READ,), self.run_tool, self.directory_tree, self.find_passages, self.look_at)

    def run_tool(self, root: Path, name: str, arguments_json: str, redaction: Redaction) -> ToolOutput:
        self.tools_run.append(arguments_json)
        if name != "Read":
            raise ToolRefusal(f"There is no tool {name}.")
        path = json.loads(arguments_json)["file_path"]
        sight = self.look_at(root, path)
        return ToolOutput(redaction.clean((root / path).read_text()), (sight.stamp,))

    def directory_tree(self, root: Path, max_tokens: int) -> str:
        self.trees_made += 1
        return "\n".join(sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()))

    def find_passages(self, root: Path, question: str, _redaction: Redaction) -> str:
        self.searches.append(question)
        found = [path for path in sorted(root.rglob("*.py")) if path.stem in question]
        return "\n".join(f"{path.relative_to(root).as_posix()}:1-2" for path in found)

    def look_at(self, root: Path, path: str) -> FileSight:
        file = root / path
        if not file.is_file():
            raise ToolRefusal(f"There is no file {path}.")
        content = file.read_bytes()
        stamp = FileStamp(path, hashlib.sha256(content).hexdigest(), len(content), file.stat().st_mtime_ns)
        return FileSight(stamp, content.count(b"\n"))


@dataclass(slots=True)
class Scene:
    """A desk and everything it stands on."""

    root: Path
    desk: QuestionDesk
    model: Model
    store: Store
    tree: Tree
    configuration: Configuration

    async def ask(self, text: str, max_answer_tokens: int = 0) -> Answer:
        return await self.desk.ask(Question(text, str(self.root), max_answer_tokens))

    def requests(self) -> list[CompletionRequest]:
        assert isinstance(self.model, ScriptedModel)
        return self.model.requests


def make_tree(root: Path) -> Path:
    """A repository of three small files."""
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "server.py").write_text("PORT = 7711\n\n\ndef serve():\n    listen(PORT)\n")
    (root / "auth.py").write_text("def check(token):\n    return token == secret()\n")
    (root / "docs").mkdir()
    (root / "docs" / "notes.md").write_text("# Notes\n")
    return root.resolve()


def make_scene(
    tmp_path: Path,
    script: list[Any] | None = None,
    *,
    model: Model | None = None,
    store: Store | None = None,
    clock: Clock | None = None,
    choice: Choice | None = None,
    files: TreeFiles | None = None,
    find_notes: FindNotes = no_notes,
    **settings: Any,
) -> Scene:
    """A desk whose model answers with `script`; `settings` are fields of Settings."""
    root = tmp_path / "repo"
    root = root.resolve() if root.exists() else make_tree(root)
    configuration = Configuration(Settings(**settings), {}, {}, home=tmp_path / "home")
    chosen = choice or Choice("scripted", "the setting provider is scripted", "scripted", "scripted-1")
    speaker = model or ScriptedModel(script or ())
    tree, kept = Tree(), store or InMemoryStore()
    desk = QuestionDesk(
        configuration,
        lambda: scene.configuration,
        Models(lambda _configuration, _now_s: chosen, lambda _choice: speaker, backoff=Backoff(sleep=no_wait)),
        kept,
        Equipment(tree.explorers(), Threads(4), clock or SystemClock(), files or wiring.tree_files(), find_notes),
    )
    scene = Scene(root, desk, speaker, kept, tree, configuration)
    return scene


def last_words(request: CompletionRequest) -> str:
    """The texts of the last turn of a request."""
    blocks = request.prompt.turns[-1].blocks
    return "\n".join(block.text for block in blocks if isinstance(block, (Text, ToolResult)))


async def until(condition: Callable[[], object]) -> None:
    """Let the loop run until `condition` holds; TimeoutError when it does not within five seconds."""
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.001)
