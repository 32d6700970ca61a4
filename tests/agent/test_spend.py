"""What may be asked of a model today, and what work in the background may."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agent.scene import last_words, make_scene, read_call

from live_memory.agent.seat import ModelSeat
from live_memory.agent.spend import CLIENT_ACTIVE_S, Spend
from live_memory.clock import ManualClock
from live_memory.llm.base import CompletionRequest, Usage
from live_memory.llm.choice import Choice
from live_memory.llm.retry import DEFAULT_BACKOFF
from live_memory.llm.scripted import ScriptedReply
from live_memory.settings import Settings
from live_memory.store.base import Account, Answered
from live_memory.store.in_memory import InMemoryStore

ROOT = "/srv/repo"
NONE = Usage()
DAY_S = 86400.0


class Day:
    """A day's accounts, and a client that has just been there."""

    def __init__(self, **settings: Any) -> None:
        self.clock = ManualClock()
        self.store = InMemoryStore()
        self.spend = Spend(self.store, self.clock)
        self.spend.note_client()
        self.seat = ModelSeat(Choice("openai", "a test"), "", None, Settings(**settings), None, DEFAULT_BACKOFF)

    def answer(self, cost_usd: float, usage: Usage = NONE) -> None:
        self.store.record(ROOT, Answered(Account(1, 1, usage, cost_usd), self.clock.wall_s()))

    def work(self, cost_usd: float) -> None:
        self.store.charge(ROOT, "compaction", Account(0, 1, Usage(), cost_usd), self.clock.wall_s())


def test_once_the_day_s_money_is_spent_no_question_goes_to_a_model_until_midnight() -> None:
    day = Day(daily_budget_usd=1.0)
    day.answer(0.6)
    assert day.spend.refusal(day.seat) == ""
    day.work(0.5)
    assert "daily_budget_usd" in day.spend.refusal(day.seat)
    day.clock.advance(DAY_S)
    assert day.spend.refusal(day.seat) == ""


def test_a_budget_of_tokens_does_not_count_what_was_read_from_the_cache() -> None:
    day = Day(daily_budget_tokens=1_000, daily_budget_usd=0.0)
    day.answer(0.0, Usage(input_tokens=400, output_tokens=100, cache_read_tokens=900_000, cache_write_tokens=400))
    assert day.spend.refusal(day.seat) == ""
    day.answer(0.0, Usage(output_tokens=100))
    assert "today's budget of 1,000 tokens is spent" in day.spend.refusal(day.seat)


def test_a_subscription_is_bound_by_tokens_and_not_by_money() -> None:
    day = Day(daily_budget_usd=1.0, daily_budget_tokens=1_000)
    day.seat.choice = Choice("anthropic", "a test", auth="subscription")
    day.answer(5.0)
    assert day.spend.refusal(day.seat) == ""
    day.answer(0.0, Usage(input_tokens=1_000))
    assert day.spend.refusal(day.seat)


def test_work_in_the_background_gets_a_share_of_the_budget_and_questions_all_of_it() -> None:
    day = Day(daily_budget_usd=1.0, background_budget_ratio=0.25)
    day.answer(0.5)
    assert day.spend.background_refusal(day.seat) is None
    day.work(0.25)
    assert day.spend.background_refusal(day.seat) == "background-share"
    assert day.spend.refusal(day.seat) == ""
    day.answer(0.5)
    assert day.spend.background_refusal(day.seat) == "budget"


def test_a_share_of_nothing_allows_no_work_even_without_a_budget() -> None:
    assert Day(daily_budget_usd=0.0).spend.background_refusal(Day().seat) is None
    day = Day(daily_budget_usd=0.0, background_budget_ratio=0.0)
    assert day.spend.background_refusal(day.seat) == "background-share"


def test_nothing_is_paid_for_once_no_client_has_been_there_for_half_an_hour() -> None:
    day = Day()
    day.clock.advance(CLIENT_ACTIVE_S)
    assert day.spend.background_refusal(day.seat) is None
    day.clock.advance(1)
    assert day.spend.background_refusal(day.seat) == "no-client"
    assert Spend(day.store, day.clock).background_refusal(day.seat) == "no-client"


async def test_a_question_that_uses_up_the_day_s_money_by_itself_is_asked_for_its_answer(tmp_path: Path) -> None:
    def dear(_request: CompletionRequest) -> ScriptedReply:
        return ScriptedReply(tool_calls=(read_call("server.py"),), usage=Usage(input_tokens=50_000))  # $0.005

    haiku = Choice("anthropic", "a test", "anthropic", "claude-haiku-5-5", auth="key")
    scene = make_scene(tmp_path, [*[dear] * 3, "The port is set in server.py:1."], choice=haiku, daily_budget_usd=0.014)
    answer = await scene.ask("Where is the port?")
    assert answer.text == "The port is set in server.py:1."
    assert len(scene.requests()) == 4
    assert "[Time to finish]" in last_words(scene.requests()[-1])


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"daily_budget_usd": 0.01}, "daily_budget_usd"), ({"daily_budget_tokens": 10}, "daily_budget_tokens")],
)
async def test_over_the_budget_the_answer_is_passages_and_says_so(
    tmp_path: Path, settings: dict[str, Any], word: str
) -> None:
    clock = ManualClock()
    scene = make_scene(tmp_path, clock=clock, **settings)
    scene.store.record("/another/repo", Answered(Account(1, 1, Usage(20), 0.02), clock.wall_s()))
    answer = await scene.ask("Where is the port in server?")
    assert answer.model == "passages"
    assert word in answer.text
    assert "server.py:1-2" in answer.text
    assert scene.requests() == []
