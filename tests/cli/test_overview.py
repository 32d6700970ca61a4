"""What `live-memory` says about itself, and to who calls it wrongly. In this process: none of it gets as far as a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from launcher.__main__ import COMMANDS
from launcher.dispatch import dispatch
from launcher.paths import plugin_version


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, unused_port: int, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that nobody may make, and a port that nobody listens on."""
    folder = tmp_path / "data"
    monkeypatch.setenv("LIVE_MEMORY_DATA_DIR", str(folder))
    monkeypatch.setenv("LIVE_MEMORY_PORT", str(unused_port))
    return folder


def exit_code(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    """The exit code of `live-memory WORDS`."""
    monkeypatch.setattr("sys.argv", ["live-memory", *words])
    try:
        return dispatch(COMMANDS, list(words))
    except SystemExit as end:
        return end.code


@pytest.mark.parametrize("word", ["version", "--version"])
def test_the_version_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    assert exit_code(monkeypatch, word) == 0
    assert capsys.readouterr() == (plugin_version() + "\n", "")


@pytest.mark.parametrize("word", ["help", "--help", "-h"])
def test_help_names_every_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    assert exit_code(monkeypatch, word) == 0
    shown, complaints = capsys.readouterr()
    assert all(f"  {name} " in shown for name in COMMANDS)
    assert not complaints


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_tells_its_usage_and_does_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data_dir: Path, name: str
) -> None:
    assert exit_code(monkeypatch, name, "--help") == 0
    shown, complaints = capsys.readouterr()
    assert shown.startswith(f"usage: live-memory {name}")
    assert not complaints
    assert not data_dir.exists()


@pytest.mark.parametrize("words", [[], ["dance"], ["--loud"]])
def test_no_such_command_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert exit_code(monkeypatch, *words) == 2
    shown, complaints = capsys.readouterr()
    assert not shown
    assert complaints


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_a_command_does_not_have_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data_dir: Path, name: str
) -> None:
    assert exit_code(monkeypatch, name, "--loud") == 2
    shown, complaints = capsys.readouterr()
    assert not shown
    assert complaints.count("\n") == 1
    assert not data_dir.exists()
