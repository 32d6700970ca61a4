"""A scripted day of 20 sessions of one user at one repository, and the dream after it: what each part of the memory asks of a model and costs, as
`live-memory stats` shows it, at the prices of the default model. The baseline sends each transcript whole, once."""

from __future__ import annotations

import asyncio
import json
import random
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.table import Row
from memory.capture.scripts import Script

from live_memory import wiring
from live_memory.agent.answers import Question
from live_memory.agent.desk import QuestionDesk
from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import Threads
from live_memory.agent.ingest import FileNotice
from live_memory.agent.seat import Models
from live_memory.clock import ManualClock
from live_memory.configuration import Configuration
from live_memory.llm.base import CompletionRequest
from live_memory.llm.catalog import model_card
from live_memory.llm.choice import Choice
from live_memory.llm.pricing import rates_in_force
from live_memory.llm.scripted import ScriptedModel
from live_memory.memory.capture.distiller import Bench
from live_memory.memory.capture.keeping import Keeping
from live_memory.memory.capture.reports import SessionReport
from live_memory.memory.capture.runner import Capture
from live_memory.memory.dream.runner import DreamBench, Dreams
from live_memory.settings import Settings
from live_memory.store.base import Account
from live_memory.store.sqlite import SqliteStore
from live_memory.window.messages import Text

SESSIONS = 20
TRIVIAL_EACH = 4  # every fourth session is a word of thanks
WORKED = [number for number in range(SESSIONS) if number % TRIVIAL_EACH]
PROMPTS, TOOLS = 8, 10  # of a session; of a prompt
RESULT_CHARS = 3000
QUESTIONS, FILES = 4, 6  # to the window, of a session; read by Claude in it
FILE_CHARS = 6000
REPLIES = 2000
MODEL = "claude-haiku-5-5"
CHARS_PER_TOKEN = 4
TOKENS_PER_PRICE = 1_000_000
MIN_ANSWER = "It is in src/module_1.py:1, and nothing else in this tree depends on it. " * 6
DECISION = re.compile(r"We settle that limit (\d+) is (\d+) because of the gateway")
SYLLABLES = ("cart", "token", "queue", "index", "patch", "route", "price", "order", "batch", "shard", "lock", "probe")


@dataclass(slots=True)
class Actor:
    """All parts of the model: it answers, distils what leaves the window, finds the decisions of a session, and has no advice
    for a dream."""

    def reply(self, request: CompletionRequest) -> str:
        if request.purpose == "compaction":
            return "\n".join(
                f"`fact_{n}` in src/module_{n}_0.py gives {n} retries before it stops." for n in WORKED[:8]
            )
        if request.purpose == "dream":
            return json.dumps({"reviews": [], "merges": []})
        if request.purpose != "capture":
            return MIN_ANSWER
        blocks = (block.text for turn in request.prompt.turns for block in turn.blocks if isinstance(block, Text))
        notes = [
            _note(match) for match in DECISION.finditer("\n".join(blocks).partition("The part of the session:")[2])
        ]
        account = {"topic": "Limits of the gateway", "done": ["settled a limit"], "open": ["write the tests"]}
        return json.dumps({"notes": notes, "session": account})


