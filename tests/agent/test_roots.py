"""Which workspace a folder belongs to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.repositories import git, repository

from live_memory.agent.roots import canonical_root
from live_memory.errors import QuestionError
from live_memory.settings import Settings


def root_of(cwd: Path | str, home: Path, **settings: object) -> Path:
    return canonical_root(str(cwd), home, Settings(**settings))  # type: ignore[arg-type]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def test_a_folder_inside_a_checkout_belongs_to_its_top_level(tmp_path: Path, home: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / "a" / "b").mkdir(parents=True)
    assert root_of(top / "a" / "b", home) == root_of(top, home) == top
    assert root_of(top / "a" / "b", home, canonicalize_workspace=False) == top / "a" / "b"


def test_a_folder_outside_of_git_is_its_own_root(tmp_path: Path, home: Path) -> None:
    (tmp_path / "plain" / ".git").mkdir(parents=True)  # an empty folder of that name is no repository
    assert root_of(tmp_path / "plain", home) == (tmp_path / "plain").resolve()


def test_a_worktree_is_a_root_of_its_own(tmp_path: Path, home: Path) -> None:
    top = repository(tmp_path / "repo")
    git(top, "worktree", "add", "-q", str(top / "trees" / "side"))
    assert root_of(top / "trees" / "side", home) == top / "trees" / "side"
    assert root_of(top / "trees" / "side", home, repo_root_mode="outermost") == top / "trees" / "side"


def test_a_submodule_is_its_own_root_or_part_of_what_holds_it(tmp_path: Path, home: Path) -> None:
    inner, outer, top = (repository(tmp_path / name) for name in ("inner", "middle", "top"))
    git(outer, "submodule", "--quiet", "add", str(inner), "libs/inner")
    git(outer, "commit", "-q", "-m", "hold inner")
    git(top, "submodule", "--quiet", "add", str(outer), "libs/middle")
    git(top, "submodule", "--quiet", "update", "--init", "--recursive")
    deep = top / "libs" / "middle" / "libs" / "inner"
    assert root_of(deep, home) == deep
    assert root_of(deep, home, repo_root_mode="outermost") == top


def test_two_spellings_and_links_are_one_root(tmp_path: Path, home: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / "src").mkdir()
    (tmp_path / "link").symlink_to(top)
    (home / "into").symlink_to(top / "src")
    spellings = (f"{top}/", f"{top}/src/..", f"{top}//src", str(tmp_path / "link" / "src"), str(home / "into"))
    assert {root_of(spelling, home) for spelling in spellings} == {top}


def test_dotfiles_kept_in_git_do_not_make_the_home_folder_a_workspace(tmp_path: Path) -> None:
    home = repository(tmp_path / "home")
    (home / "project").mkdir()
    assert root_of(home / "project", home) == home / "project"
    with pytest.raises(QuestionError, match="your home folder"):
        root_of(home, home)


@pytest.mark.parametrize(
    ("cwd", "sentence"),
    [
        ("", "cwd is missing"),
        ("src", "must be an absolute path"),
        ("./src", "must be an absolute path"),
        ("~/src", "must be an absolute path"),
        ("/", "the whole file system"),
        ("/no/such/folder", "There is no folder"),
        (__file__, "is a file"),
        (__file__ + "/deeper", "There is no folder"),
        ("/tmp/\0", "NUL"),
    ],
)
def test_what_is_no_workspace_is_refused_with_a_sentence(home: Path, cwd: str, sentence: str) -> None:
    with pytest.raises(QuestionError, match=sentence) as refusal:
        root_of(cwd, home)
    assert refusal.value.code == "bad-cwd"


def test_the_home_folder_by_a_link_is_still_the_home_folder(tmp_path: Path, home: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    with pytest.raises(QuestionError, match="your home folder"):
        root_of(tmp_path / "link", home)


def test_a_loop_of_links_is_a_sentence(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(QuestionError):
        root_of(tmp_path / "a", home)


def test_a_folder_that_may_not_be_read_is_a_sentence(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)  # root may read anything
    with pytest.raises(QuestionError, match="cannot be read by this user"):
        root_of(tmp_path, home)
