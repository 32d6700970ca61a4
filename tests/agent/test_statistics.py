"""What `/stats` shows of a window, of the provider's cache and of the money."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agent.scene import Scene, make_scene

from live_memory.clock import ManualClock
from live_memory.llm.base import CompletionRequest, Usage
from live_memory.llm.choice import Choice
from live_memory.llm.scripted import ScriptedModel, ScriptedReply, rendered

GROUNDED = "The port is set in server.py:1."
HAIKU = Choice("anthropic", "a test", "anthropic", "claude-haiku-5-5", auth="key")


def cached(_request: CompletionRequest) -> ScriptedReply:
    """An answer whose prompt was mostly read from the cache."""
    return ScriptedReply((GROUNDED,), usage=Usage(1_000, 100, 80_000, 2_000))


def figures_of(scene: Scene) -> dict[str, Any]:
    return dict(scene.desk.stats(str(scene.root)))


def metered(tmp_path: Path, clock: ManualClock | None = None, **settings: Any) -> Scene:
    model = ScriptedModel([cached] * 20)
    return make_scene(tmp_path, model=model, choice=HAIKU, clock=clock or ManualClock(), **settings)


async def test_the_money_saved_is_what_the_same_would_have_cost_without_any_cache(tmp_path: Path) -> None:
    scene = metered(tmp_path)
    await scene.ask("Where is the port?")
    figures = figures_of(scene)
    cost_usd = (1_000 * 0.1 + 100 * 0.5 + 80_000 * 0.01 + 2_000 * 0.125) / 1e6
    assert figures["cost_usd"] == pytest.approx(cost_usd)
    assert figures["saved_by_cache_usd"] == pytest.approx((83_000 * 0.1 + 100 * 0.5) / 1e6 - cost_usd)
    assert figures["tokens"]["share_read_from_cache_ratio"] == pytest.approx(80 / 83, abs=1e-4)
    nothing = dict.fromkeys(("compaction_usd", "keep_warm_usd", "capture_usd", "dream_usd"), 0.0)
    assert figures["cost_of"] == {"question_usd": figures["cost_usd"], **nothing}
    assert figures["budget"]["left_today_usd"] == pytest.approx(2.0 - cost_usd)
    assert figures["budget"]["left_today_in_background_usd"] == 0.5


async def test_the_cache_is_warm_for_five_minutes_after_a_reply_and_the_time_is_named(tmp_path: Path) -> None:
    clock = ManualClock()
    (tmp_path / "repo").mkdir()
    scene = metered(tmp_path, clock)
    (scene.root / ("a" * 100)).mkdir()
    for number in range(60):
        (scene.root / ("a" * 100) / f"{number:04}{'b' * 60}.py").write_text("")
    assert figures_of(scene)["cache"]["state"] != "warm"
    await scene.ask("Where is the port?")
    cache = figures_of(scene)["cache"]
    assert (cache["state"], cache["lifetime_s"]) == ("warm", 300.0)
    assert cache["warm_until"] == "2027-01-15 08:05:00 UTC"
    clock.advance(301)
    assert figures_of(scene)["cache"]["state"] == "cold"


async def test_a_prompt_shorter_than_what_the_model_caches_is_said_to_be(tmp_path: Path) -> None:
    choice = Choice("anthropic", "a test", "anthropic", "claude-haiku-4-5", auth="key")
    scene = make_scene(tmp_path, [GROUNDED], choice=choice)
    await scene.ask("Where is the port?")
    cache = figures_of(scene)["cache"]
    assert cache["state"] == "too short to be cached"
    assert "claude-haiku-4-5 caches from 4,096 tokens on" in cache["note"]


async def test_what_broke_the_prefix_last_is_named_with_its_time(tmp_path: Path) -> None:
    clock = ManualClock()
    scene = metered(tmp_path, clock)
    await scene.ask("Where is the port?")
    assert "last_broken_by" not in figures_of(scene)["cache"]
    clock.advance(60)
    await scene.desk.reset(str(scene.root))
    cache = figures_of(scene)["cache"]
    assert (cache["last_broken_by"], cache["last_broken_at"]) == ("reset", "2027-01-15 08:01:00 UTC")


async def test_questions_ten_minutes_apart_have_their_prefix_kept_for_an_hour(tmp_path: Path) -> None:
    clock = ManualClock()
    scene = metered(tmp_path, clock, reuse_answers=False)
    for number in range(5):
        await scene.ask(f"Where is the port? ({number})")
        clock.advance(600)
    assert [request.cache_lifetime for request in scene.requests()] == ["5m", "5m", "5m", "1h", "1h"]
    assert figures_of(scene)["cache"]["lifetime_s"] == 3600.0


async def test_files_are_counted_by_what_is_known_of_them(tmp_path: Path) -> None:
    scene = metered(tmp_path)
    await scene.ask("Where is the port?")
    assert set(figures_of(scene)["files"]) == {"fresh", "stale", "deleted", "with_text", "changed"}
    assert figures_of(scene)["ledger"] == {"facts": 0, "size_tokens": 0}


async def test_a_model_that_counts_more_tokens_than_estimated_gets_smaller_prompts(tmp_path: Path) -> None:
    def dense(request: CompletionRequest) -> ScriptedReply:
        return ScriptedReply((GROUNDED,), usage=Usage(input_tokens=len(rendered(request.prompt)) // 2))

    scene = make_scene(tmp_path, model=ScriptedModel([dense] * 8), reuse_answers=False, max_context_tokens=20_000)
    before = scene.desk._seat.budget(2048).max_tokens
    for number in range(6):
        await scene.ask(f"Where is the port? ({number})")
    after = scene.desk._seat.budget(2048).max_tokens
    assert after == pytest.approx(before / 2, rel=0.15)
    assert figures_of(scene)["context"]["max_tokens"] == pytest.approx(before, rel=0.01)
