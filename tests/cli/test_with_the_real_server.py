"""The commands with the real server, which the first of them starts: a real process, database and repository."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.repository import small_repository
from lifecycle.command import Machine, machine

QUESTION = "When is the harbour opened?"


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine whose packages are installed, with the scripted model."""
    with machine(tmp_path_factory.mktemp("commands"), LIVE_MEMORY_PROVIDER="scripted") as made:
        made.borrow_packages()
        yield made


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return small_repository(tmp_path / "repository")


def done(ready: Machine, repository: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command, which must succeed."""
    result = ready.run(*words, "--cwd", str(repository), **more)
    assert result.returncode == 0, result.stderr
    return result


def figures(ready: Machine, repository: Path) -> dict[str, object]:
    shown = json.loads(done(ready, repository, "stats", "--json").stdout)
    assert isinstance(shown, dict)
    return shown


def test_a_question_starts_the_server_and_is_answered(ready: Machine, repository: Path) -> None:
    assert "scripted" in done(ready, repository, "ask", QUESTION).stdout
    answer = json.loads(done(ready, repository, "ask", QUESTION, "--json").stdout)
    assert (answer["model"], answer["timed_out"]) == ("scripted-1", False)
    assert ready.health()["status"] == "ok"


def test_reset_and_empty_forget_the_window_and_keep_the_account(ready: Machine, repository: Path) -> None:
    done(ready, repository, "ask", QUESTION)
    before = figures(ready, repository)
    assert before["messages"] == 2
    for command in ("reset", "empty"):
        done(ready, repository, command)
        after = figures(ready, repository)
        assert (after["messages"], after["questions"]) == (0, before["questions"])


def test_the_statusline_shows_the_fill_of_the_sessions_repository(ready: Machine, repository: Path) -> None:
    done(ready, repository, "ask", QUESTION)
    shown = done(ready, repository, "statusline").stdout
    assert shown.startswith("memory ")
    assert shown.rstrip().endswith("%")


def test_a_changed_setting_is_in_force_at_once(ready: Machine, repository: Path) -> None:
    done(ready, repository, "ask", QUESTION)
    pid = ready.health()["pid"]
    without_provider = {**ready.environment, "LIVE_MEMORY_PROVIDER": ""}
    assert os.environ.get("LIVE_MEMORY_MAX_ANSWER_TOKENS") is None
    changed = ready.run("config", "set", "default_timeout_s=33", "--json", **without_provider)
    assert json.loads(changed.stdout) == {"default_timeout_s": {"value": 33.0, "source": "config.json"}}
    assert ready.health()["pid"] == pid
    log = ready.run("logs").stdout
    assert "reloaded provider=scripted" in log


def test_a_broken_config_file_is_refused_by_the_running_server_which_goes_on(ready: Machine, repository: Path) -> None:
    done(ready, repository, "ask", QUESTION)
    (ready.data_dir / "user-config.json").write_text('{"provider": "a fortune teller"}')
    try:
        refused = ready.run("config", "set", "model=x", LIVE_MEMORY_PROVIDER="")
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
        assert "provider cannot be 'a fortune teller'" in refused.stderr
        done(ready, repository, "ask", QUESTION)
    finally:
        (ready.data_dir / "user-config.json").unlink()


def test_a_healthy_machine_has_no_problem(ready: Machine, repository: Path) -> None:
    done(ready, repository, "ask", QUESTION)
    result = ready.run("doctor", "--json")
    checks = {check["name"]: check["status"] for check in json.loads(result.stdout)["checks"]}
    assert result.returncode == 0
    assert {name for name, status in checks.items() if status != "ok"} <= {"git", "disk"}


def test_a_folder_that_is_no_workspace_is_one_sentence(ready: Machine) -> None:
    for words in (("ask", QUESTION), ("stats",), ("reset",), ("empty",)):
        refused = ready.run(*words, "--cwd", "/")
        assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
        assert "whole file system" in refused.stderr


def test_passages_answer_with_places_in_the_code(tmp_path: Path, repository: Path) -> None:
    with machine(tmp_path / "bare") as bare:
        bare.borrow_packages()
        answer = json.loads(done(bare, repository, "ask", QUESTION, "--json").stdout)
    assert answer["model"] == "passages"
    assert [citation["path"] for citation in answer["citations"]][:1] == ["harbour.py"]
    assert {citation["state"] for citation in answer["citations"]} == {"FRESH"}


def test_a_dream_tidies_the_notes_and_is_taken_back(ready: Machine, repository: Path) -> None:
    (repository / "retry.py").write_text("max_retries = 5\n")
    for title, body in (("Retries", "max_retries = 3"), ("Retries of the client", "`max_retries` is 5 now.")):
        done(ready, repository, "save", title, body)
    rehearsed = json.loads(done(ready, repository, "dream", "--dry-run", "--json").stdout)
    assert rehearsed["report"]["counts"] == {"disputed": 1}
    assert "1 disputed" in done(ready, repository, "dream", "--force").stdout
    shown = done(ready, repository, "get", "retries").stdout
    assert "there “`max_retries` is 5 now.”" in shown
    assert "hours are left" in done(ready, repository, "dream").stdout
    assert "Taken back: 2 changes" in done(ready, repository, "dream", "undo").stdout
    dream = figures(ready, repository)["dream"]
    assert isinstance(dream, dict)
    assert dream["runs"] == 1
