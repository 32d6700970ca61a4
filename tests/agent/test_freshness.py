"""What a question is told of the files that its window holds: all that changed, within its time, and never what only
cannot be seen."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from agent.noticing import notes_of, prefix, tee
from agent.scene import GROUNDED, Scene, last_words, make_scene, until
from support.repositories import git

from live_memory import wiring
from live_memory.agent import freshness, upkeep
from live_memory.agent.explorers import TreeFiles
from live_memory.agent.reuse import REMARK
from live_memory.clock import ManualClock
from live_memory.explore.base import FileStamp, SeenText
from live_memory.llm.base import CompletionRequest

MANY = 40


@dataclass(slots=True)
class SlowDisk:
    """The files of a real tree, each read of which takes `read_s` on `clock`, and none of which ends while it `hangs`."""

    clock: ManualClock
    read_s: float = 0.0
    hangs: threading.Event = field(default_factory=threading.Event)  # not set: every look waits
    reads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hangs.set()

    def files(self) -> TreeFiles:
        disk = wiring.tree_files()

        def slowly(call: Callable[[Path, str, int], Any]) -> Callable[[Path, str, int], Any]:
            def read(root: Path, path: str, max_bytes: int) -> Any:
                self.hangs.wait(10)
                self.reads.append(path)
                self.clock.advance(self.read_s)
                return call(root, path, max_bytes)

            return read

        stamp: Callable[[Path, str, int], FileStamp] = slowly(disk.stamp)
        read: Callable[[Path, str, int], SeenText] = slowly(disk.read)
        return replace(disk, stamp=stamp, read=read)


def scene_on(tmp_path: Path, disk: SlowDisk, **settings: Any) -> Scene:
    more = {"force_explore_when_cold": False, "default_timeout_s": 10_000.0, **settings}
    return make_scene(tmp_path, [GROUNDED] * 40, clock=disk.clock, files=disk.files(), **more)


def names(count: int) -> list[str]:
    return [f"file_{number:02}.py" for number in range(count)]


def write(scene: Scene, paths: list[str], text: str) -> None:
    for path in paths:
        (scene.root / path).write_text(f"{text} of {path}\n")


def told(request: CompletionRequest) -> str:
    return "\n".join(notes_of(request))


async def test_what_there_is_no_time_for_is_told_with_the_next_question_and_the_hints_say_so(tmp_path: Path) -> None:
    disk = SlowDisk(ManualClock())
    scene = scene_on(tmp_path, disk)
    write(scene, names(MANY), "first")
    await tee(scene, *names(MANY))
    await scene.ask("one?")
    write(scene, names(MANY), "second")
    disk.read_s = 1.0
    await scene.ask("two?")
    two = scene.requests()[-1]
    in_time = told(two).count("1\tsecond of")
    assert freshness.SURE_READS <= in_time < MANY
    left = MANY + 1 - in_time  # with the file that the answer named
    assert f"{left} of the files above could not be looked at in time" in last_words(two)
    disk.read_s = 0.0
    await scene.ask("three?")
    assert told(scene.requests()[-1]).count("1\tsecond of") == MANY
    assert "could not be looked at" not in last_words(scene.requests()[-1])


async def test_files_that_look_changed_are_read_before_those_that_are_only_unproven(tmp_path: Path) -> None:
    disk = SlowDisk(ManualClock())
    scene = scene_on(tmp_path, disk)
    write(scene, names(MANY), "first")
    for path in names(MANY):
        await tee(scene, path)
        disk.clock.advance(1)
    await scene.ask("one?")
    write(scene, names(1), "a second, longer text")  # the one used longest ago
    disk.reads.clear()
    await scene.ask("two?")
    assert disk.reads[0] == names(1)[0]
    assert "a second, longer text" in told(scene.requests()[-1])


async def test_a_file_read_once_is_not_read_again_while_it_looks_the_same(tmp_path: Path) -> None:
    disk = SlowDisk(ManualClock(now_s=4_000_000_000.0))  # long after the files were written
    scene = scene_on(tmp_path, disk)
    await tee(scene, "server.py", "auth.py")
    await scene.ask("one?")
    disk.reads.clear()
    await scene.ask("two?")
    await tee(scene, "server.py", event="changed")
    assert disk.reads == []


@pytest.mark.parametrize(("fraction_ns", "is_read_again"), [(123_456_789, False), (0, True)])
async def test_a_time_is_trusted_as_far_as_the_file_system_keeps_it(
    tmp_path: Path, fraction_ns: int, is_read_again: bool
) -> None:
    written_ns = 1_800_000_000 * 10**9 + fraction_ns
    clock = ManualClock(now_s=1_800_000_001.0)
    disk = SlowDisk(clock)
    files = disk.files()

    def looks(root: Path, path: str) -> Any:
        seen = wiring.tree_files().signature(root, path)
        return seen and seen._replace(mtime_ns=written_ns, ctime_ns=written_ns)

    scene = make_scene(
        tmp_path, [GROUNDED] * 3, clock=clock, files=replace(files, signature=looks), force_explore_when_cold=False
    )
    await tee(scene, "server.py")
    await scene.ask("one?")
    disk.reads.clear()
    await scene.ask("two?")
    assert bool(disk.reads) is is_read_again


async def test_a_file_system_that_hangs_delays_one_question_and_is_not_asked_again_until_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "CHECK_TIMEOUT_S", 0.01)
    disk = SlowDisk(ManualClock())
    scene = scene_on(tmp_path, disk)
    await tee(scene, "server.py")
    await scene.ask("one?")
    (scene.root / "server.py").write_text("PORT = 1\n")
    disk.hangs.clear()
    for question in ("two?", "three?"):
        await scene.ask(question)
        assert "1 of the files above could not be looked at in time" in last_words(scene.requests()[-1])
        assert not told(scene.requests()[-1])
    disk.hangs.set()
    monkeypatch.setattr(upkeep, "CHECK_TIMEOUT_S", 5.0)
    workspace = scene.desk._workspaces[scene.root]
    await until(lambda: not workspace.checks.is_at_work)
    await scene.ask("four?")
    assert "PORT = 1" in told(scene.requests()[-1])


async def test_an_answer_is_not_given_again_while_its_files_could_not_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SlowDisk(ManualClock())
    scene = scene_on(tmp_path, disk)
    await tee(scene, "server.py")
    await scene.ask("Where?")
    os.utime(scene.root / "server.py")
    assert REMARK in (await scene.ask("Where?")).text
    asked = len(scene.requests())
    os.utime(scene.root / "server.py", ns=(1, 1))
    disk.hangs.clear()
    monkeypatch.setattr(upkeep, "CHECK_TIMEOUT_S", 0.01)
    await scene.ask("Where?")
    disk.hangs.set()
    assert len(scene.requests()) == asked + 1


def unmounted(root: Path) -> None:
    for entry in root.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def without_git(root: Path) -> None:
    shutil.rmtree(root / ".git")
    (root / "server.py").unlink()
    (root / "auth.py").unlink()


def with_empty_git(root: Path) -> None:
    without_git(root)
    (root / ".git").mkdir()


@pytest.mark.parametrize("loss", [unmounted, without_git, with_empty_git])
async def test_a_tree_that_cannot_be_reached_is_not_a_deletion_of_everything(
    tmp_path: Path, loss: Callable[[Path], None]
) -> None:
    scene = make_scene(tmp_path, [GROUNDED] * 9, force_explore_when_cold=False)
    shutil.copytree(scene.root, tmp_path / "kept")
    await tee(scene, "server.py", "auth.py")
    await scene.ask("one?")
    loss(scene.root)
    await tee(scene, "server.py", event="changed")
    await scene.ask("two?")
    assert not told(scene.requests()[-1])
    assert "cannot be reached now" in last_words(scene.requests()[-1])
    shutil.rmtree(scene.root)
    shutil.move(tmp_path / "kept", scene.root)
    (scene.root / "server.py").unlink()
    await scene.ask("three?")
    assert "no longer there (deleted, moved or renamed: look for them before you cite them): server.py." in told(
        scene.requests()[-1]
    )
    assert "cannot be reached" not in last_words(scene.requests()[-1])


async def test_a_tree_that_only_lost_its_git_is_still_there(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED] * 9, force_explore_when_cold=False)
    await tee(scene, "server.py", "auth.py")
    await scene.ask("one?")
    shutil.rmtree(scene.root / ".git")
    (scene.root / "auth.py").unlink()
    (scene.root / "server.py").write_text("PORT = 1\n")
    await scene.ask("two?")
    assert "before you cite them): auth.py." in told(scene.requests()[-1])
    assert "1\tPORT = 1" in told(scene.requests()[-1])
    assert "cannot be reached" not in last_words(scene.requests()[-1])


async def test_a_disk_that_does_not_tell_whether_a_file_is_there_deletes_nothing(tmp_path: Path) -> None:
    files = replace(wiring.tree_files(), signature=lambda _root, _path: None, is_gone=lambda _root, _path: False)
    scene = make_scene(tmp_path, [GROUNDED] * 3, force_explore_when_cold=False)
    await tee(scene, "server.py")
    await scene.ask("one?")
    again = make_scene(tmp_path, [GROUNDED] * 3, store=scene.store, files=files, force_explore_when_cold=False)
    await again.ask("two?")
    assert not told(again.requests()[-1])


async def test_a_branch_switch_deletes_what_it_takes_away_and_brings_it_back(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED] * 9, force_explore_when_cold=False)
    shutil.rmtree(scene.root / ".git")
    git(scene.root, "init", "-q", "-b", "main")
    git(scene.root, "add", "server.py")
    git(scene.root, "commit", "-q", "-m", "first")
    git(scene.root, "checkout", "-q", "-b", "other")
    git(scene.root, "add", "auth.py")
    (scene.root / "server.py").write_text("PORT = 2\n")
    git(scene.root, "commit", "-q", "-a", "-m", "second")
    await tee(scene, "server.py", "auth.py")
    await scene.ask("one?")
    git(scene.root, "checkout", "-q", "main")
    await scene.ask("two?")
    assert "no longer there (deleted, moved or renamed: look for them before you cite them): auth.py." in told(
        scene.requests()[-1]
    )
    assert "1\tPORT = 7711" in told(scene.requests()[-1])
    git(scene.root, "checkout", "-q", "other")
    await scene.ask("three?")
    last = told(scene.requests()[-1])
    assert "1\tPORT = 2" in last
    assert "These files are again as you saw them: auth.py." in last


async def test_a_known_folder_that_becomes_a_link_inside_the_tree_is_still_what_it_was(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED] * 9, force_explore_when_cold=False)
    await tee(scene, "docs/notes.md")
    await scene.ask("one?")
    (scene.root / "docs").rename(scene.root / "texts")
    (scene.root / "docs").symlink_to("texts")
    await scene.ask("two?")
    assert not told(scene.requests()[-1])


async def test_a_known_file_that_becomes_a_link_out_of_the_tree_is_gone_and_never_read(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [GROUNDED] * 9, force_explore_when_cold=False)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "notes.md").write_text("not ours\n")
    await tee(scene, "docs/notes.md", "server.py")
    await scene.ask("one?")
    shutil.rmtree(scene.root / "docs")
    (scene.root / "docs").symlink_to(tmp_path / "outside")
    (scene.root / "server.py").unlink()
    (scene.root / "server.py").symlink_to(tmp_path / "outside" / "notes.md")
    await scene.ask("two?")
    assert "not ours" not in "\n".join(prefix(scene.requests()[-1]))
    assert "server.py" in told(scene.requests()[-1])
    assert "docs/notes.md" in told(scene.requests()[-1])
