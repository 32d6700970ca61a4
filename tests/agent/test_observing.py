"""What a window learns besides its own questions, and how it stays current."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from agent.noticing import notes_of, prefix, talkative, tee
from agent.scene import GROUNDED, make_scene, read_call

from live_memory.agent.answers import Question
from live_memory.agent.ingest import FileNotice
from live_memory.agent.reuse import REMARK
from live_memory.errors import QuestionError
from live_memory.llm.scripted import ScriptedReply
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.sqlite import SqliteStore
from live_memory.window.messages import ToolCall

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


async def test_a_file_that_was_worked_with_is_in_the_next_prompt(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    await scene.ask("one?")
    assert await tee(scene, "server.py") == 1
    await scene.ask("two?")
    (note,) = notes_of(scene.requests()[1])
    assert "1\tPORT = 7711" in note


async def test_files_seen_before_the_first_question_stand_in_the_frozen_block(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    await tee(scene, "server.py")
    await scene.ask("one?")
    await scene.ask("two?")
    first, second = scene.requests()
    assert "1\tPORT = 7711" in first.prompt.system[1]
    assert second.prompt.system == first.prompt.system
    assert not notes_of(second)


async def test_a_text_that_was_sent_along_is_taken_and_counts_all_changes_as_one(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    (scene.root / "server.py").write_text("".join(f"LINE_{n} = {n}\n" for n in range(600)))
    await tee(scene, "server.py")
    await scene.ask("one?")
    for number in range(50):
        text = (scene.root / "server.py").read_text().replace(f"LINE_{number} =", f"LINE_{number}  =")
        (scene.root / "server.py").write_text(text)
        await tee(scene, server=text)
    await scene.ask("two?")
    (note,) = notes_of(scene.requests()[1])
    assert "50 changes since the last question" in note
    assert '<diff path="server.py">' in note


async def test_paths_may_be_absolute_or_of_the_sessions_own_folder(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    assert await tee(scene, "notes.md", cwd=scene.root / "docs") == 1
    assert await tee(scene, str(scene.root / "docs" / "notes.md")) == 0
    await scene.ask("one?")
    assert '<file path="docs/notes.md">' in scene.requests()[0].prompt.system[1]


async def test_what_is_none_of_the_windows_business_is_not_taken(tmp_path: Path) -> None:
    scene = talkative(tmp_path, passive_max_file_bytes=1000)
    root = scene.root
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text("build/\n*.log\n")
    (root / "build" / "deep").mkdir(parents=True)
    (root / "build" / "deep" / "out.py").write_text("x = 1\n")
    (root / "app.log").write_text("line\n")
    (root / ".env").write_text("KEY=value\n")
    (root / "blob.bin").write_bytes(b"\0\1\2")
    (root / "big.py").write_text("x" * 1001)
    (tmp_path / "outside.py").write_text("x = 1\n")
    os.mkfifo(root / "pipe")
    paths = [
        "build/deep/out.py",
        "app.log",
        ".env",
        "blob.bin",
        "big.py",
        "../outside.py",
        "pipe",
        "missing.py",
        "docs",
    ]
    assert await tee(scene, *paths, ".git/HEAD", "auth.py") == 1
    await scene.ask("one?")
    block = scene.requests()[0].prompt.system[1]
    assert block.count("<file ") == 1
    assert '<file path="auth.py">' in block


async def test_secrets_are_taken_out_before_anything_is_kept(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    await tee(scene, server=f'TOKEN = "{SECRET}"\n')
    saved = scene.store.load(str(scene.root))
    assert saved is not None
    assert SECRET not in str(saved.window.pending)
    await scene.ask("one?")
    assert SECRET not in str(scene.requests()[0].prompt)


async def test_news_of_changes_matters_for_known_files_only(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    assert await tee(scene, "server.py", event="changed") == 0
    await tee(scene, "server.py")
    (scene.root / "server.py").write_text("PORT = 1\n")
    assert await tee(scene, "server.py", event="changed") == 1


async def test_with_ingestion_off_nothing_is_taken(tmp_path: Path) -> None:
    scene = talkative(tmp_path, passive_ingestion=False)
    assert await tee(scene, "server.py") == 0


async def test_only_files_that_the_setting_names_are_taken(tmp_path: Path) -> None:
    scene = talkative(tmp_path, file_globs="docs/*.md, *.txt")
    assert await tee(scene, "server.py", "docs/notes.md") == 1


async def test_a_notice_about_no_workspace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="absolute"):
        await talkative(tmp_path).desk.observe(FileNotice("relative", "touched", ("a.py",)))


async def test_five_changes_behind_its_back_are_all_noticed_at_the_next_question(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    root = scene.root
    for name in ("sed", "overwritten", "deleted", "renamed", "checked_out"):
        (root / f"{name}.py").write_text("value = 'old'\n" + "pass\n" * 60)
        await tee(scene, f"{name}.py")
    await scene.ask("one?")
    state = (root / "sed.py").stat()
    subprocess.run(["sed", "-i", "s/old/new/", str(root / "sed.py")], check=True)
    os.utime(root / "sed.py", ns=(state.st_atime_ns, state.st_mtime_ns))  # the same size and time as before
    (root / "overwritten.py").write_text("nothing as it was\n")
    (root / "deleted.py").unlink()
    (root / "renamed.py").rename(root / "other.py")
    (tmp_path / "checkout.py").write_text("value = 'branch'\n" + "pass\n" * 60)
    shutil.copy2(tmp_path / "checkout.py", root / "checked_out.py")
    await scene.ask("two?")
    notes = "\n".join(notes_of(scene.requests()[1]))
    assert "-value = 'old'\n+value = 'new'" in notes
    assert "1\tnothing as it was" in notes
    assert "+value = 'branch'" in notes
    assert "before you cite them): deleted.py, renamed.py." in notes


async def test_a_file_that_was_only_looked_up_is_said_to_be_out_of_date(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [read_call("server.py"), GROUNDED, "Two.", "Three.", "Four."])
    await scene.ask("one?")
    (scene.root / "server.py").write_text("PORT = 1\n")
    await scene.ask("two?")
    await scene.ask("three?")
    (note,) = notes_of(scene.requests()[3])
    assert "read them again before you rely on them: server.py." in note


async def test_documents_that_the_settings_name_are_known_from_the_start_in_the_order_of_the_globs(
    tmp_path: Path,
) -> None:
    scene = talkative(tmp_path, preload_globs="docs/*.md, *.py", max_context_tokens=20_000)
    (scene.root / "docs" / "big.md").write_text("word " * 100_000)
    await scene.ask("one?")
    block = scene.requests()[0].prompt.system[1]
    assert "## Reference files" in block
    assert [path in block for path in ("docs/notes.md", "auth.py", "server.py", "big.md")] == [True, True, True, False]
    assert "word word" not in block


async def test_a_reset_reads_the_documents_anew(tmp_path: Path) -> None:
    scene = talkative(tmp_path, preload_globs="docs/*.md")
    await scene.ask("one?")
    (scene.root / "docs" / "notes.md").write_text("# News\n")
    await scene.desk.reset(str(scene.root))
    await scene.ask("two?")
    assert "1\t# News" in scene.requests()[1].prompt.system[1]
    assert scene.requests()[1].prompt.prefix_turns == 0


async def test_a_restart_sends_the_same_bytes_and_knows_what_waited(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "live-memory.db")
    scene = talkative(tmp_path, store=store)
    await tee(scene, "server.py")
    await scene.ask("one?")
    await tee(scene, "auth.py")
    await scene.ask("two?")
    await tee(scene, "docs/notes.md")
    again = talkative(tmp_path, store=SqliteStore(tmp_path / "live-memory.db"))
    await again.ask("three?")
    before, after = prefix(scene.requests()[1]), prefix(again.requests()[0])
    assert after[: len(before)] == before
    assert again.requests()[0].prompt.system == scene.requests()[0].prompt.system
    assert "# Notes" in notes_of(again.requests()[0])[-1]


async def test_each_prompt_begins_with_the_one_before(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    for number in range(8):
        path = ("server.py", "auth.py")[number % 2]
        (scene.root / path).write_text(f"VALUE = {number}\n")
        await tee(scene, path)
        await scene.ask(f"question {number}?")
    prefixes = [prefix(request) for request in scene.requests()]
    for before, after in itertools.pairwise(prefixes):
        assert after[: len(before)] == before


async def test_a_question_asked_again_is_answered_from_memory_while_its_files_are_unchanged(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    first = await scene.ask("Where is the port set?")
    again = await scene.ask("  where IS the\nport set? ")
    assert len(scene.requests()) == 1
    assert again.text == f"{first.text}\n\n{REMARK}"
    assert again.with_trailer().split("[live-memory] ")[1].startswith("reused=yes model=")
    assert again.to_json()["reused"] is True
    assert (again.usage.prompt_tokens, again.cost_usd) == (0, 0.0)
    assert [citation.state for citation in again.citations] == ["FRESH"]
    assert scene.store.account(str(scene.root)).questions == 2


@pytest.mark.parametrize("change", ["edited", "deleted", "edited and told"])
async def test_once_a_cited_file_changed_the_model_is_asked_again(tmp_path: Path, change: str) -> None:
    scene = talkative(tmp_path)
    await scene.ask("Where is the port set?")
    if change == "deleted":
        (scene.root / "server.py").unlink()
    else:
        (scene.root / "server.py").write_text("PORT = 1\n")
    if change == "edited and told":
        await tee(scene, "server.py")
    await scene.ask("Where is the port set?")
    assert len(scene.requests()) == 2


async def test_an_answer_is_given_again_once_its_file_is_back_as_it_was(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    text = (scene.root / "server.py").read_text()
    await scene.ask("Where is the port set?")
    (scene.root / "server.py").write_text("PORT = 1\n")
    await scene.ask("Something else?")
    (scene.root / "server.py").write_text(text)
    await scene.ask("Where is the port set?")
    assert len(scene.requests()) == 2


@pytest.mark.parametrize(
    "script",
    [
        ["It is about nothing in particular.", "Again."],
        [ToolCall("call-1", "git_search", "{}"), GROUNDED, "Again."],
        [ScriptedReply((GROUNDED,), stop_reason="max_tokens"), "Again."],
    ],
    ids=["it rests on no file", "it rests on history", "it was cut"],
)
async def test_an_answer_that_may_be_another_one_by_now_is_not_given_again(tmp_path: Path, script: list[Any]) -> None:
    scene = make_scene(tmp_path, script, force_explore_when_cold=False)
    await scene.ask("What changed?")
    asked = len(scene.requests())
    assert (await scene.ask("What changed?")).text == "Again."
    assert len(scene.requests()) == asked + 1


async def test_an_answer_that_is_longer_than_wished_is_not_given_again(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED + " word" * 400, GROUNDED])
    await scene.ask("Where?")
    assert (await scene.ask("Where?", 256)).text == GROUNDED


async def test_answers_are_not_reused_where_the_setting_says_so(tmp_path: Path) -> None:
    scene = talkative(tmp_path, reuse_answers=False)
    await scene.ask("Where?")
    await scene.ask("Where?")
    assert len(scene.requests()) == 2


async def test_an_event_while_a_question_runs_is_told_at_the_next(tmp_path: Path) -> None:
    scene = talkative(tmp_path, store=InMemoryStore())

    told: list[asyncio.Task[int]] = []
    await scene.desk.ask(
        Question("one?", str(scene.root)), lambda _line: told.append(asyncio.create_task(tee(scene, "auth.py")))
    )
    await asyncio.gather(*told)
    await scene.ask("two?")
    assert "def check(token)" in "".join(prefix(scene.requests()[1]))
