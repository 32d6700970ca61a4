"""Notices of files on their way into windows: whose they are, how many are taken at once, and what is never lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from agent.noticing import notes_of, prefix, talkative, tee
from agent.scene import Scene, make_scene, make_tree, until
from support.repositories import git, repository

from live_memory import wiring
from live_memory.agent import intake, workspace
from live_memory.agent.ingest import FileNotice
from live_memory.errors import QuestionError
from live_memory.explore import held_files
from live_memory.store.sqlite import SqliteStore
from live_memory.window.deltas import MAX_PENDING_FILES, with_room
from live_memory.window.files import Observation
from live_memory.window.window import Window


def checkout(folder: Path) -> Path:
    """A repository with the file that the sentences below are about."""
    repository(folder)
    (folder / "main.py").write_text("MAIN = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "second")
    return folder.resolve()


def waiting(scene: Scene, root: Path) -> dict[str, Observation]:
    saved = scene.store.load(str(root))
    return dict(saved.window.pending) if saved else {}


async def test_a_file_of_another_worktree_is_filed_under_the_worktree_it_lies_in(tmp_path: Path) -> None:
    main = checkout(tmp_path / "main")
    git(main, "worktree", "add", "-q", "../beside")
    git(main, "worktree", "add", "-q", "inside")
    scene = talkative(tmp_path)
    paths = [str(main / "main.py"), str(tmp_path / "beside" / "main.py"), "inside/main.py"]
    assert await tee(scene, *paths, cwd=main) == 3
    for root in (main, (tmp_path / "beside").resolve(), main / "inside"):
        assert set(waiting(scene, root)) == {"main.py"}


async def test_a_session_in_a_subfolder_of_a_worktree_and_one_through_a_link_meet_the_same_names(
    tmp_path: Path,
) -> None:
    main = checkout(tmp_path / "main")
    (main / "src").mkdir()
    (main / "src" / "a.py").write_text("A = 1\n")
    (tmp_path / "link").symlink_to(main)
    (main / "short").symlink_to("src")
    scene = talkative(tmp_path)
    assert await tee(scene, "a.py", cwd=main / "src") == 1
    assert await tee(scene, str(tmp_path / "link" / "src" / "a.py"), "short/a.py", cwd=tmp_path / "link") == 0
    assert set(waiting(scene, main)) == {"src/a.py"}


async def test_a_file_of_a_submodule_is_known_to_both_workspaces(tmp_path: Path) -> None:
    inner, main = checkout(tmp_path / "inner"), checkout(tmp_path / "main")
    git(main, "submodule", "--quiet", "add", str(inner), "part")
    scene = talkative(tmp_path)
    await tee(scene, "part/main.py", cwd=main)
    assert set(waiting(scene, main)) == {"part/main.py"}
    assert set(waiting(scene, main / "part")) == {"main.py"}


async def test_a_session_in_the_home_folder_teaches_the_checkouts_it_works_in(tmp_path: Path) -> None:
    main = checkout(tmp_path / "home" / "main")
    (tmp_path / "home" / "notes.txt").write_text("mine\n")
    scene = talkative(tmp_path)
    assert await tee(scene, "main/main.py", "notes.txt", cwd=tmp_path / "home") == 1
    assert set(waiting(scene, main)) == {"main.py"}
    with pytest.raises(QuestionError, match="home folder"):
        await tee(scene, "notes.txt", cwd=tmp_path / "home")


async def test_loose_files_outside_of_any_checkout_are_nobodys(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    (tmp_path / "loose.py").write_text("x = 1\n")
    (scene.root / "out.py").symlink_to(tmp_path / "loose.py")
    assert await tee(scene, str(tmp_path / "loose.py"), "out.py") == 0
    assert scene.store.load(str(tmp_path)) is None


async def test_with_canonical_workspaces_off_a_notice_is_about_its_own_folder_alone(tmp_path: Path) -> None:
    main = checkout(tmp_path / "main")
    (main / "src").mkdir()
    (main / "src" / "a.py").write_text("A = 1\n")
    scene = talkative(tmp_path, canonicalize_workspace=False)
    assert await tee(scene, "a.py", str(main / "main.py"), cwd=main / "src") == 1
    assert set(waiting(scene, main / "src")) == {"a.py"}


async def test_where_a_file_system_ignores_case_all_spellings_are_one_file(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, ["See server.py:1."] * 3, force_explore_when_cold=False)
    files = replace(
        wiring.tree_files(),
        locate=partial(held_files.locate, is_case_blind=lambda _root: True),
        is_case_blind=lambda _root: True,
    )
    scene = make_scene(tmp_path, ["See server.py:1."] * 3, files=files, force_explore_when_cold=False)
    (scene.root / "docs" / "Été.md").write_text("summer\n")
    assert await tee(scene, "SERVER.py", "server.PY", "DOCS/Notes.md", "docs/e\u0301te\u0301.md") == 3
    assert set(waiting(scene, scene.root)) == {"server.py", "docs/notes.md", "docs/Été.md"}
    await scene.ask("one?")
    (scene.root / "server.py").unlink()
    assert await tee(scene, "Server.Py", event="changed") == 1
    assert waiting(scene, scene.root)["server.py"].state == "deleted"


async def test_a_case_blind_disk_keeps_no_secret_file_readable_under_another_spelling(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "repo")
    (root / ".env").write_text("KEY=value\n")
    with pytest.raises(Exception, match="secrets"):
        held_files.locate(root, ".ENV", lambda _root: True)


async def test_news_that_comes_faster_than_it_is_read_is_taken_in_few_batches(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    names = [f"file_{number}.py" for number in range(300)]
    for name in names:
        (scene.root / name).write_text(f"NAME = '{name}'\n")
    counts = await asyncio.gather(*(tee(scene, name) for name in names))
    assert counts == [1] * 300
    assert set(waiting(scene, scene.root)) == set(names)


async def test_older_texts_make_room_for_newer_ones_while_no_question_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "PENDING_MAX_TOKENS", 1000)
    scene = talkative(tmp_path)
    for number in range(4):
        (scene.root / f"{number}.py").write_text("word " * 400)
        assert await tee(scene, f"{number}.py") == 1
    texts = [seen.text for seen in waiting(scene, scene.root).values()]
    assert len(texts) == 4
    assert None in texts
    assert texts[-1]


async def test_whoever_tells_and_hangs_up_takes_nothing_back(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    telling = asyncio.create_task(tee(scene, "server.py"))
    await asyncio.sleep(0)
    telling.cancel()
    await until(lambda: waiting(scene, scene.root))
    assert set(waiting(scene, scene.root)) == {"server.py"}


async def test_what_was_told_before_a_question_is_in_its_prompt_even_unread_by_then(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    telling = asyncio.create_task(tee(scene, "server.py"))
    await asyncio.sleep(0)
    await scene.ask("one?")
    assert '<file path="server.py">' in scene.requests()[0].prompt.system[1]
    assert await telling == 1


async def test_what_came_in_before_the_end_is_saved(tmp_path: Path) -> None:
    scene = talkative(tmp_path, store=SqliteStore(tmp_path / "live-memory.db"))
    telling = asyncio.create_task(tee(scene, "server.py"))
    await asyncio.sleep(0)
    await scene.desk.close(5)
    assert await telling == 1
    again = SqliteStore(tmp_path / "live-memory.db").load(str(scene.root))
    assert again is not None
    assert set(again.window.pending) == {"server.py"}


async def test_too_much_news_at_once_is_put_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MAX_WAITING", 2)
    scene = talkative(tmp_path)
    with pytest.raises(QuestionError, match="tell again later"):
        await tee(scene, "server.py", "auth.py", "docs/notes.md")
    assert await tee(scene, "server.py", "auth.py") == 2
    monkeypatch.setattr(intake, "MAX_WAITING_CHARS", 100)
    with pytest.raises(QuestionError, match="tell again later"):
        await tee(scene, server="x" * 101)
    assert await tee(scene, auth="x" * 60) == await tee(scene, auth="y" * 60) == 0  # the disk is right


def test_the_files_that_wait_for_a_question_that_never_comes_are_bounded(tmp_path: Path) -> None:
    pending = {f"{n}.py": Observation(f"{n}.py", "x", 1, 1, float(n), text="") for n in range(MAX_PENDING_FILES + 5)}
    kept = with_room(Window("", pending=pending), 1000).pending
    assert len(kept) == MAX_PENDING_FILES
    assert "4.py" not in kept
    assert "5.py" in kept


async def test_the_echo_of_our_own_news_brings_nothing_and_a_change_right_after_it_does(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    await tee(scene, server="PORT = 7711\n\n\ndef serve():\n    listen(PORT)\n")
    assert await tee(scene, "server.py", event="changed") == 0
    (scene.root / "server.py").write_text("PORT = 1\n")
    assert await tee(scene, "server.py", event="changed") == 1
    assert await tee(scene, "server.py", event="changed") == 0
    assert waiting(scene, scene.root)["server.py"].text == "PORT = 1\n"


async def test_the_disk_is_right_where_the_text_that_was_sent_is_another(tmp_path: Path) -> None:
    scene = talkative(tmp_path)
    (scene.root / "wide.txt").write_bytes("größer\r\n".encode("utf-16"))
    (scene.root / "marked.py").write_bytes(b"\xef\xbb\xbfX = 1\n")
    (scene.root / "old.py").write_bytes("# caf\u00e9\n".encode("latin-1"))
    (scene.root / "blob.bin").write_bytes(b"\0\1")
    notice = FileNotice(
        str(scene.root),
        "touched",
        ("wide.txt", "marked.py", "old.py", "blob.bin", "server.py"),
        {
            "wide.txt": "größer\r\n",
            "marked.py": "X = 1\n",
            "old.py": "# café\n",
            "blob.bin": "text",
            "server.py": "old",
        },
    )
    assert await scene.desk.observe(notice) == 4
    texts = {path: seen.text for path, seen in waiting(scene, scene.root).items()}
    assert texts["wide.txt"] == "größer\r\n"
    assert texts["marked.py"] == "X = 1\n"
    assert texts["old.py"] == "# caf\ufffd\n"
    assert texts["server.py"] == (scene.root / "server.py").read_text()
    await scene.ask("one?")
    await scene.ask("two?")
    assert not notes_of(scene.requests()[1])


@pytest.mark.parametrize("order", ["unlink first", "add first"])
@pytest.mark.parametrize("is_held", [True, False], ids=["told of", "still pending"])
async def test_a_known_file_that_moves_is_known_at_its_new_place(tmp_path: Path, order: str, is_held: bool) -> None:
    scene = talkative(tmp_path)
    await tee(scene, "server.py", "auth.py")
    if is_held:
        await scene.ask("one?")
    (scene.root / "server.py").rename(scene.root / "moved.py")
    news = [("changed", "server.py"), ("added", "moved.py")]
    for event, path in news if order == "unlink first" else reversed(news):
        await tee(scene, path, event=event)  # type: ignore[arg-type]
    (scene.root / "new.py").write_text("unrelated = 1\n")
    assert await tee(scene, "new.py", event="added") == 0
    await scene.ask("two?")
    last = scene.requests()[-1]
    text = "\n".join(prefix(last))
    assert '<file path="moved.py">' in text
    if is_held:
        assert "before you cite them): server.py." in text
    else:
        assert '<file path="server.py">' not in text
