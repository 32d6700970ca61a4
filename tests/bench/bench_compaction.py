"""A window that is filled to three times its size with what others read: how often it compacts, what of it the cache still
serves, and whether a fact is lost. The baseline compacts down to its own trigger, as the floor forbids."""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.table import Row, median

from live_memory import wiring
from live_memory.agent.answers import Question
from live_memory.agent.desk import QuestionDesk
from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import Threads
from live_memory.agent.ingest import FileNotice
from live_memory.agent.seat import Models
from live_memory.clock import ManualClock
from live_memory.configuration import Configuration
from live_memory.llm.base import CompletionRequest, Usage
from live_memory.llm.choice import Choice
from live_memory.llm.scripted import ScriptedModel
from live_memory.settings import Settings
from live_memory.store.sqlite import SqliteStore
from live_memory.text.tokens import estimate_tokens
from live_memory.window.messages import Text

QUESTIONS, MOST_QUESTIONS = 100, 300
TIMES_THE_WINDOW = 3  # observed text, over the window's size
PAUSE_S = 30.0  # between two questions
SMALL, LARGE = 12_000, 100_000  # tokens
FOUND_AMONG = 5  # a fact counts as found when search has it among the first
TEN_COMPACTIONS = 10
HIT_TARGET = 0.85
DEFINED = re.compile(r"def (\w+)\(\): return (\d+)")


@dataclass(slots=True)
class Tally:
    """What came of one run."""

    compactions: int = 0  # of the first QUESTIONS questions
    compactions_in_all: int = 0
    asked: Usage = field(default_factory=Usage)
    new_tokens: int = 0
    summaries: Usage = field(default_factory=Usage)
    told: set[str] = field(default_factory=set)
    lost: int = 0
    compacting_ms: list[float] = field(default_factory=list)

    @property
    def hit_ratio(self) -> float:
        return self.asked.cache_read_tokens / self.asked.prompt_tokens

    @property
    def uncached_ratio(self) -> float:
        """Uncached prompt tokens, those of summaries included, for each token that was really new."""
        return (self.asked.input_tokens + self.summaries.input_tokens) / self.new_tokens

    def shown(self) -> str:
        return (
            f"{self.compactions} compactions, {self.hit_ratio:.0%} from cache, uncached ÷ new {self.uncached_ratio:.1f}"
        )


def said(request: CompletionRequest) -> str:
    return "\n".join(block.text for turn in request.prompt.turns for block in turn.blocks if isinstance(block, Text))


def fact(name: str, number: str) -> str:
    return f"`{name}` in src/{name}.py gives {number} retries before it stops."


@dataclass(slots=True)
class Actor:
    """The scripted model's two parts: it answers a question in two sentences, and distils what it is shown."""

    tally: Tally

    def reply(self, request: CompletionRequest) -> str:
        if request.purpose != "compaction":
            return "It is in src/handler_0.py:1, and nothing else in this tree depends on it. " * 4
        facts = [fact(name, number) for name, number in DEFINED.findall(said(request).partition("to be dropped:")[2])]
        self.tally.told.update(facts)
        return "\n".join(facts) or "NONE"


