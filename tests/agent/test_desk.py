"""One question, end to end, on the scripted model."""

from __future__ import annotations

import asyncio
import itertools
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from agent.scene import Scene, last_words, make_scene, make_tree, read_call, until

from live_memory.agent.answers import Question
from live_memory.clock import ManualClock
from live_memory.errors import ConfigError, QuestionError, StoreError
from live_memory.llm.base import BadKey, BadReply, PromptTooLong, Unavailable, UnknownModel, Usage
from live_memory.llm.choice import Choice
from live_memory.llm.scripted import ScriptedModel, ScriptedReply
from live_memory.store.base import Answered, SavedWindow
from live_memory.store.in_memory import InMemoryStore
from live_memory.window.messages import Text, ToolCall, ToolResult, Turn
from live_memory.window.window import Exchange

GROUNDED = "See server.py:1."


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


@pytest.mark.parametrize("text", ["", "  \n "])
async def test_an_empty_question_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(QuestionError, match="The question is empty"):
        await make_scene(tmp_path).ask(text)


async def test_text_that_no_encoding_takes_is_asked_and_kept_all_the_same(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED])
    await scene.ask("Where is \ud800?")
    assert scene.requests()[0].prompt.turns[-1].blocks[0] == Text("Where is ??")


async def test_a_secret_in_a_question_or_an_answer_is_neither_sent_nor_kept_nor_returned(tmp_path: Path) -> None:
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA2bC4"
    scene = make_scene(tmp_path, [f"{GROUNDED} The token is {secret}."])
    answer = await scene.ask(f"Why is {secret} refused?")
    assert secret not in last_words(scene.requests()[0])
    assert secret not in answer.text
    saved = scene.store.load(str(scene.root))
    assert saved is not None
    assert secret not in repr(saved)


async def test_a_caller_that_goes_cancels_the_work_and_commits_nothing(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [ScriptedReply(("Half",), hold=asyncio.Event()), GROUNDED])
    work = asyncio.create_task(scene.ask("gone"))
    await until(scene.requests)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    figures = scene.desk.stats(str(scene.root))
    assert (figures["questions"], figures["messages"], figures["running"]) == (0, 0, 0)
    assert (await scene.ask("stays")).text == GROUNDED


async def test_what_a_caller_who_went_had_spent_is_accounted_for(tmp_path: Path) -> None:
    paid = ScriptedReply(tool_calls=(read_call("server.py"),), usage=Usage(1000, 10))
    hanging = ScriptedReply(hold=asyncio.Event())
    scene = make_scene(tmp_path, [paid, hanging], price_input_usd=1.0, price_output_usd=1.0)
    work = asyncio.create_task(scene.ask("gone"))
    await until(lambda: len(scene.requests()) == 2)
    work.cancel()
    await asyncio.wait({work})
    figures = scene.desk.stats(str(scene.root))
    assert (figures["questions"], figures["requests"], figures["messages"]) == (0, 1, 0)
    assert figures["cost_usd"] == pytest.approx(0.00101)


async def test_sixty_four_questions_at_once_all_keep_their_question_and_answer(tmp_path: Path) -> None:
    def echo(request: object) -> str:
        question = request.prompt.turns[-1].blocks[0].text  # type: ignore[attr-defined]
        return f"answer to {question} at server.py:1"

    store = InMemoryStore()
    scene = make_scene(tmp_path, [echo] * 64, store=store)
    answers = await asyncio.gather(*(scene.ask(f"q{number}") for number in range(64)))
    assert [answer.text for answer in answers] == [f"answer to q{n} at server.py:1" for n in range(64)]
    saved = store.load(str(scene.root))
    assert saved is not None
    assert {(e.question, e.answer) for e in saved.window.history.exchanges} == {
        (f"q{n}", f"answer to q{n} at server.py:1") for n in range(64)
    }
    assert len(scene.requests()[-1].prompt.turns) > 64
    assert scene.tree.trees_made == 1


async def test_in_serial_mode_each_question_sees_the_one_before_it(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [f"{GROUNDED} {n}" for n in range(5)], concurrency="serial")
    await asyncio.gather(*(scene.ask(f"q{number}") for number in range(5)))
    asked = [request.prompt.turns[-1].blocks[0] for request in scene.requests()]
    assert asked == [Text(f"q{number}") for number in range(5)]
    assert [request.prompt.prefix_turns for request in scene.requests()] == [0, 2, 4, 6, 8]


