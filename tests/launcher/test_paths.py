"""Where the data folder and the port come from, and what is refused."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from launcher import paths
from launcher.errors import LaunchError, UsageError


def test_the_environments_folder_beats_the_flag_and_the_flag_beats_the_plugins(tmp_path: Path) -> None:
    plugin = {"CLAUDE_PLUGIN_DATA": str(tmp_path / "plugin"), "LIVE_MEMORY_PORT": "1"}
    assert paths.place(None, plugin).data_dir == str(tmp_path / "plugin")
    assert paths.place(str(tmp_path / "flag"), plugin).data_dir == str(tmp_path / "flag")
    named = {**plugin, "LIVE_MEMORY_DATA_DIR": str(tmp_path / "named")}
    assert paths.place(str(tmp_path / "flag"), named).data_dir == str(tmp_path / "named")


def test_the_port_comes_from_the_environment_then_the_url_then_the_record_then_the_configuration(
    tmp_path: Path,
) -> None:
    env = {"LIVE_MEMORY_DATA_DIR": str(tmp_path)}
    assert paths.place(environ=env).port == paths.DEFAULT_PORT
    (tmp_path / "config.json").write_text(json.dumps({"port": 1001}))
    assert paths.place(environ=env).port == 1001
    (tmp_path / "user-config.json").write_text(json.dumps({"port": "1002"}))
    assert paths.place(environ=env).port == 1002
    (tmp_path / "port").write_text("1003\n")
    assert paths.place(environ=env).port == 1003
    assert paths.place(environ=env, server_url="http://127.0.0.1:1004/mcp").port == 1004
    assert paths.place(environ={**env, "LIVE_MEMORY_PORT": "1005"}, server_url="http://127.0.0.1:1004/mcp").port == 1005


@pytest.mark.parametrize("word", ["0", "65536", "-1", "7711.0", "x", "٣"])
def test_a_port_that_cannot_be_one_is_refused_with_its_name(word: str) -> None:
    with pytest.raises(LaunchError, match="LIVE_MEMORY_PORT cannot be"):
        paths.env_port({"LIVE_MEMORY_PORT": word})


@pytest.mark.parametrize("url", ["", "http://127.0.0.1/mcp", "http://127.0.0.1:x/mcp", "http://127.0.0.1:99999/mcp"])
def test_a_url_without_a_usable_port_says_nothing(url: str) -> None:
    assert paths.url_port(url) == 0


@pytest.mark.parametrize("content", ["", "[1]", '{"port": ', '"port"'])
def test_a_configuration_that_cannot_be_read_leaves_the_default_port(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    assert paths.config_port(str(tmp_path)) == paths.DEFAULT_PORT


def test_a_file_is_replaced_whole_and_for_its_owner_only(tmp_path: Path) -> None:
    target = tmp_path / "record"
    target.write_text("old")
    paths.write_whole(str(target), "new\n")
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new\n", 0o600)
    assert os.listdir(tmp_path) == ["record"]


def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "record"
    target.write_text("old")
    (tmp_path / f"record.{os.getpid()}.new").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as failed:
        paths.write_whole(str(target), "new")
    assert failed.value.errno == errno.ENOSPC
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["record"]


def test_no_room_is_told_with_the_name_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / f".room.{os.getpid()}.{os.getpid()}.new").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as failed:
        paths.require_room(str(tmp_path))
    assert failed.value.filename == str(tmp_path)
    assert os.listdir(tmp_path) == []


def test_flags_are_read_in_both_spellings_and_anything_else_is_refused() -> None:
    names = {"--json": "flag", "--wait": "value"}
    assert paths.parse_flags(["--json", "--wait", "3"], names) == {"--json": "1", "--wait": "3"}
    assert paths.parse_flags(["--wait=3"], names) == {"--wait": "3"}
    for wrong in (["--wat"], ["--wait"], ["word"]):
        with pytest.raises(UsageError):
            paths.parse_flags(wrong, names)


@pytest.mark.parametrize("word", ["-1", "soon", "nan", "inf"])
def test_seconds_that_cannot_be_are_refused(word: str) -> None:
    with pytest.raises(UsageError, match="--wait cannot be"):
        paths.parse_seconds(word, "--wait")


def test_a_server_of_this_place_works_with_absolute_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environment = paths.absolute_environment({"LIVE_MEMORY_WHEELHOUSE": "wheels"}, paths.Place("/data", 7))
    assert environment == {
        "LIVE_MEMORY_DATA_DIR": "/data",
        "LIVE_MEMORY_PORT": "7",
        "LIVE_MEMORY_WHEELHOUSE": str(tmp_path / "wheels"),
    }


def test_the_plugins_version_is_the_packages() -> None:
    import live_memory

    assert paths.plugin_version() == live_memory.__version__


def test_no_folder_is_made_up_for_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # KeyError, as for a user without an entry
    with pytest.raises(LaunchError, match="LIVE_MEMORY_DATA_DIR"):
        paths.place(None, {"LIVE_MEMORY_PORT": "1"})
