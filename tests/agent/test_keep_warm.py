"""A window kept in the provider's cache while nobody asks, and when that ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.scene import Scene, make_scene

from live_memory.agent.keep_warm import KeepWarm
from live_memory.agent.spend import Spend
from live_memory.agent.workspace import Workspace
from live_memory.clock import ManualClock
from live_memory.llm.base import CompletionRequest, Unavailable, Usage
from live_memory.llm.choice import Choice
from live_memory.llm.scripted import ScriptedModel, ScriptedReply, rendered

MINUTE_S = 60.0
GROUNDED = "The port is set in server.py:1."
HAIKU = Choice("anthropic", "a test", "anthropic", "claude-haiku-5-5", auth="key")


class Watched:
    """A desk whose one window has been asked about, and a clock."""

    def __init__(
        self, tmp_path: Path, replies: Callable[[CompletionRequest], Any] | None = None, **settings: Any
    ) -> None:
        self.clock = ManualClock()
        self.scene: Scene = make_scene(
            tmp_path,
            model=ScriptedModel([GROUNDED, *([replies] * 50 if replies else [])]),
            choice=HAIKU,
            clock=self.clock,
            **{"keep_warm": True, **settings},
        )
        self.spend = Spend(self.scene.store, self.clock)
        self.spend.note_client()
        self.keeper = KeepWarm(self.scene.store, self.spend, self.scene.desk._equipment)

    @property
    def workspace(self) -> Workspace:
        return self.scene.desk._workspaces[self.scene.root]

    async def pass_minutes(self, count: int) -> int:
        """Let the minutes pass, looking once in each; how many requests went out."""
        before = len(self.scene.requests())
        for _ in range(count):
            self.clock.advance(MINUTE_S)
            await self.keeper.visit(self.workspace, self.scene.desk._seat)
        return len(self.scene.requests()) - before


async def test_every_four_minutes_the_provider_reads_the_very_prefix_of_the_next_question(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    await watched.scene.ask("Where is the port?")
    assert await watched.pass_minutes(3) == 0
    assert await watched.pass_minutes(1) == 1
    assert await watched.pass_minutes(8) == 2
    await watched.scene.ask("And the token?")
    *_, ping, question = watched.scene.requests()
    assert (ping.max_output_tokens, ping.purpose, ping.cache_key) == (1, "keep-warm", question.cache_key)
    prefix = len(ping.prompt.turns) - 1
    assert ping.prompt.prefix_turns == question.prompt.prefix_turns == prefix
    assert rendered(question.prompt).startswith(rendered(ping.prompt).removesuffix("."))


async def test_it_is_charged_to_its_own_purpose_and_never_counted_as_a_question(tmp_path: Path) -> None:
    watched = Watched(tmp_path, lambda _request: ScriptedReply(("x",), usage=Usage(1, 1, 50_000)))
    await watched.scene.ask("Where is the port?")
    await watched.pass_minutes(4)
    account = watched.scene.store.account(purpose="keep-warm")
    assert (account.questions, account.requests, account.usage.cache_read_tokens) == (0, 1, 50_000)
    assert account.cost_usd == -account.saved_usd > 0
    assert watched.scene.store.account(purpose="question").questions == 1


async def test_it_stops_where_it_has_cost_as_much_as_writing_the_prefix_again(tmp_path: Path) -> None:
    watched = Watched(tmp_path, keep_warm_max_idle_s=86400)
    await watched.scene.ask("Where is the port?")
    watched.spend.background_refusal = lambda _seat: None  # type: ignore[method-assign, assignment]  # a client all day long
    break_even = 11  # (0.125 - 0.01) / 0.01 USD: what a re-write costs more than a read, in reads
    assert await watched.pass_minutes(4 * 30) == break_even
    figures = watched.keeper.figures(watched.workspace, watched.scene.desk._seat)
    assert figures["break_even_requests"] == figures["requests_since_question"] == break_even


async def test_a_new_question_begins_a_new_count(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    await watched.scene.ask("Where is the port?")
    await watched.pass_minutes(8)
    await watched.scene.ask("And the token?")
    figures = watched.keeper.figures(watched.workspace, watched.scene.desk._seat)
    assert (figures["requests_since_question"], figures["state"]) == (0, "every 240 s")


async def test_after_half_an_hour_without_a_question_the_window_may_grow_cold(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    await watched.scene.ask("Where is the port?")
    assert await watched.pass_minutes(60) == 7
    assert not watched.workspace.gate.is_warm


async def test_a_prefix_that_is_cold_is_left_alone(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    await watched.scene.ask("Where is the port?")
    watched.clock.advance(6 * MINUTE_S)  # the machine slept: the next request would write everything anew
    assert await watched.pass_minutes(10) == 0


async def test_it_is_off_unless_asked_for_and_over_the_budget(tmp_path: Path) -> None:
    off = Watched(tmp_path / "off", keep_warm=False)
    await off.scene.ask("Where is the port?")
    assert await off.pass_minutes(10) == 0
    spent = Watched(tmp_path / "spent", background_budget_ratio=0.0)
    await spent.scene.ask("Where is the port?")
    assert await spent.pass_minutes(10) == 0


async def test_a_provider_that_fails_is_asked_again_an_interval_later(tmp_path: Path) -> None:
    def fail(_request: CompletionRequest) -> ScriptedReply:
        return ScriptedReply(error=Unavailable("Overloaded."))

    watched = Watched(tmp_path, fail, keep_warm_interval_s=60)
    await watched.scene.ask("Where is the port?")
    assert await watched.pass_minutes(4) == 4
    assert watched.scene.store.account(purpose="keep-warm").requests == 0


async def test_the_desk_keeps_its_windows_warm_by_itself_and_ends_with_it(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED], keep_warm=True)
    await scene.ask("Where is the port?")
    task = scene.desk._keeping_warm
    assert task is not None
    assert not task.done()
    await scene.desk.close(1.0)
    assert task.done()
