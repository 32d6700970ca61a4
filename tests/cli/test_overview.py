"""What `live-memory` says about itself, and to who calls it wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.command_line import environment, run

from launcher.__main__ import COMMANDS
from launcher.paths import plugin_version


@pytest.fixture
def env(tmp_path: Path, unused_port: int) -> dict[str, str]:
    return environment(tmp_path / "data", unused_port)


@pytest.mark.parametrize("word", ["version", "--version"])
def test_the_version_is_one_line(env: dict[str, str], word: str) -> None:
    done = run(env, word)
    assert (done.returncode, done.stdout, done.stderr) == (0, plugin_version() + "\n", "")


@pytest.mark.parametrize("word", ["help", "--help", "-h"])
def test_help_names_every_command(env: dict[str, str], word: str) -> None:
    done = run(env, word)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"  {name} " in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_tells_its_usage_and_does_nothing_else(env: dict[str, str], name: str) -> None:
    done = run(env, name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: live-memory {name}")
    assert [path.name for path in Path(env["LIVE_MEMORY_DATA_DIR"]).iterdir()] == ["python"]


@pytest.mark.parametrize("words", [[], ["dance"], ["--loud"]])
def test_no_such_command_is_a_usage_error(env: dict[str, str], words: list[str]) -> None:
    done = run(env, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_a_command_does_not_have_is_a_usage_error(env: dict[str, str], name: str) -> None:
    done = run(env, name, "--loud")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
