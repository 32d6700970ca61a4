"""What fifty questions with tees, edits, a deletion and tool calls cost a real llama.cpp server that keeps one prefix: the
tokens it had to read anew, beside those that were really new; and the same for a naive client."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.bench_questions import Place, make_place
from bench.table import Row
from support.llama import RANDOM_CONTEXT_TOKENS, TOOL_TEMPLATE, llama_server, random_model

from live_memory.agent.answers import Question
from live_memory.agent.desk import QuestionDesk
from live_memory.agent.ingest import FileNotice
from live_memory.llm.base import Completion, CompletionRequest, Model
from live_memory.llm.choice import Choice, connect
from live_memory.store.sqlite import SqliteStore
from live_memory.window.messages import Prompt, Text, ToolCall, Turn

QUESTIONS, TOOL_EVERY, DELETED_AT = 50, 5, 30
FILES = 8
RATIO_TARGET = 1.05
TURN_TOKENS = 5  # the template's marks around a turn
HISTORY_CHARS = 40_000  # the naive client drops its oldest messages above this


@dataclass(slots=True)
class Guide:
    """A real model that is asked for one token of each reply; what it says instead, and which tool it calls, is given.
    `read_tokens` is what the server read anew, `new_tokens` what no earlier request had sent."""

    inner: Model
    count_tokens: Callable[[str], int]
    provider: str = "guide"
    name: str = "random"
    read_tokens: int = 0
    new_tokens: int = 0
    requests: int = 0
    _sent: set[str] = field(default_factory=set)

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        completion = await self.inner.complete(replace(request, max_output_tokens=1), lambda _text: None)
        self.read_tokens += completion.usage.prompt_tokens - completion.usage.cache_read_tokens
        self.new_tokens += self._new(request.prompt) if self.requests else completion.usage.prompt_tokens
        self.requests += 1
        self._sent |= {text for turn in request.prompt.turns for text in _texts(turn)}
        last = request.prompt.turns[-1].blocks[0]
        if isinstance(last, Text) and "look up" in last.text:
            call = ToolCall(
                f"call-{self.requests}", "Read", json.dumps({"file_path": "src/module_200.py", "limit": 20})
            )
            return Completion("", (call,), completion.usage, "tool_calls")
        answer = f"It is set in src/module_{self.requests}.py:3, which was answer {self.requests}."
        on_text(answer)
        return Completion(answer, (), completion.usage, "end")

    def _new(self, prompt: Prompt) -> int:
        new, marks = 0, TURN_TOKENS
        for turn in prompt.turns[: prompt.prefix_turns]:
            unsent = [text for text in _texts(turn) if text not in self._sent]
            new += sum(map(self.count_tokens, unsent))
            marks += TURN_TOKENS if unsent else 0
        for turn in prompt.turns[prompt.prefix_turns :]:  # hints and rounds stand where no earlier request had them
            new += sum(map(self.count_tokens, _texts(turn)))
            marks += TURN_TOKENS
        return new + marks

    async def prepare(self) -> None:
        await self.inner.prepare()

    async def close(self) -> None:
        await self.inner.close()


def _texts(turn: Turn) -> Iterator[str]:
    for block in turn.blocks:
        if isinstance(block, ToolCall):
            yield block.name + block.arguments_json
        else:
            yield block.text


@dataclass(frozen=True)
class Event:
    """What happens before a question: a file gets this text (None: it is deleted), and whether a hook tells of it."""

    path: str
    text: str | None
    is_told: bool


def history() -> list[tuple[Event, str]]:
    rng = random.Random(5)
    texts: dict[str, list[str]] = {}
    steps = []
    for number in range(QUESTIONS):
        path = f"src/work_{number if number < FILES else rng.randrange(FILES)}.py"
        lines = texts.setdefault(path, [f"VALUE_{n} = {n}" for n in range(120)])
        lines[rng.randrange(len(lines))] = f"EDITED_{number} = True"
        event = Event(path, None if number == DELETED_AT else "\n".join(lines) + "\n", rng.random() < 0.7)
        verb = "look up" if number % TOOL_EVERY == 0 else "tell"
        steps.append((event, f"Question {number}: {verb} where value {number} is set, and who needs it?"))
    return steps


def happen(place: Place, event: Event) -> None:
    file = place.root / event.path
    if event.text is None:
        file.unlink(missing_ok=True)
    else:
        file.write_text(event.text)


async def ours(place: Place, desk: QuestionDesk) -> None:
    for event, question in history():
        happen(place, event)
        if event.is_told:
            await desk.observe(FileNotice(str(place.root), "touched", (event.path,)))
        await desk.ask(Question(question, str(place.root)))
    await desk.close(1)


async def naive(model: Model) -> int:
    """The tokens read anew for a client that renders its system text with the current files, and drops old messages."""
    files: dict[str, str] = {}
    turns: list[Turn] = []
    read = 0
    for event, question in history():
        files.pop(event.path, None)
        if event.text is not None:
            files[event.path] = event.text
        system = "You remember this code.\n\n" + "\n\n".join(
            f"## {path}\n{text}" for path, text in sorted(files.items())
        )
        turns.append(Turn("user", (Text(question),)))
        while sum(len(text) for turn in turns for text in _texts(turn)) > HISTORY_CHARS:
            del turns[:2]
        prompt = Prompt((system,), tuple(turns), (), len(turns) - 1)
        completion = await model.complete(CompletionRequest(prompt, 1, 60.0), lambda _text: None)
        read += completion.usage.prompt_tokens - completion.usage.cache_read_tokens
        turns.append(Turn("assistant", (Text(f"It is set in a file, which was the answer to: {question}"),)))
    await model.close()
    return read


def counter(address: str) -> Callable[[str], int]:
    def count(text: str) -> int:
        body = json.dumps({"content": text}).encode()
        request = urllib.request.Request(f"{address}/tokenize", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return len(json.load(reply)["tokens"])

    return count


def run() -> list[Row]:
    """The tokens read anew over those really new, ours beside the naive client's for the same events."""
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "tools.jinja"
        template.write_text(TOOL_TEMPLATE)
        place = make_place(Path(folder))
        with llama_server(random_model(), context_tokens=RANDOM_CONTEXT_TOKENS, template=template) as address:
            choice = Choice("openai", "a benchmark", "custom", "random", f"{address}/v1")
            guide = Guide(connect(choice), counter(address))
            asyncio.run(ours(place, place.desk(SqliteStore(Path(folder) / "m.db"), model=guide)))
            naive_tokens = asyncio.run(naive(connect(choice)))
    ratio, naive_ratio = guide.read_tokens / guide.new_tokens, naive_tokens / guide.new_tokens
    return [
        Row(
            f"tokens read anew ÷ really new, {QUESTIONS} questions with tees, edits, a deletion, tool calls",
            f"{ratio:.3f} ({guide.read_tokens} of {guide.new_tokens}, {guide.requests} requests)",
            f"{naive_ratio:.1f} ({naive_tokens})",
            f"≤ {RATIO_TARGET:g}",
            ratio <= RATIO_TARGET,
        )
    ]
