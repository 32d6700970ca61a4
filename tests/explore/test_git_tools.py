"""The tools that ask git: what they say, and that nothing a repository names is ever run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from explore.asking import Ask, Write, refusal

from live_memory.explore.toolbox import run_tool
from live_memory.explore.tree import directory_tree

Git = Callable[..., str]


@pytest.fixture
def history(write: Write, git: Git) -> None:
    """Three commits: a start, a fix with its reason, a rename."""
    write("src/app.py", "".join(f"x{n} = {n}\n" for n in range(30)))
    git("add", ".")
    git("commit", "--quiet", "-m", "Start the app")
    write("src/app.py", "".join(f"x{n} = {n}\n" for n in range(29)) + "retry = 3\n")
    git("commit", "--quiet", "-am", "Retry the connection\n\nThe server drops idle clients after a minute.")
    git("mv", "src/app.py", "src/main.py")
    git("commit", "--quiet", "-m", "Rename the app")


# get_changed_files


@pytest.mark.usefixtures("history")
def test_changes_are_listed_in_words(root: Path, write: Write, git: Git, ask: Ask) -> None:
    assert ask("get_changed_files") == "On branch main.\nNothing differs from the last commit."
    write("src/main.py", "x = 1\n")
    write("staged.py", "")
    write("both.py", "1\n")
    git("add", "staged.py", "both.py")
    write("both.py", "2\n")
    write("new/file.py", "")
    write("ünï cödé\n.txt", "")
    assert sorted(ask("get_changed_files").split("\n")) == [
        "On branch main.",
        "added (staged), modified: both.py",
        "added (staged): staged.py",
        "modified: src/main.py",
        "untracked: new/",
        "untracked: ünï cödé\\n.txt",
    ]
    assert ask("get_changed_files", path="src") == "On branch main.\nmodified: src/main.py"
    assert ask("get_changed_files", limit=1).endswith("(5 paths; go on with offset=1.)")


@pytest.mark.usefixtures("history")
def test_renames_and_deletions_are_listed(root: Path, git: Git, ask: Ask) -> None:
    git("mv", "src/main.py", "src/renamed.py")
    assert "renamed (staged): src/main.py -> src/renamed.py" in ask("get_changed_files")
    git("reset", "--quiet", "--hard")
    (root / "src" / "main.py").unlink()
    assert "deleted: src/main.py" in ask("get_changed_files")


def test_a_repository_without_any_commit(write: Write, git: Git, ask: Ask) -> None:
    write("a.py", "")
    assert ask("get_changed_files") == "On branch main, without any commit yet.\nuntracked: a.py"
    assert "does not have any commits yet" in refusal(ask, "git_search")


def test_outside_of_a_repository_a_sentence_says_so(ask: Ask) -> None:
    assert "not a git repository" in refusal(ask, "get_changed_files")
    assert "not a git repository" in refusal(ask, "git_search", query="x")


@pytest.mark.usefixtures("history")
def test_without_git_a_sentence_says_so(root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git is not installed" in refusal(ask, "get_changed_files")
    assert "git is not installed" in refusal(ask, "git_search")
    assert "src/: main.py" in directory_tree(root, 500)


@pytest.mark.usefixtures("history")
def test_a_worktree_and_a_folder_inside_a_checkout_work_too(root: Path, git: Git, tmp_path: Path) -> None:
    git("worktree", "add", "--quiet", str(tmp_path / "other"), "-b", "topic")
    other = Path(os.path.realpath(tmp_path / "other"))
    (other / "src" / "main.py").write_text("changed\n")
    assert run_tool(other, "get_changed_files", "{}").text == "On branch topic.\nmodified: src/main.py"
    assert "Rename the app" in run_tool(other, "git_search", "{}").text
    assert run_tool(other / "src", "get_changed_files", "{}").text == "On branch topic.\nmodified: main.py"
    assert "Start the app" in run_tool(other / "src", "git_search", '{"path": "main.py"}').text


# git_search


@pytest.mark.usefixtures("history")
def test_history_is_searched_by_message_and_path(ask: Ask) -> None:
    text = ask("git_search")
    assert text.index("Rename the app") < text.index("Retry the connection") < text.index("Start the app")
    found = ask("git_search", query="IDLE clients")
    assert "The server drops idle clients after a minute." in found
    assert "M src/app.py" in found
    assert "Ada" in found
    assert "ada@example.org" not in found
    assert "Start the app" not in found
    assert "Start the app" in ask("git_search", path="src/main.py")  # through the rename
    assert "no commit whose message matches nowhere" in ask("git_search", query="nowhere")


@pytest.mark.usefixtures("history")
def test_diffs_are_shown_when_asked_for(ask: Ask) -> None:
    text = ask("git_search", query="retry", patch=True)
    assert "-x29 = 29\n+retry = 3" in text
    assert "+retry" not in ask("git_search", query="retry")
    assert "Start the app" in ask("git_search", path="src", patch="true", limit=9)


@pytest.mark.usefixtures("history")
def test_history_is_paged(ask: Ask) -> None:
    assert ask("git_search", limit=1).endswith("(More commits: go on with offset=1.)")
    last = ask("git_search", limit=1, offset=2)
    assert "Start the app" in last
    assert "More commits" not in last
    assert "after the first 3" in ask("git_search", offset=3)


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    "word", ["--output=stolen", "-n1", "--all", "--exec=touch x", "HEAD", ":(exclude)*", "--ext-diff"]
)
def test_arguments_never_become_options(root: Path, ask: Ask, word: str) -> None:
    before = sorted(os.listdir(root))
    for arguments in ({"query": word}, {"path": word}, {"path": word, "patch": True}):
        assert "There is no commit" in ask("git_search", **arguments)
    ask("get_changed_files", path=word)
    assert sorted(os.listdir(root)) == before


@pytest.mark.usefixtures("history")
def test_a_query_that_is_no_expression_is_said_to_be_so(ask: Ask) -> None:
    assert "git could not do that" in refusal(ask, "git_search", query="(")


def test_the_history_of_secret_files_is_not_shown(write: Write, git: Git, ask: Ask) -> None:
    write(".env", "PLAIN=value-of-the-env-file\n")
    write("deploy/server.pem", "value-of-the-pem-file\n")
    write("app.py", "fine = 1\n")
    git("add", "-f", ".")
    git("commit", "--quiet", "-m", "All at once")
    for arguments in ({}, {"path": "deploy"}, {"path": "."}):
        text = ask("git_search", patch=True, **arguments)
        assert "value-of-the" not in text
    assert "+fine = 1" in ask("git_search", patch=True)
    assert "may hold secrets" in refusal(ask, "git_search", patch=True, path=".env")
    assert ".env" in ask("git_search")  # its name is no secret


@pytest.mark.usefixtures("history")
def test_long_diffs_and_messages_are_cut_with_a_word(write: Write, git: Git, ask: Ask) -> None:
    write("big.txt", "".join(f"line {n} {'x' * 500}\n" for n in range(3000)))
    git("add", ".")
    git("commit", "--quiet", "-m", "Add much\n\n" + "\n".join(f"reason {n}" for n in range(100)))
    text = ask("git_search", patch=True, limit=1)
    assert len(text) < 45_000
    assert "more lines of diff" in text
    assert "more lines of message" in text


# What a repository names is never run


@pytest.fixture
def trap(root: Path, tmp_path: Path) -> tuple[str, Path]:
    """A program that leaves a trace when it is run, and the trace."""
    trace = tmp_path / "trace"
    program = tmp_path / "trap"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {trace}\ncat\nexit 0\n')
    program.chmod(0o755)
    return str(program), trace


def traps(program: str, hooks: Path) -> dict[str, str]:
    """Every setting by which git may be made to run a program."""
    return {
        "core.fsmonitor": program,
        "core.hooksPath": str(hooks),
        "core.pager": program,
        "core.sshCommand": program,
        "core.editor": program,
        "core.askPass": program,
        "core.alternateRefsCommand": program,
        "core.gitProxy": program,
        "credential.helper": f"!{program}",
        "diff.external": program,
        "diff.evil.command": program,
        "diff.evil.textconv": program,
        "filter.evil.clean": program,
        "filter.evil.smudge": program,
        "filter.evil.process": program,
        "filter.evil.required": "true",
        "filter.other.clean": program,
        "gpg.program": program,
        "gpg.ssh.program": program,
        "log.showSignature": "true",
        "pager.log": program,
        "pager.status": program,
        "alias.log": f"!{program}",
        "alias.status": f"!{program}",
        "alias.ls-files": f"!{program}",
        "interactive.diffFilter": program,
        "sequence.editor": program,
        "uploadpack.packObjectsHook": program,
        "status.submoduleSummary": "true",
        "diff.submodule": "log",
        "submodule.recurse": "true",
        "remote.origin.url": f"ext::{program}",
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
        "protocol.ext.allow": "always",
        "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1",
        "color.ui": "always",
    }


@pytest.mark.usefixtures("history")
def test_programs_named_by_a_repository_s_configuration_are_never_run(
    root: Path, write: Write, git: Git, ask: Ask, trap: tuple[str, Path]
) -> None:
    program, trace = trap
    write(".gitattributes", "* filter=evil diff=evil merge=evil\n*.py filter=other\n")
    git("add", ".")
    git("-c", "commit.gpgSign=false", "commit", "--quiet", "-m", "Attributes")
    hooks = write(".git/evil-hooks/post-index-change", f"#!/bin/sh\nexec {program}\n").parent
    for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout"):
        (hooks / hook).write_text(f"#!/bin/sh\nexec {program} hook {hook}\n")
        (hooks / hook).chmod(0o755)
        shutil.copy(hooks / hook, root / ".git" / "hooks" / hook)
    for name, value in traps(program, hooks).items():
        git("config", name, value)
    trace.unlink(missing_ok=True)
    write("src/main.py", "changed = 1\n" * 30)
    os.utime(root / ".gitattributes", (1, 1))  # git has to look into it again
    write("untracked.py", "")
    assert "modified: src/main.py" in ask("get_changed_files")
    assert "Retry the connection" in ask("git_search", query="retry", patch=True)
    assert "Start the app" in ask("git_search", path="src/main.py", patch=True)
    assert "\x1b" not in ask("git_search")
    assert "main.py" in directory_tree(root, 500)
    ask("Grep", pattern="changed")
    ask("Glob", pattern="**")
    assert not trace.exists(), trace.read_text()
    subprocess.run(["git", "status"], cwd=root, capture_output=True, timeout=30, check=False)
    assert trace.exists()  # git by itself walks into the trap


@pytest.mark.usefixtures("history")
def test_objects_that_are_missing_are_not_fetched(root: Path, git: Git, ask: Ask, trap: tuple[str, Path]) -> None:
    program, trace = trap
    blob = git("rev-parse", "HEAD:src/main.py").strip()
    for name, value in {
        "remote.origin.url": f"ext::{program} %S",
        "remote.origin.promisor": "true",
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
        "protocol.ext.allow": "always",
        "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1",
    }.items():
        git("config", name, value)
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert "git could not do that" in refusal(ask, "git_search", patch=True)
    assert not trace.exists(), trace.read_text()


@pytest.mark.usefixtures("history")
def test_signed_commits_are_not_checked(root: Path, git: Git, ask: Ask, trap: tuple[str, Path]) -> None:
    program, trace = trap
    raw = git("cat-file", "commit", "HEAD")
    head, _, message = raw.partition("\n\n")
    dashes = "-" * 5
    signed = (
        f"{head}\ngpgsig {dashes}BEGIN PGP SIGNATURE{dashes}\n \n x\n {dashes}END PGP SIGNATURE{dashes}\n\n{message}"
    )
    commit = (
        subprocess.run(
            ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
            cwd=root,
            input=signed.encode(),
            capture_output=True,
            check=True,
        )
        .stdout.decode()
        .strip()
    )
    git("update-ref", "HEAD", commit)
    git("config", "gpg.program", program)
    git("config", "log.showSignature", "true")
    assert "Rename the app" in ask("git_search")
    assert not trace.exists()


@pytest.mark.usefixtures("history")
def test_a_configuration_cannot_point_the_working_tree_elsewhere(
    root: Path, git: Git, ask: Ask, tmp_path: Path
) -> None:
    git("config", "core.worktree", str(tmp_path / "outside"))
    assert "private.txt" not in ask("get_changed_files")
    assert "private.txt" not in directory_tree(root, 1000)


def test_a_folder_dressed_up_as_a_bare_repository_is_none(
    root: Path, git: Git, ask: Ask, trap: tuple[str, Path]
) -> None:
    program, trace = trap
    git("config", "core.fsmonitor", program)
    (root / ".git" / "objects").mkdir(exist_ok=True)
    for part in (root / ".git").iterdir():
        part.rename(root / part.name)
    (root / ".git").rmdir()
    assert "not a git repository" in refusal(ask, "get_changed_files")
    (root / ".git").mkdir()  # git would go on looking, and find the folder itself
    assert "git" in refusal(ask, "get_changed_files")
    directory_tree(root, 100)
    assert not trace.exists()


@pytest.mark.usefixtures("history")
def test_variables_of_the_environment_do_not_lead_git_astray(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, trap: tuple[str, Path], tmp_path: Path
) -> None:
    program, trace = trap
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS", "PAGER"):
        monkeypatch.setenv(name, program)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "outside"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "outside" / "index"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "git-trace"))
    assert "Retry the connection" in ask("git_search", patch=True)
    assert not trace.exists()
    assert not (tmp_path / "git-trace").exists()


@pytest.mark.usefixtures("history")
def test_nothing_is_written_into_the_repository(root: Path, write: Write, ask: Ask) -> None:
    write("src/main.py", "x\n")
    os.utime(root / "src", (1, 1))
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    ask("get_changed_files")
    ask("git_search", patch=True)
    directory_tree(root, 1000)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_a_repository_that_somebody_else_owns_is_said_to_be_so(
    root: Path, write: Write, git: Git, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.py", "")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    from live_memory.explore import git as git_module

    kept = git_module._environment
    monkeypatch.setattr(git_module, "_environment", lambda top: kept(top) | {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert "safe.directory" in refusal(ask, "get_changed_files")
    assert "a.py" in directory_tree(root, 100)


def test_the_answers_are_json_of_valid_text(root: Path, write: Write, git: Git, ask: Ask) -> None:
    write(os.fsdecode(b"n\xff.txt"), "x\n")
    git("add", ".")
    git("-c", "i18n.commitEncoding=latin1", "commit", "--quiet", "-m", "Grüße")
    for tool in ("git_search", "get_changed_files", "find_paths"):
        json.dumps(ask(tool)).encode()
        ask(tool).encode()
    ask("Glob", pattern="**").encode()
    ask("Grep", pattern="x").encode()
    directory_tree(root, 100).encode()
