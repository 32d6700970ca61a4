"""Secrets stay out of a window, unless its owner says otherwise; and that is never quiet."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from agent.scene import GROUNDED, Scene, make_scene, make_tree, read_call
from support.secrets_corpus import SHAPES, Maker

from live_memory.agent.cleaning import OFF_MARK
from live_memory.agent.ingest import FileNotice
from live_memory.configuration import Configuration
from live_memory.errors import QuestionError
from live_memory.llm.scripted import ScriptedReply
from live_memory.settings import Settings
from live_memory.store.sqlite import SqliteStore

SECRET = SHAPES["GitHub token"](Maker(1))


def talkative(tmp_path: Path, script: list[Any] | None = None, **settings: Any) -> Scene:
    return make_scene(tmp_path, [*(script or ()), *[GROUNDED] * 20], **{"force_explore_when_cold": False, **settings})


def everything_sent(scene: Scene) -> str:
    return "\n".join(str(request.prompt) for request in scene.requests())


async def tell(scene: Scene, name: str, text: str) -> None:
    (scene.root / name).write_text(text)
    await scene.desk.observe(FileNotice(str(scene.root), "touched", (name,), {}))


def set_to(scene: Scene, **settings: Any) -> None:
    scene.configuration = Configuration(Settings(force_explore_when_cold=False, **settings), {}, {}, scene.root.parent)
    scene.desk.reload()


async def test_no_road_into_a_window_carries_a_secret_and_each_is_counted(tmp_path: Path) -> None:
    read = ScriptedReply(tool_calls=(read_call("c.py"),))
    scene = talkative(tmp_path, ["Before.", read, f"It is {SECRET}, see server.py:1."])
    await scene.ask("warm up?")
    (scene.root / "c.py").write_text(f"c = '{SECRET}'\n")
    await tell(scene, "a.py", f"a = '{SECRET}'\n")
    await tell(scene, f"{SECRET}.py", "b = 1\n")
    answer = await scene.ask(f"what is {SECRET}?")
    await scene.ask("and now?")
    assert SECRET not in everything_sent(scene)
    assert "[redacted: GitHub token]" in everything_sent(scene)
    assert SECRET not in answer.text
    figures = scene.desk.stats(str(scene.root))["redaction"]
    assert figures == {"state": "on", "secrets_taken_out": 4, "secrets_taken_out_everywhere": 4}
    assert scene.desk.stats("")["redaction"] == {"secrets_taken_out_everywhere": 4}


async def test_the_names_in_the_directory_tree_are_cleaned(tmp_path: Path) -> None:
    make_tree(tmp_path / "repo")
    (tmp_path / "repo" / f"{SECRET}.py").write_text("b = 1\n")
    scene = talkative(tmp_path)
    await scene.ask("one?")
    assert SECRET not in everything_sent(scene)


async def test_where_its_owner_says_so_a_workspace_keeps_its_secrets_and_says_it_loudly(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    root = make_tree(tmp_path / "repo")
    (tmp_path / "link").symlink_to(root)
    (root / ".env").write_text(f"TOKEN={SECRET}\n")
    scene = talkative(tmp_path, redaction_off_roots=f"/elsewhere, {tmp_path / 'link'}")
    await tell(scene, "a.py", f"a = '{SECRET}'\n")
    await scene.desk.observe(FileNotice(str(root), "touched", (".env",), {}))
    await scene.ask("one?")
    system = scene.requests()[0].prompt.system
    assert SECRET in system[1]
    assert ".env" not in system[1]
    assert OFF_MARK in system[0]
    figures = scene.desk.stats(str(root))["redaction"]
    assert figures == {
        "state": "off",
        "secrets_taken_out": 0,
        "secrets_taken_out_everywhere": 0,
        "off_in": ["/elsewhere", str(tmp_path / "link")],
    }
    assert f"REDACTION OFF root={root}" in caplog.text


async def test_a_window_that_was_filled_without_redaction_is_forgotten_when_it_is_turned_on(tmp_path: Path) -> None:
    scene = talkative(tmp_path, redaction_off_roots=str(tmp_path / "repo"))
    await tell(scene, "a.py", f"a = '{SECRET}'\n")
    await scene.ask(f"one {SECRET}?")
    assert SECRET in everything_sent(scene)
    set_to(scene)
    await scene.ask("two?")
    assert SECRET not in str(scene.requests()[-1].prompt)
    assert OFF_MARK not in str(scene.requests()[-1].prompt)


async def test_that_holds_also_where_no_server_ran_meanwhile(tmp_path: Path) -> None:
    scene = talkative(
        tmp_path, store=SqliteStore(tmp_path / "live-memory.db"), redaction_off_roots=str(tmp_path / "repo")
    )
    await tell(scene, "a.py", f"a = '{SECRET}'\n")
    await scene.ask(f"one {SECRET}?")
    await scene.desk.close(1)
    again = talkative(tmp_path, store=SqliteStore(tmp_path / "live-memory.db"))
    await again.ask("two?")
    assert SECRET not in everything_sent(again)
    await again.desk.close(1)
    left = b"".join(path.read_bytes() for path in tmp_path.glob("live-memory.db*"))
    assert SECRET.encode() not in left


async def test_a_window_keeps_its_questions_when_redaction_is_turned_off(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    await scene.ask("one?")
    set_to(scene, redaction_off_roots=str(scene.root))
    await scene.ask("two?")
    prompt = str(scene.requests()[-1].prompt)
    assert "one?" in prompt
    assert OFF_MARK in prompt


async def test_an_empty_question_is_refused_before_anything_is_looked_at(tmp_path: Path) -> None:
    with pytest.raises(QuestionError):
        await talkative(tmp_path).ask("  ")