@dataclass(slots=True)
class Stage:
    """A desk over a small repository, whose window takes what the actor's model is told."""

    folder: Path
    window_tokens: int
    floor_ratio: float
    tally: Tally = field(default_factory=Tally)
    clock: ManualClock = field(default_factory=ManualClock)
    model: ScriptedModel = field(init=False)
    store: SqliteStore = field(init=False)
    desk: QuestionDesk = field(init=False)

    def __post_init__(self) -> None:
        (self.root / ".git").mkdir(parents=True)
        (self.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (self.root / "src").mkdir()
        self.model = ScriptedModel([Actor(self.tally).reply] * (MOST_QUESTIONS * 50))
        self.store = SqliteStore(self.folder / "live-memory.db")
        settings = Settings(
            provider="scripted",
            max_context_tokens=self.window_tokens,
            max_answer_tokens=1024,
            force_explore_when_cold=False,
            reuse_answers=False,
            compaction_floor=self.floor_ratio,
            background_budget_ratio=0,  # questions make room for themselves, so that it can be told what it takes them
        )
        configuration = Configuration(settings, {}, {}, home=self.folder / "home")
        choice = Choice("scripted", "a benchmark", "scripted", "scripted-1")
        models = Models(lambda _configuration, _now_s: choice, lambda _choice: self.model)
        equipment = Equipment(wiring.explorers(), Threads(), self.clock, wiring.tree_files())
        self.desk = QuestionDesk(configuration, lambda: configuration, models, self.store, equipment)

    @property
    def root(self) -> Path:
        return self.folder.resolve() / "repo"

    @property
    def compactions(self) -> int:
        return int(str(self.desk.stats(str(self.root))["compactions"]))

    async def observe(self, number: int) -> None:
        """Have a file read by somebody else: a hundredth of all that is observed."""
        path = self.root / "src" / f"handler_{number}.py"
        filling = f"    # a line of handler_{number} that says little, and takes its place\n"
        lines = self.window_tokens * TIMES_THE_WINDOW // QUESTIONS * 4 // len(filling)
        path.write_text(f"def handler_{number}(): return {number + 3}\n" + filling * lines)
        await self.desk.observe(FileNotice(str(self.root), "touched", (str(path),)))
        self.tally.new_tokens += estimate_tokens(path.read_text())
        self.clock.advance(PAUSE_S)

    async def ask(self, number: int) -> None:
        before, started_s = len(self.model.requests), time.perf_counter()
        answer = await self.desk.ask(Question(f"What else depends on the handlers, number {number}?", str(self.root)))
        took_ms = (time.perf_counter() - started_s) * 1000
        requests = self.model.requests[before:]
        if len(requests) > 1:
            self.tally.compacting_ms.append(took_ms)
        trailing = requests[-1].prompt.turns[-1].blocks
        self.tally.new_tokens += sum(estimate_tokens(block.text) for block in trailing if isinstance(block, Text))
        self.tally.new_tokens += estimate_tokens(answer.text)


async def play(stage: Stage) -> Tally:
    """QUESTIONS questions, with a file observed before each, and as many more as it takes to come to ten compactions."""
    tally = stage.tally
    for number in range(QUESTIONS):
        await stage.observe(number)
        await stage.ask(number)
    root = str(stage.root)
    tally.compactions = stage.compactions
    tally.asked = stage.store.account(root, purpose="question").usage
    tally.summaries = stage.store.account(root, purpose="compaction").usage
    frozen = replace(tally)
    number = QUESTIONS
    while stage.compactions < TEN_COMPACTIONS and number < MOST_QUESTIONS:
        await stage.observe(number)
        await stage.ask(number)
        number += 1
    lost_facts = lost(tally, stage.store, root)
    result = replace(frozen, lost=lost_facts, compactions_in_all=stage.compactions)
    await stage.desk.close(1)
    return result


def lost(tally: Tally, store: SqliteStore, root: str) -> int:
    """How many of the facts that were distilled are neither in the ledger nor among the first that search finds."""
    saved = store.load(root)
    rendered = saved.window.ledger if saved else ""
    missing = 0
    for told in tally.told:
        name = told.split("`")[1]
        found = store.notes.search(root, f"How often does {name} retry?", FOUND_AMONG)
        is_found = any(each.text == told for each in found)
        missing += not (is_found or f"- {told}\n" in rendered)
    return missing


def both(window_tokens: int) -> tuple[Tally, Tally]:
    """A run with the floor as it is by default, and one with the floor at the threshold."""
    defaults = Settings()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        good = asyncio.run(play(Stage(Path(one), window_tokens, defaults.compaction_floor)))
        bad = asyncio.run(play(Stage(Path(other), window_tokens, defaults.compaction_threshold)))
    return good, bad


def run() -> list[Row]:
    """Compactions, cache and facts at two sizes of the window."""
    rows = []
    for window_tokens in (SMALL, LARGE):
        good, bad = both(window_tokens)
        size = f"{window_tokens // 1000}k window, {TIMES_THE_WINDOW} × its size observed, {QUESTIONS} questions"
        rows.append(
            Row(
                size,
                good.shown(),
                f"floor = threshold: {bad.shown()}",
                f"from cache ≥ {HIT_TARGET:.0%}",
                good.hit_ratio >= HIT_TARGET,
            )
        )
        rows.append(
            Row(
                f"{window_tokens // 1000}k window: facts lost of those distilled",
                f"{good.lost} of {len(good.told)}, after {good.compactions_in_all} compactions",
                f"{bad.lost} of {len(bad.told)}",
                "0 after ten",
                good.lost == 0 and good.compactions_in_all >= TEN_COMPACTIONS,
            )
        )
        rows.append(
            Row(
                f"{window_tokens // 1000}k window: own time of a question that compacts",
                f"p50 {median(good.compacting_ms):.0f} ms",
                f"p50 {median(bad.compacting_ms):.0f} ms, {len(bad.compacting_ms)} of them",
            )
        )
    return rows
