"""What a caller gets where the model has too little time, breaks off, fails, or is not there at all."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from agent.scene import GROUNDED, last_words, make_scene, read_call

from live_memory.clock import ManualClock
from live_memory.llm.base import BadKey, BadReply, Unavailable, UnknownModel, Usage
from live_memory.llm.choice import Choice
from live_memory.llm.scripted import ScriptedReply
from live_memory.window.messages import Text, ToolResult


async def test_at_the_reserve_the_model_is_asked_to_answer_from_what_it_has(tmp_path: Path) -> None:
    clock = ManualClock()

    def slow_read(_request: object) -> ScriptedReply:
        clock.advance(50)
        return ScriptedReply(tool_calls=(read_call("server.py"),))

    scene = make_scene(tmp_path, [slow_read, GROUNDED], clock=clock)
    answer = await scene.ask("Where?")
    assert (answer.text, answer.timed_out) == (GROUNDED, False)
    assert "[Time to finish]" in last_words(scene.requests()[1])


async def test_a_question_that_runs_out_of_time_returns_the_best_answer_so_far(tmp_path: Path) -> None:
    hanging = ScriptedReply(("The port is ", "set at server.py:1"), hold=asyncio.Event())
    scene = make_scene(tmp_path, [hanging, "Next."], default_timeout_s=0.3)
    answer = await scene.ask("What does server do?")
    assert answer.timed_out
    assert answer.text.startswith("The port is set at server.py:1\n\n[Stopped at the time limit of 0.3 s")
    assert "server.py:1-2" in answer.text  # the passages found
    assert [c.state for c in answer.citations] == ["FRESH", "FRESH"]
    await scene.ask("Next?")
    kept = scene.requests()[1].prompt.turns[1].blocks[0]
    assert kept == Text("The port is set at server.py:1\n\n[Stopped here: the time was up.]")


async def test_the_words_of_a_broken_stream_are_kept_where_no_further_try_brings_any(tmp_path: Path) -> None:
    broken = ScriptedReply(("The port is set ",), error=Unavailable("The reply broke off."))
    scene = make_scene(tmp_path, [broken, *[Unavailable("The provider is overloaded.")] * 4])
    answer = await scene.ask("What does server do?")
    assert answer.text.startswith(
        "The port is set\n\n[The model scripted-1 did not answer: The provider is overloaded.]"
    )


async def test_the_words_of_a_broken_stream_give_way_to_a_whole_answer_however_short(tmp_path: Path) -> None:
    broken = ScriptedReply(("The port is set somewhere, as far as ",), error=Unavailable("The reply broke off."))
    scene = make_scene(tmp_path, [broken, GROUNDED])
    assert (await scene.ask("What does server do?")).text == GROUNDED


async def test_a_model_that_says_nothing_in_time_leaves_passages(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [ScriptedReply(hold=asyncio.Event())], default_timeout_s=0.2)
    answer = await scene.ask("What does server do?")
    assert answer.timed_out
    assert answer.text.startswith("The model scripted-1 had no answer within 0.2 s")
    assert "server.py:1-2" in answer.text


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (BadKey("The key was refused: set ANTHROPIC_API_KEY."), "did not answer: The key was refused"),
        (UnknownModel("There is no model x: set another."), "did not answer: There is no model x"),
        (Unavailable("The provider is overloaded: try later."), "did not answer: The provider is overloaded"),
        (ScriptedReply(("No.",), stop_reason="refusal"), "declined to answer"),
        (ScriptedReply(("",)), "sent no text"),
    ],
)
async def test_a_model_that_cannot_answer_leaves_passages_and_one_line_why(
    tmp_path: Path, failure: object, sentence: str
) -> None:
    scene = make_scene(tmp_path, [failure] * 5)
    answer = await scene.ask("What does server do?")
    reason, _, rest = answer.text.partition("\n\n")
    assert sentence in reason
    assert "server.py:1-2" in rest
    assert answer.model == "passages"
    assert [c.state for c in answer.citations] == ["FRESH"]
    assert scene.desk.stats(str(scene.root))["messages"] == 0


async def test_without_a_model_the_answer_is_passages_and_says_why(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, choice=Choice("passages", "no provider's key is set"))
    answer = await scene.ask("What does server do?")
    assert answer.text.startswith("No model answered, because no provider's key is set.")
    assert "server.py:1-2" in answer.text
    assert answer.to_json()["cost_usd"] == 0.0
    assert not scene.desk.needs_packages()


async def test_a_question_that_fits_nothing_is_told_so(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, choice=Choice("passages", "the setting provider is passages"))
    assert "Nothing in the code fits" in (await scene.ask("Xyzzy?")).text


async def test_over_the_day_s_budget_answers_are_passages(tmp_path: Path) -> None:
    dear = ScriptedReply((GROUNDED,), usage=Usage(6, 1))
    clock = ManualClock()
    scene = make_scene(
        tmp_path,
        [dear, GROUNDED],
        clock=clock,
        price_input_usd=1_000_000.0,
        price_output_usd=0.0,
        daily_budget_usd=5.0,
    )
    await scene.ask("What does server do?")
    answer = await scene.ask("What does server do?")
    assert answer.text.startswith("No model answered, because today's budget of $5 is spent")
    clock.advance(86_400)
    assert (await scene.ask("What does server do?")).model == "scripted-1"


async def test_a_model_that_only_calls_tools_is_made_to_finish(tmp_path: Path) -> None:
    script = [read_call("server.py", f"call-{number}") for number in range(10)]
    scene = make_scene(tmp_path, script, max_tool_rounds=3)
    answer = await scene.ask("What does server do?")
    assert len(scene.requests()) == 5
    assert "sent no text" in answer.text
    late = scene.requests()[4].prompt.turns[-1].blocks
    assert late[0] == ToolResult("call-3", "Not run: the time for tool calls is over.", is_error=True)


async def test_a_reply_broken_off_in_its_midst_keeps_what_it_said(tmp_path: Path) -> None:
    broken = ScriptedReply(("Half of the truth is at server.py:1",), error=BadReply("The reply broke off: ask again."))
    scene = make_scene(tmp_path, [broken, broken, "Next."])
    answer = await scene.ask("Where?")
    assert answer.text.startswith("Half of the truth is at server.py:1\n\n[The model scripted-1 did not answer")
    await scene.ask("Next?")
    kept = scene.requests()[-1].prompt.turns[1].blocks[0]
    assert kept == Text("Half of the truth is at server.py:1\n\n[Stopped here: the model failed.]")


async def test_a_key_that_turns_up_later_is_found_without_a_reload(tmp_path: Path) -> None:
    clock = ManualClock()
    scene = make_scene(tmp_path, [GROUNDED], clock=clock, choice=Choice("passages", "Claude Code is not logged in"))
    assert (await scene.ask("What does server do?")).model == "passages"
    found = Choice("scripted", "Claude Code is logged in", "scripted", "scripted-1")
    object.__setattr__(scene.desk._models, "choose", lambda _configuration, _now_s: found)
    assert (await scene.ask("What does server do?")).model == "passages"
    clock.advance(31)
    assert (await scene.ask("What does server do?")).model == "scripted-1"
    assert scene.desk.stats("")["why"] == "Claude Code is logged in"
