"""What edits cost in tokens, and what checking files and asking again cost in time."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.bench_questions import P50_TARGET_MS, P95_TARGET_MS, InstantModel, Place, is_quick, make_place, shown
from bench.table import Row, percentile

from live_memory.agent.answers import Question
from live_memory.agent.desk import QuestionDesk
from live_memory.agent.ingest import FileNotice
from live_memory.llm.base import Completion, CompletionRequest
from live_memory.store.sqlite import SqliteStore
from live_memory.text.tokens import estimate_tokens
from live_memory.window.frozen import file_text
from live_memory.window.messages import Prompt
from live_memory.window.rounds import turns_tokens

LINES, EDITS = 2000, 50
LONG_FILE = "src/long.py"
EDITS_RATIO = 0.2  # of what fifty copies take
HELD_FILES = 300
AGAIN = 100
AGAIN_TARGET_MS = 20.0


class CountingModel(InstantModel):
    """Keeps the prompts that it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[Prompt] = []

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        self.prompts.append(request.prompt)
        return await super().complete(request, on_text)


def prefix_tokens(prompt: Prompt) -> int:
    return sum(estimate_tokens(text) for text in prompt.system) + turns_tokens(prompt.turns[: prompt.prefix_turns])


def long_text(edits: int) -> str:
    """A long file after so many edits, each of a line of its own."""
    changed = {(number * LINES) // EDITS + 7: number for number in range(edits)}
    lines = (f"VALUE_{n} = {n}  # edit {changed[n]}" if n in changed else f"VALUE_{n} = {n}" for n in range(LINES))
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Session:
    """A session of edits and questions on one desk."""

    place: Place
    desk: QuestionDesk
    model: CountingModel

    async def ask(self, text: str) -> float:
        """How long the answer took, in milliseconds."""
        started_s = time.perf_counter()
        await self.desk.ask(Question(text, str(self.place.root)))
        return (time.perf_counter() - started_s) * 1000

    async def edit(self, text: str) -> None:
        (self.place.root / LONG_FILE).write_text(text)
        await self.desk.observe(FileNotice(str(self.place.root), "touched", (LONG_FILE,), {LONG_FILE: text}))

    def told_tokens(self) -> int:
        """What the prompt grew by since the first question."""
        return prefix_tokens(self.model.prompts[-1]) - prefix_tokens(self.model.prompts[0])


def session(place: Place, name: str) -> Session:
    model = CountingModel()
    return Session(place, place.desk(SqliteStore(place.folder / f"{name}.db"), model=model), model)


async def edited_tokens(run: Session, edits_a_question: int) -> int:
    """What EDITS edits of a long file cost that the window holds already, questions and answers included."""
    await run.edit(long_text(0))
    await run.ask("first?")
    for number in range(1, EDITS + 1):
        await run.edit(long_text(number))
        if number % edits_a_question == 0:
            await run.ask(f"after {number}?")
    await run.desk.close(1)
    return run.told_tokens()


async def held_times_ms(run: Session) -> list[float]:
    """How long questions take while the window holds HELD_FILES files, each of which is checked before every one."""
    paths = tuple(f"src/module_{number}.py" for number in range(HELD_FILES))
    await run.desk.observe(FileNotice(str(run.place.root), "touched", paths))
    await run.ask("first?")
    return [await run.ask(f"Where is function_7_{number} set?") for number in range(AGAIN)]


async def asked_again_ms(run: Session) -> tuple[list[float], int, int]:
    """How long one question takes each time it is asked again; the model's calls for them, and those once its file changed."""
    await run.ask("Where is it?")
    asked = len(run.model.prompts)
    taken = [await run.ask("Where is it?") for _ in range(AGAIN)]
    again = len(run.model.prompts) - asked
    (run.place.root / "src" / "module_7.py").write_text("nothing as it was\n" * 5)
    await run.ask("Where is it?")
    await run.desk.close(1)
    return taken, again, len(run.model.prompts) - asked - again


def run() -> list[Row]:
    """Tokens of edits beside those of copies; times of questions with files held and of questions asked again."""
    with tempfile.TemporaryDirectory() as folder:
        place = make_place(Path(folder))
        at_once = asyncio.run(edited_tokens(session(place, "at_once"), EDITS))
        one_by_one = asyncio.run(edited_tokens(session(place, "one_by_one"), 1))
        copies = sum(estimate_tokens(file_text(LONG_FILE, long_text(number))) for number in range(1, EDITS + 1))
        held = asyncio.run(held_times_ms(session(place, "held")))
        again, calls, calls_after = asyncio.run(asked_again_ms(session(place, "again")))

    edits = f"{EDITS} edits of a {LINES}-line file"
    target = f"≤ {EDITS_RATIO:.0%} of copies"
    return [
        Row(
            f"{edits} between two questions",
            f"{at_once} tokens",
            f"{copies} tokens as copies",
            target,
            at_once <= copies * EDITS_RATIO,
        ),
        Row(
            f"{edits}, a question after each",
            f"{one_by_one} tokens",
            f"{copies} tokens as copies",
            target,
            one_by_one <= copies * EDITS_RATIO,
        ),
        Row(
            f"own time per question, {HELD_FILES} files held and checked",
            shown(held),
            "",
            f"p50 ≤ {P50_TARGET_MS:g} ms, p95 ≤ {P95_TARGET_MS:g} ms",
            is_quick(held),
        ),
        Row(
            "a question asked again, nothing changed; then its file changed",
            f"{shown(again)}, {calls} model calls; then {calls_after}",
            "",
            f"p95 ≤ {AGAIN_TARGET_MS:g} ms, 0 model calls; then 1",
            (percentile(again, 0.95) <= AGAIN_TARGET_MS, calls, calls_after) == (True, 0, 1),
        ),
    ]