async def test_over_the_queue_s_bound_the_caller_is_told_at_once(tmp_path: Path) -> None:
    gate = asyncio.Event()
    script = [ScriptedReply((GROUNDED,), hold=gate)] * 3
    scene = make_scene(tmp_path, script, max_parallel_queries=2, max_queued_questions=1)
    taken = [asyncio.create_task(scene.ask(f"q{number}")) for number in range(3)]
    await until(lambda: scene.desk.stats(str(scene.root))["waiting"] == 1)
    with pytest.raises(QuestionError, match="ask again in a moment") as refusal:
        await scene.ask("one too many")
    assert (refusal.value.code, refusal.value.status) == ("busy", 429)
    gate.set()
    assert [answer.text for answer in await asyncio.gather(*taken)] == [GROUNDED] * 3


async def test_a_question_that_waits_for_all_of_its_time_gets_passages(tmp_path: Path) -> None:
    gate = asyncio.Event()
    scene = make_scene(tmp_path, [ScriptedReply((GROUNDED,), hold=gate)], concurrency="serial")
    first = asyncio.create_task(scene.ask("What does server do?"))
    await until(scene.requests)
    hasty = replace(scene.configuration, settings=replace(scene.configuration.settings, default_timeout_s=0.2))
    scene.desk._read_configuration = lambda: hasty
    scene.desk.reload()
    second = await scene.ask("What does auth do?")
    assert second.timed_out
    assert second.text.startswith("Other questions about this workspace took all of the 0.2 s")
    assert "auth.py:1-2" in second.text
    gate.set()
    assert (await first).text == GROUNDED


async def test_a_cold_prefix_goes_alone_until_its_first_reply(tmp_path: Path) -> None:
    first_reply, rest = asyncio.Event(), asyncio.Event()
    script = [ScriptedReply((GROUNDED,), hold=first_reply)] + [ScriptedReply((GROUNDED,), hold=rest)] * 4
    scene = make_scene(tmp_path, script)
    work = [asyncio.create_task(scene.ask(f"q{number}")) for number in range(5)]
    await until(lambda: scene.requests() and scene.desk.stats(str(scene.root))["running"] == 5)
    assert len(scene.requests()) == 1
    first_reply.set()
    await until(lambda: len(scene.requests()) == 5)
    rest.set()
    await asyncio.gather(*work)


async def test_when_the_one_ahead_is_given_up_the_next_goes_ahead(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [ScriptedReply(hold=asyncio.Event()), GROUNDED, GROUNDED])
    work = [asyncio.create_task(scene.ask(f"q{number}")) for number in range(3)]
    await until(scene.requests)
    work[0].cancel()
    answers = await asyncio.gather(*work[1:])
    assert [answer.text for answer in answers] == [GROUNDED, GROUNDED]


async def test_clear_forgets_the_window_and_keeps_the_account(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED, GROUNDED])
    await scene.ask("one")
    await scene.desk.clear(str(scene.root))
    figures = scene.desk.stats(str(scene.root))
    assert (figures["messages"], figures["questions"]) == (0, 1)
    await scene.ask("two")
    assert scene.requests()[1].prompt.prefix_turns == 0


async def test_reset_makes_a_new_tree_at_once(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED, GROUNDED])
    await scene.ask("one")
    (scene.root / "added.py").write_text("")
    await scene.desk.reset(str(scene.root))
    assert scene.tree.trees_made == 2
    await scene.ask("two")
    assert "added.py" in scene.requests()[1].prompt.system[0]
    assert scene.tree.trees_made == 2


async def test_an_answer_in_flight_while_the_window_is_cleared_stays_out_of_the_new_one(tmp_path: Path) -> None:
    gate = asyncio.Event()
    scene = make_scene(tmp_path, [ScriptedReply((GROUNDED,), hold=gate), GROUNDED])
    work = asyncio.create_task(scene.ask("old"))
    await until(scene.requests)
    await scene.desk.clear(str(scene.root))
    gate.set()
    assert (await work).text == GROUNDED
    await scene.ask("new")
    assert scene.requests()[1].prompt.prefix_turns == 0


async def test_an_answer_that_cannot_be_saved_is_given_with_a_word_about_it(tmp_path: Path) -> None:
    class FullDisk(InMemoryStore):
        def record(self, root: str, answered: Answered) -> Exchange | None:
            raise StoreError("The disk is full: free some space.")

    answer = await make_scene(tmp_path, [GROUNDED], store=FullDisk()).ask("Where?")
    assert answer.text.startswith(GROUNDED)
    assert "[This answer could not be saved: The disk is full" in answer.text


async def test_a_database_that_cannot_be_read_leaves_passages_and_says_so(tmp_path: Path) -> None:
    class Locked(InMemoryStore):
        def load(self, root: str) -> SavedWindow | None:
            raise StoreError("The database cannot be used (database is locked): try again.")

    answer = await make_scene(tmp_path, [GROUNDED], store=Locked()).ask("What does server do?")
    assert answer.text.startswith(
        "No model answered, because its memory cannot be used: The database cannot be used (database is locked)"
    )
    assert "server.py:1-2" in answer.text


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


