"""The desk: workspaces and what they forget, a store that fails, closing, reloading, figures and the log."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest
from agent.scene import GROUNDED, Scene, last_words, make_scene, make_tree, read_call, until

from live_memory.agent.answers import Question
from live_memory.clock import ManualClock
from live_memory.errors import ConfigError, QuestionError, StoreError
from live_memory.llm.scripted import ScriptedModel, ScriptedReply
from live_memory.store.base import Answered, SavedWindow
from live_memory.store.in_memory import InMemoryStore
from live_memory.window.messages import Text, Turn
from live_memory.window.window import Exchange


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
