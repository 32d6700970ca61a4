"""Where notes belong: to a repository, whatever folder holds it, and how they follow it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.repositories import clone, git, repository

from live_memory.agent.explorers import Threads
from live_memory.clock import ManualClock
from live_memory.errors import StoreError, ToolRefusal
from live_memory.explore import repo_identity
from live_memory.memory.place import KNOWN_S, Identities, Place, Places
from live_memory.notes.note import GLOBAL, Note
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.in_memory_note_store import InMemoryNoteStore
from live_memory.store.note_store import Change, NoteStore


class Scene:
    """Places over real repositories."""

    def __init__(self) -> None:
        self.store: NoteStore = InMemoryStore().note_store
        self.clock, self.threads, self.asked = ManualClock(), Threads(1), 0
        self.refusal = ""
        identities = Identities(self.repo_id, repo_identity.bears)
        self.places = Places(self.locate, identities, self.threads, self.store, self.clock)

    async def locate(self, cwd: str) -> Path:
        return Path(cwd)

    def repo_id(self, root: Path) -> str:
        self.asked += 1
        if self.refusal:
            raise ToolRefusal(self.refusal)
        return repo_identity.repo_id(root)

    async def of(self, folder: Path) -> Place:
        """The place, a while later."""
        self.clock.advance(KNOWN_S)
        return await self.places.of(str(folder))

    def keep(self, place: Place, name: str) -> None:
        note = Note(place.repo_id, name, "project", name, f"About {name}.")
        self.store.apply([Change("create", None, note, self.clock.wall_s(), "user")])

    async def seen(self, folder: Path) -> set[str]:
        return {note.id for note in self.store.notes((await self.of(folder)).scopes)}


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.threads.close()


async def test_two_repositories_of_one_name_never_see_each_others_notes(scene: Scene, tmp_path: Path) -> None:
    mine, other = repository(tmp_path / "a" / "app", "mine"), repository(tmp_path / "b" / "app", "other")
    plain = tmp_path / "c" / "app"
    plain.mkdir(parents=True)
    scene.keep(await scene.of(mine), "of-mine")
    assert (await scene.seen(other), await scene.seen(plain)) == (set(), set())
    scene.keep(await scene.of(other), "of-other")
    assert await scene.seen(mine) == {"of-mine"}


async def test_a_worktree_and_a_second_clone_share_notes_and_a_removed_worktree_loses_none(
    scene: Scene, tmp_path: Path
) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "../tree")
    scene.keep(await scene.of(tmp_path / "tree"), "from-the-tree")
    assert await scene.seen(repo) == {"from-the-tree"}
    assert await scene.seen(clone(repo, tmp_path / "clone")) == {"from-the-tree"}
    git(repo, "worktree", "remove", "--force", "../tree")
    assert await scene.seen(repo) == {"from-the-tree"}
    assert (await scene.of(repo)).scopes == ((await scene.of(repo)).repo_id, GLOBAL)


async def test_a_remote_that_is_added_later_takes_the_notes_along_for_all_worktrees(
    scene: Scene, tmp_path: Path
) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "../tree")
    scene.keep(await scene.of(repo), "early")
    await scene.of(tmp_path / "tree")
    git(repo, "remote", "add", "origin", "https://example.com/a/b")
    assert await scene.seen(repo) == {"early"}
    assert await scene.seen(tmp_path / "tree") == {"early"}
    (moved,) = scene.store.log([(await scene.of(repo)).repo_id], 1)
    assert (moved.action, moved.reason) == ("move", "the repository is known as git:example.com/a/b now")


async def test_notes_stay_with_a_tree_that_keeps_the_old_id(scene: Scene, tmp_path: Path) -> None:
    repo, copy = repository(tmp_path / "repo"), tmp_path / "copy"
    shutil.copytree(repo, copy)
    scene.keep(await scene.of(copy), "early")
    await scene.of(repo)
    git(repo, "remote", "add", "origin", "https://example.com/a/b")
    assert await scene.seen(repo) == set()
    assert await scene.seen(copy) == {"early"}


async def test_forks_do_not_see_each_other_though_their_past_is_one(scene: Scene, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    fork = clone(repo, tmp_path / "fork")
    git(repo, "remote", "add", "origin", "https://example.com/a/b")
    git(fork, "remote", "set-url", "origin", "https://example.com/c/b")
    scene.keep(await scene.of(repo), "upstream")
    scene.keep(await scene.of(fork), "downstream")
    assert (await scene.seen(repo), await scene.seen(fork)) == ({"upstream"}, {"downstream"})


async def test_another_repository_in_the_folder_of_a_removed_one_inherits_nothing(scene: Scene, tmp_path: Path) -> None:
    for text in ("one", "two"):
        repo = repository(tmp_path / "repo", text)
        assert await scene.seen(repo) == set()
        scene.keep(await scene.of(repo), text)
        shutil.rmtree(repo)


async def test_a_fork_that_keeps_its_upstream_as_a_remote_keeps_its_notes(scene: Scene, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "remote", "add", "origin", "https://example.com/a/b")
    scene.keep(await scene.of(repo), "early")
    git(repo, "remote", "rename", "origin", "upstream")
    git(repo, "remote", "add", "origin", "https://example.com/me/b")
    assert await scene.seen(repo) == {"early"}


async def test_notes_that_meet_one_of_their_name_are_numbered(scene: Scene, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    scene.keep(await scene.of(repo), "same")
    scene.keep(Place(repo, "git:example.com/a/b"), "same")
    git(repo, "remote", "add", "origin", "https://example.com/a/b")
    assert await scene.seen(repo) == {"same", "same-2"}


async def test_a_folder_that_becomes_a_repository_keeps_its_notes(scene: Scene, tmp_path: Path) -> None:
    scene.keep(await scene.of(tmp_path), "early")
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    assert await scene.seen(tmp_path) == {"early"}


async def test_what_was_known_holds_while_git_does_not_tell(scene: Scene, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    scene.refusal = "git is not installed here"
    assert (await scene.of(repo)).repo_id == f"path:{repo}"
    scene.refusal = ""
    scene.keep(await scene.of(repo), "early")
    scene.refusal = "git is not installed here"
    assert await scene.seen(repo) == {"early"}


async def test_git_is_asked_once_in_a_while(scene: Scene, tmp_path: Path) -> None:
    await scene.places.of(str(tmp_path))
    await scene.places.of(str(tmp_path))
    assert scene.asked == 1


class Full(InMemoryNoteStore):
    """On a disk with no room left."""

    def know_tree(self, *args: Any, **more: Any) -> str:
        raise StoreError("The disk is full.")

    def apply(self, *args: Any, **more: Any) -> tuple[Change, ...]:
        raise StoreError("The disk is full.")


async def test_a_place_is_known_where_nothing_can_be_written(scene: Scene, tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    scene.store = Full()
    scene.places = Places(
        scene.locate, Identities(scene.repo_id, repo_identity.bears), scene.threads, scene.store, scene.clock
    )
    assert (await scene.of(folder)).repo_id == f"path:{folder}"


async def test_notes_that_cannot_follow_a_tree_now_stay_where_they_are_found(scene: Scene, tmp_path: Path) -> None:
    folder = tmp_path / "app"
    kept = Note(f"path:{folder}", "a", "project", "A", "About a.")
    store = Full()
    InMemoryNoteStore.apply(store, [Change("create", None, kept, 1.0, "user")])
    InMemoryNoteStore.know_tree(store, str(folder), kept.scope, 1.0)
    scene.store = store
    scene.places = Places(
        scene.locate, Identities(scene.repo_id, repo_identity.bears), scene.threads, store, scene.clock
    )
    repository(folder, "app")
    assert await scene.seen(folder) == {"a"}
