"""The plugin comes to where the command line was used before it: it takes the port over, and the memory along."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from lifecycle.command import Machine
from lifecycle.stand_in import stand_in

from launcher import paths, predecessor

PLUGIN = Path(".claude", "plugins", "data", "live-memory-live-memory")


@pytest.fixture
def before(ready: Machine) -> paths.Place:
    """The command line's place, on the port that the plugin is going to have."""
    folder = ready.home / ".local" / "share" / "live-memory"
    paths.make_data_dir(str(folder))
    return paths.Place(str(folder), ready.port)


def remember(folder: Path, word: str) -> None:
    with closing(sqlite3.connect(folder / "live-memory.db")) as database:
        database.executescript(f"CREATE TABLE word (word); INSERT INTO word VALUES ('{word}');")


def remembered(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "live-memory.db")) as database:
        return str(database.execute("SELECT word FROM word").fetchone()[0])


def test_the_command_lines_server_gives_the_port_to_the_plugins(ready: Machine, before: paths.Place) -> None:
    ready.data_dir = ready.home / PLUGIN
    ready.borrow_packages()
    with stand_in(before, paths.plugin_version(), "answers") as older:
        done = ready.run("headers")
        assert older.wait(timeout=5) == 0
    token = (ready.data_dir / "token").read_text()
    assert json.loads(done.stdout) == {"Authorization": f"Bearer {token}"}
    assert ready.health()["data_dir"] == str(ready.data_dir)


@pytest.mark.parametrize("folder", ["data", "elsewhere/plugins/data/other-plugin"])
def test_it_gives_way_to_no_folder_that_is_not_the_plugins(ready: Machine, before: paths.Place, folder: str) -> None:
    ready.data_dir = ready.home / folder
    with stand_in(before, paths.plugin_version(), "answers") as older:
        done = ready.run("headers")
        assert older.poll() is None
    assert done.returncode == 1
    assert f"the Live Memory of another data folder ({before.data_dir}" in done.stderr


def test_a_stranger_that_names_the_command_lines_folder_is_not_ended(tmp_path: Path, ready: Machine) -> None:
    stranger = paths.Place(str(tmp_path / "stranger"), ready.port)
    ready.data_dir = ready.home / PLUGIN
    with stand_in(stranger, paths.plugin_version(), "answers") as other:
        assert ready.run("headers").returncode == 1
        assert other.poll() is None


def test_memory_and_settings_go_along_once_and_stay_where_they_were(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share")}
    old, new = Path(predecessor.of(str(tmp_path / PLUGIN), env)), tmp_path / PLUGIN
    for folder in (old, new):
        paths.make_data_dir(str(folder))
    remember(old, "first")
    (old / "config.json").write_text('{"semantic": "local"}')
    predecessor.inherit(str(new), env)
    assert (remembered(new), remembered(old)) == ("first", "first")
    assert (new / "config.json").read_text() == '{"semantic": "local"}'
    with closing(sqlite3.connect(old / "live-memory.db")) as database, database:
        database.execute("UPDATE word SET word = 'second'")
    predecessor.inherit(str(new), env)
    assert remembered(new) == "first"


def test_what_is_no_database_is_left_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share")}
    old, new = Path(predecessor.of(str(tmp_path / PLUGIN), env)), tmp_path / PLUGIN
    for folder in (old, new):
        paths.make_data_dir(str(folder))
    (old / "live-memory.db").write_text("no database, but as long as the head of one would be: " * 4)
    predecessor.inherit(str(new), env)
    assert "could not be taken over" in capsys.readouterr().err
    assert os.listdir(new) == ["logs"]


def test_a_configuration_of_claude_codes_that_is_named_goes_before_whose_server_runs(
    ready: Machine, before: paths.Place
) -> None:
    """Else a second configuration's commands would change the first one's settings and notes."""
    claude = ready.home / "claude-at-work"
    folder = claude / "plugins" / "data" / "live-memory-live-memory"
    env = {"HOME": str(ready.home), "LIVE_MEMORY_PORT": str(ready.port), "CLAUDE_CONFIG_DIR": str(claude)}
    with stand_in(before, paths.plugin_version(), "answers"):
        assert paths.place(None, env).data_dir == before.data_dir
        folder.mkdir(parents=True)
        assert paths.place(None, env).data_dir == str(folder)
