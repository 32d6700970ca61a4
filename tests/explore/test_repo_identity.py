"""Which repository a folder is part of, whatever folder, remote or spelling it is reached by."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.repositories import clone, git, repository

from live_memory.errors import ToolRefusal
from live_memory.explore import repo_identity
from live_memory.explore.child import Bounds
from live_memory.explore.repo_identity import bears, normalised, repo_id

REMOTE = "git:git.example.com/Owner/name"


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.com/Owner/name",
        "https://git.example.com/Owner/name.git/",
        "https://user:secret@GIT.example.com:8443/Owner/name.git",
        "ssh://git@git.example.com:2222/Owner/name.git",
        "git@git.example.com:Owner/name.git",
        "git@git.example.com:/Owner//name",
        "git.example.com:Owner/name",
        "git+ssh://git@git.example.com/Owner/name",
        "git://git.example.com/Owner/name.git?x=1",
    ],
)
def test_a_remote_is_one_however_it_is_spelled(url: str) -> None:
    assert normalised(url) == "git.example.com/Owner/name"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/Owner/Name.git", "github.com/owner/name"),
        ("ssh://git@ssh.github.com:443/owner/name.git", "github.com/owner/name"),
        ("git@ssh.dev.azure.com:v3/org/project/name", "dev.azure.com/org/project/name"),
        ("https://org@dev.azure.com/org/project/_git/name", "dev.azure.com/org/project/name"),
        ("https://host/a%20b.git", "host/a b"),
        ("https://[::1]:3000/owner/name", "[::1]/owner/name"),
        ("/srv/git/name.git", "/srv/git/name"),
        ("file:///srv/git/name.git", "/srv/git/name"),
        ("file://localhost/srv/name/.git", "/srv/name"),
        ("../name", "../name"),
        ("C:/git/name.git", "C:/git/name"),
        (r"C:\git\name", r"C:\git\name"),
        ("codecommit::https://git.example.com/name", "git.example.com/name"),
    ],
)
def test_services_and_folders_have_their_own_spelling(url: str, expected: str) -> None:
    assert normalised(url) == expected


def test_a_folder_outside_of_git_is_its_path(tmp_path: Path) -> None:
    assert repo_id(tmp_path) == f"path:{tmp_path}"
    assert bears(tmp_path, f"path:{tmp_path}")
    assert not bears(tmp_path, "commit:aa")


def test_a_folder_inside_a_checkout_that_is_none_itself_is_its_path(tmp_path: Path) -> None:
    inside = repository(tmp_path / "repo") / "inside"
    inside.mkdir()
    assert repo_id(inside) == f"path:{inside}"


def test_a_repository_without_a_commit_is_its_path_until_the_first(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert repo_id(tmp_path) == f"path:{tmp_path}"
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    assert repo_id(tmp_path) == "commit:" + git(tmp_path, "rev-parse", "HEAD").strip()


def test_worktrees_and_branches_without_a_common_past_are_one_repository(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "../tree")
    git(tmp_path / "tree", "checkout", "-q", "--orphan", "pages")
    git(tmp_path / "tree", "commit", "-q", "--allow-empty", "-m", "pages", "--date", "1800000000 +0000")
    assert repo_id(tmp_path / "tree") == repo_id(repo)


def test_the_remote_says_which_repository_it_is_origin_first(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "remote", "add", "another", "https://example.com/another")
    assert repo_id(repo) == "git:example.com/another"
    git(repo, "remote", "add", "origin", "git@git.example.com:Owner/name.git")
    assert repo_id(repo) == REMOTE
    assert bears(repo, "git:example.com/another")
    assert bears(repo, "commit:" + git(repo, "rev-parse", "HEAD").strip())
    assert not bears(repo, "git:example.com/foreign")
    assert not bears(repo, "commit:" + "0" * 40)


def test_short_forms_of_the_configuration_are_written_out(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "config", "url.https://git.example.com/.insteadOf", "ex:")
    git(repo, "remote", "add", "origin", "ex:Owner/name")
    assert repo_id(repo) == REMOTE


def test_forks_differ_though_their_past_is_one(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    for name in ("one", "two"):
        git(tmp_path, "clone", "-q", "--bare", str(repo), f"{name}.git")
    ids = {repo_id(clone(tmp_path / f"{name}.git", tmp_path / folder)) for name, folder in (("one", "a"), ("two", "b"))}
    assert ids == {f"git:{tmp_path}/one", f"git:{tmp_path}/two"}
    assert repo_id(clone(f"file://{tmp_path}/one.git", tmp_path / "c")) == f"git:{tmp_path}/one"


def test_a_clone_of_a_tree_on_this_machine_is_the_same_repository(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    copy = clone(clone(repo, tmp_path / "clone"), tmp_path / "clone-of-clone")
    assert repo_id(copy) == repo_id(repo)
    git(repo, "remote", "add", "origin", "https://git.example.com/Owner/name")
    assert repo_id(copy) == REMOTE


def test_clones_of_each_other_end(tmp_path: Path) -> None:
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    git(one, "remote", "add", "origin", "../two")
    git(two, "remote", "add", "origin", "../one")
    assert repo_id(one).startswith("git:")


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    library, repo = repository(tmp_path / "library", "library"), repository(tmp_path / "repo")
    git(repo, "submodule", "--quiet", "add", str(library), "lib")
    assert repo_id(repo / "lib") == repo_id(library)
    assert repo_id(repo / "lib") != repo_id(repo)


def test_a_repository_that_git_does_not_read_is_no_other_one(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere")
    with pytest.raises(ToolRefusal):
        repo_id(tmp_path)


def test_a_slow_git_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path / "repo")
    monkeypatch.setattr(repo_identity, "REMOTE_BOUNDS", Bounds(timeout_s=0.0, max_bytes=1))
    git(repo, "remote", "add", "origin", "https://example.com/a/b")
    with pytest.raises(ToolRefusal, match="too long"):
        repo_id(repo)
