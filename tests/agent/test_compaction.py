"""Making room, end to end: what leaves becomes facts, a failing summarizer loses nothing, forks do not race."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

from agent.full_window import (
    MARK,
    MAX_TOKENS,
    Speaker,
    ask_until_it_compacts,
    exchanges,
    facts_in,
    fill,
    full_scene,
    is_carried,
    is_summary,
    material,
    window_of,
    words,
    workspace_of,
)
from agent.scene import until

from live_memory.agent.ingest import FileNotice
from live_memory.agent.seat import Models, take_seat
from live_memory.agent.workspace import DOUBT
from live_memory.clock import ManualClock
from live_memory.llm.base import CompletionRequest, Model, Unavailable
from live_memory.llm.choice import Choice
from live_memory.llm.scripted import ScriptedReply
from live_memory.notes.ledger import STALE_HEADING
from live_memory.store.in_memory import InMemoryStore
from live_memory.window.messages import Text


async def test_old_exchanges_become_facts_that_stand_in_the_ledger_and_none_is_lost(tmp_path: Path) -> None:
    speaker = Speaker()
    scene = full_scene(tmp_path, speaker)
    await fill(scene, 20)
    assert workspace_of(scene).compaction.count >= 1
    assert all(is_carried(scene, number) for number in range(20))
    last = speaker.requests[-1]
    assert "The thing mark_0 is kept in server.py." in last.prompt.system[1]
    assert "What is mark_0?" not in words(last)


async def test_the_summarizer_never_sees_the_question_at_hand(tmp_path: Path) -> None:
    speaker = Speaker()
    scene = full_scene(tmp_path, speaker)
    await fill(scene, 20)
    for request in speaker.summaries():
        assert request.prompt.tools == ()
        position = speaker.requests.index(request)
        asked = MARK.findall(words(speaker.requests[position + 1]))[-1]
        assert asked not in words(request)


async def test_between_compactions_each_prompt_begins_with_the_one_before(tmp_path: Path) -> None:
    speaker = Speaker()
    scene = full_scene(tmp_path, speaker)
    await fill(scene, 20)
    questions = [request.prompt for request in speaker.requests if not is_summary(request)]
    breaks = 0
    for before, after in itertools.pairwise(questions):
        is_kept = (
            before.system == after.system and after.turns[: before.prefix_turns] == before.turns[: before.prefix_turns]
        )
        breaks += not is_kept
    assert breaks == workspace_of(scene).compaction.count


async def test_what_it_took_is_charged_as_compaction_and_not_to_the_question(tmp_path: Path) -> None:
    speaker = Speaker()
    scene = full_scene(tmp_path, speaker)
    await fill(scene, 20)
    account = scene.store.account(str(scene.root), purpose="compaction")
    assert account.requests == len(speaker.summaries()) > 0
    assert account.questions == 0
    assert scene.store.account(str(scene.root), purpose="question").requests == 20


async def test_a_summarizer_that_fails_leaves_every_exchange_and_is_asked_again_later(tmp_path: Path) -> None:
    clock, speaker = ManualClock(), Speaker(answer="See server.py:1. " + "words " * 200)
    speaker.on_summary = lambda _request: Unavailable("down")
    scene = full_scene(tmp_path, speaker, clock=clock)
    number = 0
    while not speaker.summaries():
        await fill(scene, 1, number)
        number += 1
    tried = len(speaker.summaries())
    assert len(exchanges(scene)) == number
    await fill(scene, 1, number)
    assert len(speaker.summaries()) == tried  # it rests
    assert len(exchanges(scene)) == number + 1
    speaker.on_summary = lambda _request: None
    clock.advance(120)
    await fill(scene, 1, number + 1)
    assert len(speaker.summaries()) > tried
    assert len(exchanges(scene)) < number
    assert all(is_carried(scene, each) for each in range(number + 2))


async def test_where_the_prompt_would_overflow_the_oldest_are_left_out_and_told_once_the_summarizer_works(
    tmp_path: Path,
) -> None:
    clock, speaker = ManualClock(), Speaker()
    speaker.on_summary = lambda _request: Unavailable("down")
    scene = full_scene(tmp_path, speaker, clock=clock)
    await fill(scene, 20)
    assert window_of(scene).left_out > 0
    assert all(len(words(request)) < MAX_TOKENS * 4 for request in speaker.requests)
    assert not is_carried(scene, 0)
    speaker.on_summary = lambda _request: None
    clock.advance(120)
    await fill(scene, 10, 20)
    assert all(is_carried(scene, number) for number in range(30))


async def test_texts_are_distilled_once_and_shed_when_the_window_fills_again_within_the_interval(
    tmp_path: Path,
) -> None:
    clock, speaker = ManualClock(), Speaker()
    scene = full_scene(tmp_path, speaker, clock=clock)
    await scene.ask("What is here?")

    async def work_on(numbers: range) -> None:
        for number in numbers:
            path = scene.root / f"module_{number}.py"
            path.write_text(f"mark_{number} = 1\n" + "# filling\n" * 400)
            await scene.desk.observe(FileNotice(str(scene.root), "touched", (path.name,)))
        await scene.ask("What is new?")

    await work_on(range(12))
    told = len(speaker.summaries())
    assert told >= 1
    held = [path for path, file in window_of(scene).files.items() if file.content is not None]
    assert 0 < len(held) < 12
    await work_on(range(12, 24))
    assert len(speaker.summaries()) == told
    assert len([file for file in window_of(scene).files.values() if file.content is not None]) < 12
    clock.advance(120)
    await work_on(range(24, 36))
    assert len(speaker.summaries()) > told


async def test_64_questions_at_once_with_compactions_in_their_midst_are_all_kept(tmp_path: Path) -> None:
    speaker = Speaker()
    scene = full_scene(tmp_path, speaker, max_parallel_queries=16, distill_min_interval_s=0)
    await fill(scene, 5, 1000)
    parent = window_of(scene)
    before = (parent.history.entries, dict(parent.files), parent.frozen)
    async with asyncio.timeout(60):
        await asyncio.gather(*(scene.ask(f"What is mark_{number}?") for number in range(64)))
    assert (parent.history.entries, dict(parent.files), parent.frozen) == before
    assert workspace_of(scene).compaction.count >= 2
    assert workspace_of(scene).compaction.ended is None
    assert all(is_carried(scene, number) for number in (*range(64), *range(1000, 1005)))
    assert scene.store.owed(str(scene.root), 9) == ()


async def test_forks_that_meet_a_compaction_do_not_start_another(tmp_path: Path) -> None:
    speaker, held = Speaker(), asyncio.Event()
    scene = full_scene(tmp_path, speaker)
    speaker.on_summary = lambda request: ScriptedReply((facts_in(request),), hold=held)
    first = await ask_until_it_compacts(scene)
    number = first.number
    others = [asyncio.create_task(scene.ask(f"What is mark_{each}?")) for each in range(number + 1, number + 6)]
    await until(lambda: any(task.done() for task in others))
    assert not first.task.done()
    held.set()
    async with asyncio.timeout(10):
        await asyncio.gather(first.task, *others)
    told = [mark for request in speaker.summaries() for mark in set(MARK.findall(material(request)))]
    assert len(told) == len(set(told))
    assert all(is_carried(scene, each) for each in range(number + 6))


async def test_a_caller_that_hangs_up_in_the_middle_of_a_compaction_leaves_everything_as_it_was(tmp_path: Path) -> None:
    speaker = Speaker()
    scene = full_scene(tmp_path, speaker)
    speaker.on_summary = lambda _request: ScriptedReply(("never",), hold=asyncio.Event())
    first = await ask_until_it_compacts(scene)
    first.task.cancel()
    await asyncio.wait({first.task})
    assert workspace_of(scene).compaction.ended is None
    assert all(is_carried(scene, each) for each in range(first.number))


async def test_a_reset_in_the_middle_of_a_compaction_forgets_it_too(tmp_path: Path) -> None:
    speaker, held = Speaker(), asyncio.Event()
    scene = full_scene(tmp_path, speaker)
    speaker.on_summary = lambda request: ScriptedReply((facts_in(request),), hold=held)
    first = await ask_until_it_compacts(scene)
    await scene.desk.reset(str(scene.root))
    held.set()
    await asyncio.wait({first.task}, timeout=10)
    assert scene.store.notes.facts(str(scene.root)) == ()
    assert window_of(scene).ledger == ""


async def test_a_restart_keeps_the_facts_and_the_very_bytes_of_the_prompt(tmp_path: Path) -> None:
    speaker, store = Speaker(), InMemoryStore()
    scene = full_scene(tmp_path, speaker, store=store)
    await fill(scene, 20)
    again = full_scene(tmp_path, Speaker(), store=store)
    before = window_of(scene)
    await again.ask("What is mark_99?")
    after = window_of(again)
    assert after.frozen == before.frozen
    assert after.history.entries[: len(before.history.entries)] == before.history.entries


async def test_a_fact_whose_file_changed_is_doubted_once_and_stands_under_the_warning_after_a_compaction(
    tmp_path: Path,
) -> None:
    speaker, store = Speaker(), InMemoryStore()
    scene = full_scene(tmp_path, speaker, store=store)
    await fill(scene, 20)
    fact = store.notes.facts(str(scene.root))[0]
    assert "server.py" in fact.sources
    (scene.root / "server.py").write_text("PORT = 1\n")
    await fill(scene, 2, 20)
    doubts = [text for text in _texts(speaker.requests[-1]) if text.startswith(DOUBT)]
    assert len(doubts) == 1
    assert fact.text in doubts[0]
    await fill(scene, 20, 22)
    assert fact.text in window_of(scene).frozen.partition(STALE_HEADING)[2]


async def test_a_fact_whose_file_changed_while_no_process_looked_is_doubted_at_the_next_start(tmp_path: Path) -> None:
    speaker, store = Speaker(), InMemoryStore()
    scene = full_scene(tmp_path, speaker, store=store)
    await fill(scene, 20)
    (scene.root / "server.py").unlink()
    later = Speaker()
    again = full_scene(tmp_path, later, store=store)
    await again.ask("What is mark_99?")
    assert any(text.startswith(DOUBT) for text in _texts(later.requests[0]))


async def test_a_question_is_given_the_facts_that_the_ledger_has_no_room_for(tmp_path: Path) -> None:
    speaker = Speaker()
    scene = full_scene(tmp_path, speaker, ledger_max_tokens=0)
    await fill(scene, 20)
    assert window_of(scene).ledger == ""
    await scene.ask("Where is mark_0 kept?")
    last = speaker.requests[-1]
    assert "<facts>\n- The thing mark_0 is kept in server.py." in words(last)
    await scene.ask("Anything?")
    assert "The thing mark_0" not in words(speaker.requests[-1])
    (scene.root / "server.py").write_text("PORT = 2\n")
    await scene.ask("Where is mark_0 kept now?")
    assert "- The thing mark_0 is kept in server.py. (possibly out of date" in words(speaker.requests[-1])


async def test_a_window_that_an_answer_fills_is_compacted_before_the_next_question_comes(tmp_path: Path) -> None:
    speaker = Speaker()
    scene = full_scene(tmp_path, speaker, background_budget_ratio=0.25)
    for number in range(30):
        await scene.ask(f"What is mark_{number}?")
        requests = len(speaker.requests)
        assert not is_summary(speaker.requests[-1])  # no question had to wait for one
        await until(lambda: not scene.desk._ahead.is_at_work)
        assert all(is_summary(request) for request in speaker.requests[requests:])
    assert workspace_of(scene).compaction.count >= 2
    assert all(is_carried(scene, number) for number in range(30))


async def test_a_desk_that_closes_ends_what_it_compacts_ahead_and_loses_nothing(tmp_path: Path) -> None:
    speaker, store = Speaker(), InMemoryStore()
    scene = full_scene(tmp_path, speaker, store=store, background_budget_ratio=0.25)
    speaker.on_summary = lambda _request: ScriptedReply(("never",), hold=asyncio.Event())
    number = 0
    while not scene.desk._ahead.is_at_work:
        await scene.ask(f"What is mark_{number}?")
        number += 1
    await until(speaker.summaries)
    saved = store.load(str(scene.root))
    assert saved is not None
    async with asyncio.timeout(5):
        await scene.desk.close(1)
    assert [each.question for each in saved.window.history.exchanges] == [
        f"What is mark_{each}?" for each in range(number)
    ]
    assert not scene.desk._ahead.is_at_work


async def test_summaries_may_be_written_by_another_model_of_the_provider(tmp_path: Path) -> None:
    chosen: list[str] = []

    speakers: dict[str, Speaker] = {}

    def connect(choice: Choice) -> Model:
        chosen.append(choice.model)
        return speakers.setdefault(choice.model, Speaker(name=choice.model))

    scene = full_scene(tmp_path, Speaker(), summary_model="scripted-small")
    models = Models(lambda _configuration, _now_s: Choice("scripted", "a test", "scripted", "scripted-1"), connect)
    seat = take_seat(models, scene.configuration, 0.0)
    assert chosen == ["scripted-1", "scripted-small"]
    assert seat.model is not None
    assert seat.scribe(seat.model).model.name == "scripted-small"


def _texts(request: CompletionRequest) -> list[str]:
    return [block.text for turn in request.prompt.turns for block in turn.blocks if isinstance(block, Text)]
