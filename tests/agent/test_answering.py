"""What an answer is made of: the prompt, the rounds of tool calls, the places it names, what it cost."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent.scene import GROUNDED, last_words, make_scene, read_call

from live_memory.llm.base import Usage
from live_memory.llm.choice import Choice
from live_memory.llm.scripted import ScriptedReply
from live_memory.window.messages import Text, ToolCall, ToolResult, Turn


async def test_an_answer_carries_the_places_it_names_each_checked(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [read_call("server.py"), "The port is set at server.py:1, used at server.py:99."])
    answer = await scene.ask("Where is the port set?")
    assert answer.text == "The port is set at server.py:1, used at server.py:99."
    assert [(c.path, c.line_start, c.state) for c in answer.citations] == [
        ("server.py", 1, "FRESH"),
        ("server.py", 99, "UNVERIFIED"),
    ]
    assert (answer.tool_calls, answer.files_read, answer.model) == (1, 1, "scripted-1")


async def test_a_file_changed_since_it_was_read_makes_its_citations_stale(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [read_call("server.py"), GROUNDED, "Still at server.py:1."])
    await scene.ask("Where is the port set?")
    (scene.root / "server.py").write_text("import os\nPORT = 1\n")
    answer = await scene.ask("And now?")
    assert [c.state for c in answer.citations] == ["STALE"]


async def test_the_question_comes_first_and_the_hints_after_it_and_only_the_question_is_kept(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED, "Second."])
    await scene.ask("Where is the port set?", 512)
    await scene.ask("And the token?")
    first, second = scene.requests()
    question, hints = first.prompt.turns[-1].blocks
    assert question == Text("Where is the port set?")
    assert isinstance(hints, Text)
    assert "60 seconds" in hints.text
    assert "512 tokens" in hints.text
    assert second.prompt.turns[:2] == (Turn("user", (question,)), Turn("assistant", (Text(GROUNDED),)))
    assert second.prompt.prefix_turns == 2


async def test_system_text_and_tools_are_the_same_bytes_in_every_request_also_when_time_runs_out(
    tmp_path: Path,
) -> None:
    script = [*(read_call("server.py", f"call-{n}") for n in range(3)), GROUNDED, "Two."]
    scene = make_scene(tmp_path, script, max_tool_rounds=3)
    await scene.ask("one?")
    await scene.ask("two?")
    assert "Time to finish" in last_words(scene.requests()[3])
    assert len({request.prompt.system for request in scene.requests()}) == 1
    assert len({id(request.prompt.tools) for request in scene.requests()}) == 1
    assert "docs/notes.md" in scene.requests()[0].prompt.system[0]


async def test_usage_and_cost_are_summed_over_all_requests_of_a_question(tmp_path: Path) -> None:
    first = ScriptedReply(tool_calls=(read_call("server.py"),), usage=Usage(1000, 10, 200, 30))
    second = ScriptedReply((GROUNDED,), usage=Usage(50, 20, 1200, 0))
    scene = make_scene(tmp_path, [first, second], price_input_usd=1.0, price_output_usd=10.0)
    answer = await scene.ask("Where?")
    assert answer.usage == Usage(1050, 30, 1400, 30)
    assert answer.cost_usd == pytest.approx((1050 + 1400 + 30) / 1e6 + 30 * 10 / 1e6)
    assert answer.with_trailer().startswith(GROUNDED + "\n\n---\n[live-memory] model=scripted-1 latency=")
    assert "tokens=2480/30(in/out) cached=1400 tool_calls=1 files_read=1 cost=$0.0028" in answer.with_trailer()
    assert answer.with_trailer().endswith("citations=1 fresh, 0 stale, 0 unverified")


async def test_on_a_subscription_the_cost_is_not_a_number(tmp_path: Path) -> None:
    choice = Choice("anthropic", "the subscription", "anthropic", "claude-haiku-4-5", auth="subscription")
    answer = await make_scene(tmp_path, [GROUNDED], choice=choice).ask("Where?")
    assert (answer.cost_usd, answer.is_metered) == (None, False)
    assert "cost=n/a(subscription)" in answer.with_trailer()


async def test_a_first_answer_that_rests_on_nothing_is_sent_back_once(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, ["It is 8080, I think.", read_call("server.py"), GROUNDED])
    answer = await scene.ask("Which port?")
    assert answer.text == GROUNDED
    assert "[Not yet]" in last_words(scene.requests()[1])
    exchange = await scene.ask("Next?")
    assert exchange.text != "It is 8080, I think."


async def test_an_answer_that_insists_on_resting_on_nothing_is_let_through(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, ["This is not about code.", "This is really not about code."])
    answer = await scene.ask("What is love?")
    assert answer.text == "This is really not about code."
    assert len(scene.requests()) == 2


async def test_a_cold_question_is_given_passages_so_that_one_request_is_enough(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED])
    await scene.ask("What does server do?")
    assert len(scene.requests()) == 1
    assert "<passages>\nserver.py:1-2\n</passages>" in last_words(scene.requests()[0])


async def test_a_warm_question_costs_no_search_and_no_tree(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED])
    for number in range(3):
        await scene.ask(f"What does server do? {number}")
    assert len(scene.tree.searches) == 1
    assert scene.tree.trees_made == 1
    assert len(scene.requests()) == 3


async def test_tool_calls_of_one_round_run_side_by_side_and_identical_ones_run_once(tmp_path: Path) -> None:
    round_of_three = ScriptedReply(
        tool_calls=(
            read_call("server.py", "a"),
            read_call("auth.py", "b"),
            ToolCall("c", "Read", '{ "file_path" : "server.py" }'),
        )
    )
    scene = make_scene(tmp_path, [round_of_three, read_call("auth.py", "d"), GROUNDED])
    answer = await scene.ask("Where?")
    assert len(scene.tree.tools_run) == 2
    assert answer.tool_calls == 4
    results = [block for block in scene.requests()[1].prompt.turns[-1].blocks if isinstance(block, ToolResult)]
    assert [result.call_id for result in results] == ["a", "b", "c"]
    assert results[0].text == results[2].text != results[1].text


async def test_a_refused_tool_call_is_told_to_the_model(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [read_call("nowhere.py"), GROUNDED])
    await scene.ask("Where?")
    result = scene.requests()[1].prompt.turns[-1].blocks[0]
    assert result == ToolResult("call-1", "There is no file nowhere.py.", is_error=True)


async def test_a_reply_cut_at_the_budget_says_so(tmp_path: Path) -> None:
    cut = ScriptedReply((GROUNDED,), stop_reason="max_tokens")
    scene = make_scene(tmp_path, [cut])
    answer = await scene.ask("Where?", 300)
    assert answer.text.startswith(f"{GROUNDED}\n\n[Cut at the answer's budget of 300 tokens")
    assert scene.requests()[0].max_output_tokens == 300


@pytest.mark.parametrize(("wished", "granted"), [(0, 2048), (1, 256), (99_999, 16_384), (1000, 1000)])
async def test_the_answer_budget_is_clamped(tmp_path: Path, wished: int, granted: int) -> None:
    scene = make_scene(tmp_path, [GROUNDED])
    await scene.ask("Where?", wished)
    assert scene.requests()[0].max_output_tokens == granted
