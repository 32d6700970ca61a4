"""Prompts that grow too long: what is left out, what becomes a stub, what is refused."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from agent.scene import GROUNDED, make_scene, read_call

from live_memory.errors import QuestionError
from live_memory.llm.base import PromptTooLong
from live_memory.store.in_memory import InMemoryStore
from live_memory.window.messages import ToolResult


async def test_a_prompt_too_long_drops_the_oldest_history_from_the_prompt_and_asks_again(tmp_path: Path) -> None:
    script = [GROUNDED, *("x" * 4000 for _ in range(8)), PromptTooLong("too long"), "Fits."]
    store = InMemoryStore()
    scene = make_scene(tmp_path, script, store=store)
    for number in range(9):
        await scene.ask(f"q{number}")
    answer = await scene.ask("last")
    assert answer.text == "Fits."
    too_long, shorter = scene.requests()[-2:]
    assert 0 < shorter.prompt.prefix_turns < too_long.prompt.prefix_turns
    assert shorter.prompt.turns[shorter.prompt.prefix_turns] == too_long.prompt.turns[-1]
    await scene.ask("after")  # the window keeps below what was too long, by a compaction
    assert scene.requests()[-2].purpose == "compaction"
    assert scene.requests()[-1].prompt.prefix_turns < too_long.prompt.prefix_turns
    saved = store.load(str(scene.root))
    assert saved is not None
    assert len(saved.window.history.entries) + saved.window.left_out == 11


async def test_a_prompt_too_long_twice_is_a_sentence_and_passages(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [PromptTooLong("The prompt is too long: set max_context_tokens.")] * 2)
    answer = await scene.ask("What does server do?")
    assert "set max_context_tokens" in answer.text
    assert "server.py:1-2" in answer.text


async def test_old_tool_results_of_the_same_question_become_stubs_when_room_is_short(tmp_path: Path) -> None:
    scene = make_scene(
        tmp_path,
        [*(read_call(f"big{n}.py", f"call-{n}") for n in range(6)), GROUNDED],
        max_context_tokens=12_000,
        max_answer_tokens=1024,
    )
    for number in range(6):
        (scene.root / f"big{number}.py").write_text(f"value = {number}\n" * 1500)
    answer = await scene.ask("Where?")
    assert answer.text == GROUNDED
    final = scene.requests()[-1].prompt
    results = [block for turn in final.turns for block in turn.blocks if isinstance(block, ToolResult)]
    assert len(results) == 6
    assert "dropped to make room" in results[0].text
    assert "value = 5" in results[-1].text
    assert sum(len(result.text) for result in results) / 4 < 12_000


async def test_a_window_that_outgrows_its_budget_leaves_the_oldest_out_of_the_prompt_in_one_batch(
    tmp_path: Path,
) -> None:
    store = InMemoryStore()
    scene = make_scene(
        tmp_path, [GROUNDED] + ["x" * 2000] * 60, store=store, max_context_tokens=8000, max_answer_tokens=1000
    )
    shares, lengths = [], []
    for number in range(40):
        answer = await scene.ask(f"q{number}")
        shares.append(answer.context_ratio)
        lengths.append(scene.requests()[-1].prompt.prefix_turns)
    cuts = [after for before, after in itertools.pairwise(lengths) if after < before]
    assert max(shares) <= 1.0
    assert 1 <= len(cuts) <= 10  # batches, not one exchange at a time
    saved = store.load(str(scene.root))
    assert saved is not None
    assert len(saved.window.history.entries) + saved.window.left_out == 40


async def test_a_question_larger_than_the_window_is_refused_with_a_sentence(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, max_context_tokens=8000)
    with pytest.raises(QuestionError, match="shorten it"):
        await scene.ask("word " * 8000)
