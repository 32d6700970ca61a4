"""Which files a session is told to watch."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent.scene import make_scene

from live_memory.agent.ingest import FileNotice
from live_memory.errors import QuestionError
from live_memory.store.sqlite import SqliteStore


async def test_the_files_that_the_window_knows_are_watched_under_their_absolute_paths(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, ["See server.py:1.", "See."])
    assert await scene.desk.watched_paths(str(scene.root)) == ()
    await scene.desk.observe(FileNotice(str(scene.root), "touched", ("server.py",)))
    await scene.ask("Where is the port?")
    await scene.desk.observe(FileNotice(str(scene.root), "touched", ("docs/notes.md",)))
    newest_first = (str(scene.root / "docs/notes.md"), str(scene.root / "server.py"))
    assert await scene.desk.watched_paths(str(scene.root / "docs")) == newest_first


async def test_what_is_gone_or_became_a_folder_is_not_watched(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    await scene.desk.observe(FileNotice(str(scene.root), "touched", ("server.py", "auth.py", "docs/notes.md")))
    for name in ("server.py", "auth.py"):
        (scene.root / name).unlink()
    (scene.root / "auth.py").mkdir()
    assert await scene.desk.watched_paths(str(scene.root)) == (str(scene.root / "docs/notes.md"),)


async def test_five_hundred_files_are_watched_at_most(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    names = [f"part_{number}.py" for number in range(501)]
    for name in names:
        (scene.root / name).write_text(f"# {name}\n")
    await scene.desk.observe(FileNotice(str(scene.root), "touched", tuple(names)))
    assert len(await scene.desk.watched_paths(str(scene.root))) == 500


async def test_a_window_that_is_only_in_the_store_is_watched_too(tmp_path: Path) -> None:
    database = tmp_path / "live-memory.db"
    scene = make_scene(tmp_path, store=SqliteStore(database))
    await scene.desk.observe(FileNotice(str(scene.root), "touched", ("server.py",)))
    await scene.desk.close(0)
    again = make_scene(tmp_path, store=SqliteStore(database))
    assert await again.desk.watched_paths(str(scene.root)) == (str(scene.root / "server.py"),)
    await again.desk.close(0)


async def test_a_folder_that_is_no_workspace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="absolute"):
        await make_scene(tmp_path).desk.watched_paths("relative")