async def test_many_workspaces_are_forgotten_in_memory_and_not_in_the_store(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED] * 80)
    roots = [make_tree(tmp_path / "many" / str(number)) for number in range(40)]
    for root in roots:
        await scene.desk.ask(Question("Where?", str(root)))
    assert len(scene.desk._workspaces) <= 32
    await scene.desk.ask(Question("Again?", str(roots[0])))
    assert scene.requests()[-1].prompt.prefix_turns == 2
    assert scene.tree.trees_made == 40


async def test_a_tree_older_than_every_provider_s_cache_is_made_anew_when_the_window_is_loaded(tmp_path: Path) -> None:
    clock, store = ManualClock(), InMemoryStore()
    await make_scene(tmp_path, [GROUNDED], clock=clock, store=store).ask("one?")
    (tmp_path / "repo" / "added.py").write_text("")
    clock.advance(90_000)
    scene = make_scene(tmp_path, [GROUNDED], clock=clock, store=store)
    await scene.ask("two?")
    assert "added.py" in scene.requests()[0].prompt.system[0]
    assert scene.requests()[0].prompt.prefix_turns == 2


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


async def test_close_lets_answers_in_flight_finish_and_takes_no_more(tmp_path: Path) -> None:
    gate = asyncio.Event()
    scene = make_scene(tmp_path, [ScriptedReply((GROUNDED,), hold=gate)])
    work = asyncio.create_task(scene.ask("one"))
    await until(scene.requests)
    closing = asyncio.create_task(scene.desk.close(5))
    await asyncio.sleep(0)
    with pytest.raises(QuestionError, match="shutting down"):
        await scene.ask("two")
    gate.set()
    assert (await work).text == GROUNDED
    await closing
    assert isinstance(scene.model, ScriptedModel)
    assert scene.model.is_closed


async def test_close_ends_what_does_not_finish_within_the_grace(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [ScriptedReply(hold=asyncio.Event())])
    work = asyncio.create_task(scene.ask("one"))
    await until(scene.requests)
    await scene.desk.close(0.05)
    with pytest.raises(asyncio.CancelledError):
        await work


async def test_reload_changes_the_model_and_keeps_the_window(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED])
    await scene.ask("one")
    other = ScriptedModel([GROUNDED], name="scripted-2")
    swap_model(scene, other)
    scene.desk.reload()
    answer = await scene.ask("two")
    assert answer.model == "scripted-2"
    assert other.requests[0].prompt.turns[0] == Turn("user", (Text("one"),))
    assert isinstance(scene.model, ScriptedModel)
    assert scene.model.is_closed


async def test_a_reload_that_is_refused_keeps_what_was_in_force(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED])

    def refuse() -> None:
        raise ConfigError("The setting port cannot be 'x'.")

    scene.desk._read_configuration = refuse  # type: ignore[assignment]
    with pytest.raises(ConfigError):
        scene.desk.reload()
    assert (await scene.ask("one")).text == GROUNDED


async def test_stats_tell_who_answers_what_it_cost_and_how_full_the_window_is(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [read_call("server.py"), GROUNDED], price_input_usd=1.0, price_output_usd=1.0)
    answer = await scene.ask("Where?")
    figures = scene.desk.stats(str(scene.root / "docs"))
    assert figures["root"] == str(scene.root)
    assert (figures["model"], figures["provider"]) == ("scripted-1", "scripted")
    assert (figures["questions"], figures["messages"], figures["files_known"]) == (1, 2, 1)
    assert figures["cost_usd"] == figures["cost_today_usd"] == round(answer.cost_usd or 0, 6)
    assert figures["context"]["max_tokens"] > figures["context"]["used_tokens"] > 0  # type: ignore[index]
    assert scene.desk.stats("")["questions"] == 1


async def test_the_log_tells_each_question_in_one_line_and_no_contents(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="live_memory")
    await make_scene(tmp_path, [read_call("server.py"), GROUNDED]).ask("a very private question")
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith("answered ")]
    assert len(lines) == 1
    assert "requests=2" in lines[0]
    assert "private" not in caplog.text
    assert "PORT" not in caplog.text


async def test_a_subfolder_and_a_link_are_the_same_workspace(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED, GROUNDED, GROUNDED])
    (tmp_path / "link").symlink_to(scene.root)
    for cwd in (scene.root, scene.root / "docs", tmp_path / "link" / "docs"):
        await scene.desk.ask(Question(f"Where, seen from {cwd}?", str(cwd)))
    assert scene.requests()[2].prompt.prefix_turns == 4
    assert scene.tree.trees_made == 1


def swap_model(scene: Scene, model: ScriptedModel) -> None:
    """What the settings say from the next reload on."""
    models = scene.desk._models
    object.__setattr__(models, "connect", lambda _choice: model)