@dataclass(slots=True)
class Day:
    """One server's parts over one database, and a repository."""

    folder: Path
    chance: random.Random = field(default_factory=lambda: random.Random(6))
    clock: ManualClock = field(default_factory=ManualClock)
    transcript_bytes: int = 0
    settings: Settings = field(default_factory=Settings)
    desk: QuestionDesk = field(init=False)
    capture: Capture = field(init=False)
    dreams: Dreams = field(init=False)
    store: SqliteStore = field(init=False)

    def __post_init__(self) -> None:
        (self.root / ".git").mkdir(parents=True)
        (self.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (self.root / "src").mkdir()
        configuration = Configuration(self.settings, {}, {}, home=self.folder / "home")
        choice = Choice("anthropic", "a benchmark", "anthropic", MODEL)
        model = ScriptedModel([Actor().reply] * REPLIES, name=MODEL, provider="anthropic")
        models = Models(lambda _configuration, _now_s: choice, lambda _choice: model)
        self.store, threads = SqliteStore(self.folder / "live-memory.db"), Threads()
        equipment = Equipment(wiring.explorers(), threads, self.clock, wiring.tree_files())
        self.desk = QuestionDesk(configuration, lambda: configuration, models, self.store, equipment)
        notes = self.store.note_store
        library = wiring.library_over(notes, self.desk.root, lambda: self.settings, threads, self.clock)
        keeping = Keeping(library.notebook, notes, self.clock)
        bench = Bench(self.store.transcripts, keeping, self.desk.background, threads, self.clock)
        self.capture = Capture(bench, library.places)
        means = wiring.means(self.store, threads, self.desk.background)
        self.dreams = Dreams(DreamBench(self.store, means, self.clock), library.places)

    @property
    def root(self) -> Path:
        return self.folder.resolve() / "repo"

    async def session(self, number: int) -> None:
        """Claude works and asks; the session ends; what was said is distilled."""
        script = Script(self.folder / f"{number:08}-session.jsonl")
        if number % TRIVIAL_EACH == 0:
            script.user("Thanks!").claude("You are welcome.")
        else:
            await self._work(script, number)
        self.transcript_bytes += script.size_bytes
        path = str(script.path)
        report = SessionReport(str(self.root), script.path.stem, "session-end", path, script.size_bytes)
        self.desk.note_client()
        await self.capture.report(report)
        await self.capture.look()
        self.clock.advance(1200)

    async def night(self) -> None:
        """Half of the files that were worked on have become others by the time of the dream."""
        for number in WORKED[::2]:
            (self.root / "src" / f"module_{number}_0.py").write_text(f"# {self._words(FILE_CHARS // 6)}\n")
        await self.desk.ask(Question("What has changed?", str(self.root)))
        await self.dreams.dream(str(self.root), "force")

    async def _work(self, script: Script, number: int) -> None:
        for prompt in range(PROMPTS):
            script.user(f"Step {prompt} of {number}: {self._words(40)}.")
            for _ in range(TOOLS):
                script.tool("Bash", self._words(RESULT_CHARS // 6), command=f"make {self._words(2)}")
            script.claude(f"{self._words(100)}.")
        script.user(f"We settle that limit {number} is {number * 7} because of the gateway. {self._words(10)}.")
        script.tool("Edit", "ok", file_path=str(self.root / "src" / "limits.py"))
        script.claude(f"Written down. {self._words(40)}.")
        for each in range(FILES):
            path = self.root / "src" / f"module_{number}_{each}.py"
            path.write_text(f"VALUE = {each}\n" + f"# {self._words(FILE_CHARS // 6)}\n")
            await self.desk.observe(FileNotice(str(self.root), "touched", (str(path),)))
        for each in range(QUESTIONS):
            await self.desk.ask(Question(f"What depends on module {number}, part {each}?", str(self.root)))
            self.clock.advance(60)

    def _words(self, count: int) -> str:
        return " ".join(self.chance.choice(SYLLABLES) for _ in range(count))


async def play(folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Account], int]:
    """The day's stats, the account of each part, and the size of all transcripts."""
    day = Day(folder)
    for number in range(SESSIONS):
        await day.session(number)
    await day.night()
    stats: dict[str, Any] = {**day.desk.stats(""), "capture": day.capture.figures()}
    parts = ("question", "compaction", "capture", "dream")
    accounts = {part: day.store.account(purpose=part) for part in parts}  # type: ignore[arg-type]  # purposes
    size_bytes = day.transcript_bytes
    await day.dreams.close()
    await day.desk.close(1)
    return stats, accounts, size_bytes


def run() -> list[Row]:
    """Requests, tokens and money of each part, beside the day's caps."""
    with tempfile.TemporaryDirectory() as folder:
        stats, accounts, transcript_bytes = asyncio.run(play(Path(folder)))
    settings = Settings()
    rates = rates_in_force(model_card("anthropic", MODEL), 0, 0.0)
    whole_tokens = transcript_bytes // CHARS_PER_TOKEN
    whole_usd = whole_tokens * rates.input_usd / TOKENS_PER_PRICE if rates else 0.0
    baselines = {"capture": f"whole transcripts: {whole_tokens:,} tokens, ${whole_usd:.2f}"}
    rows = [
        Row(f"a day of {SESSIONS} sessions: {part}", _shown(account), baselines.get(part, ""))
        for part, account in accounts.items()
    ]
    capture, total_usd = stats["capture"], stats["cost_usd"]
    kept = f"{capture['captured']} notes, {capture['disputed']} disputed, {capture['refused']} refused, {capture['queue_length']} waiting"
    worth = SESSIONS - SESSIONS // TRIVIAL_EACH
    rows.append(Row("a day: captured", kept, "", f"{worth} decisions", capture["captured"] == worth))
    background_usd = sum(accounts[part].cost_usd for part in ("compaction", "capture", "dream"))
    cap_usd = settings.daily_budget_usd
    share_usd = cap_usd * settings.background_budget_ratio
    rows.append(
        Row("a day: background", f"${background_usd:.3f}", "", f"≤ ${share_usd:.2f}", background_usd <= share_usd)
    )
    rows.append(Row("a day: all of it", f"${total_usd:.3f}", "", f"≤ ${cap_usd:.2f}", total_usd <= cap_usd))
    return rows


def _shown(account: Account) -> str:
    usage = account.usage
    read = f"{usage.prompt_tokens:,} tokens in ({usage.cache_read_tokens:,} from cache)"
    return f"{account.requests} requests, {read}, {usage.output_tokens:,} out, ${account.cost_usd:.3f}"


def _note(match: re.Match[str]) -> dict[str, object]:
    title = f"Limit {match[1]} is {match[2]}"
    return {
        "kind": "decision",
        "title": title,
        "description": title,
        "body": f"{title}, because of the gateway.",
        "evidence": match[0],
        "files": [],
    }
