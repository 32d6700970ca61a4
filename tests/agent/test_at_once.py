"""Many questions of one workspace at once, and callers who go."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from agent.scene import GROUNDED, make_scene, read_call, until

from live_memory.errors import QuestionError
from live_memory.llm.base import Usage
from live_memory.llm.scripted import ScriptedReply
from live_memory.store.in_memory import InMemoryStore
from live_memory.window.messages import Text


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
