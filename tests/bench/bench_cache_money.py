"""What a working day of questions costs at Anthropic's list price: with no cache, with five minutes of it, and by the
rhythm of the questions, with and without keep-warm. The provider's cache is simulated by its own rules."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from agent.scene import make_scene
from bench.table import Row
from support.anthropic_cache import AnthropicCache
from support.prompts import anthropic_choice

from live_memory.clock import ManualClock
from live_memory.llm.anthropic import AnthropicModel
from live_memory.llm.base import Completion, CompletionRequest, Usage

MODEL = "claude-haiku-5-5"
TREE_FILES = 1500
QUESTIONS = 80
MINUTE_S = 60
ANSWER = "The port is set in server.py:1. " * 40
RHYTHMS: dict[str, Callable[[random.Random], int]] = {
    "bursts, minutes apart": lambda r: r.choice((1, 1, 1, 2, 3, 30)),
    "one question every 6 to 20 minutes": lambda r: r.randint(6, 20),
}


@dataclass
class SimulatedAnthropic:
    """Answers at once; its usage is what the simulated cache says of the very body that the adapter makes."""

    clock: ManualClock
    lifetime: Literal["by rhythm", "5m"] = "by rhythm"
    name: str = MODEL
    provider: str = "anthropic"

    def __post_init__(self) -> None:
        self.cache = AnthropicCache(self.clock)
        self._adapter = AnthropicModel(anthropic_choice("https://provider.test", MODEL))

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        if self.lifetime == "5m":
            request = replace(request, cache_lifetime="5m")
        counted: dict[str, Any] = self.cache.take(self._adapter.wire(request)).usage
        usage = Usage(
            counted["input_tokens"],
            len(ANSWER) // 4,
            counted["cache_read_input_tokens"],
            counted["cache_creation_input_tokens"],
            counted["cache_creation"]["ephemeral_1h_input_tokens"],
        )
        on_text(ANSWER)
        return Completion(ANSWER, (), usage, "end")

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing to close."""


async def day(
    rhythm: str, *, lifetime: Literal["by rhythm", "5m"] = "by rhythm", keep_warm: Literal["on", "off"] = "off"
) -> tuple[float, float]:
    """USD that the day cost, and what it would have cost with no cache."""
    chance, clock = random.Random(7), ManualClock()
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo"
        repo.mkdir()
        (repo / "server.py").write_text("PORT = 7711\n")
        for number in range(TREE_FILES):
            (repo / f"module_{number:05}.py").touch()
        choice = anthropic_choice("https://provider.test", MODEL)
        model = SimulatedAnthropic(clock, lifetime)
        scene = make_scene(Path(folder), model=model, choice=choice, clock=clock, reuse_answers=False,
                           force_explore_when_cold=False, keep_warm=keep_warm == "on", daily_budget_usd=0.0)  # fmt: skip
        desk = scene.desk
        for number in range(QUESTIONS):
            await scene.ask(f"Where is the port that number {number} listens on?")
            for _ in range(RHYTHMS[rhythm](chance)):
                clock.advance(MINUTE_S)
                await desk._keep_warm.visit(desk._workspaces[scene.root], desk._seat)
        account = scene.store.account()
        await desk.close(1.0)
    return account.cost_usd, account.cost_usd + account.saved_usd


def run() -> list[Row]:
    rows = []
    for rhythm in RHYTHMS:
        short_usd, uncached_usd = asyncio.run(day(rhythm, lifetime="5m"))
        chosen_usd, _ = asyncio.run(day(rhythm))
        kept_usd, _ = asyncio.run(day(rhythm, keep_warm="on"))
        rows.append(
            Row(
                f"{QUESTIONS} questions ({rhythm})",
                f"${chosen_usd:.4f}; with keep-warm ${kept_usd:.4f}",
                f"no cache ${uncached_usd:.4f}, always 5 min ${short_usd:.4f}",
                "no dearer than 5 min",
                chosen_usd <= short_usd * 1.02,
            )
        )
    return rows
