"""Starting, finding and replacing the real server, its packages at hand. The slow faults are tests/e2e's."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lifecycle.command import COMMAND, Machine, machine, until
from lifecycle.stand_in import stand_in

import _client
from launcher import identity, paths, venv

STARTS_AT_ONCE = 20


def test_twenty_starts_at_once_give_one_server(ready: Machine) -> None:
    starts = [ready.start("ensure", "--json") for _ in range(STARTS_AT_ONCE)]
    answers = [json.loads(start.communicate(timeout=60)[0]) for start in starts]
    assert {start.returncode for start in starts} == {0}
    assert len({answer["pid"] for answer in answers}) == 1
    assert [answer["started"] for answer in answers].count(True) == 1
    until(lambda: ready.servers() == [answers[0]["pid"]], "one process serves and the losers are gone")
    logs = ready.data_dir / "logs"
    until(lambda: sorted(os.listdir(logs)) == ["launcher.log", "server.log"], "the losers took their logs with them")


def test_the_started_server_says_who_it_is_and_leaves_its_records(ready: Machine) -> None:
    started = ready.ensure()
    assert started == {
        "port": ready.port,
        "pid": started["pid"],
        "version": paths.plugin_version(),
        "status": "ok",
        "started": True,
    }
    assert ready.health()["data_dir"] == str(ready.data_dir)
    record = _client.read_record(str(ready.data_dir))
    assert (record["pid"], record["port"]) == (started["pid"], ready.port)
    assert identity.is_running(record)
    assert (ready.data_dir / "python").read_text().strip() == os.path.realpath(sys.executable)
    assert (ready.data_dir / "token").stat().st_mode & 0o777 == 0o600
    assert ready.ensure() == {**started, "started": False}


def test_a_killed_server_is_back_with_the_next_headers(ready: Machine) -> None:
    pid = int(str(ready.ensure()["pid"]))
    os.kill(pid, signal.SIGKILL)
    done = ready.run("headers")
    token = (ready.data_dir / "token").read_text()
    assert json.loads(done.stdout) == {"Authorization": f"Bearer {token}"}
    assert ready.health()["pid"] != pid


@pytest.mark.parametrize("spoil", [lambda token: None, Path.touch, lambda token: token.write_text("another")])
def test_a_server_whose_token_was_taken_from_it_gives_way(ready: Machine, spoil: Callable[[Path], object]) -> None:
    pid = ready.ensure()["pid"]
    (ready.data_dir / "token").unlink()
    spoil(ready.data_dir / "token")
    done = ready.run("headers")
    token = (ready.data_dir / "token").read_text().strip()
    assert json.loads(done.stdout) == {"Authorization": f"Bearer {token}"}
    assert ready.health()["pid"] != pid
    until(lambda: len(ready.servers()) == 1, "the old one is gone")


def test_a_server_whose_data_folder_was_removed_gives_way_and_can_be_stopped(ready: Machine) -> None:
    for command, servers_left in (("headers", 1), ("stop", 0)):
        ready.ensure()
        shutil.rmtree(ready.data_dir)
        ready.borrow_packages()
        assert ready.run(command).returncode == 0
        until(lambda left=servers_left: len(ready.servers()) == left, "the old one is gone")  # type: ignore[misc]


def test_an_older_server_is_asked_to_finish_and_replaced(ready: Machine) -> None:
    with stand_in(ready.place, "0.0.1", "answers") as older:
        started = ready.ensure()
        assert older.wait(timeout=5) == 0
    assert (started["version"], started["started"]) == (paths.plugin_version(), True)


def test_a_bad_setting_is_told_by_the_one_who_started_the_server(ready: Machine) -> None:
    done = ready.run("ensure", LIVE_MEMORY_IDLE_EXIT_S="soon")
    assert done.returncode == 1
    assert done.stderr == "live-memory: The setting idle_exit_s cannot be 'soon': it takes a whole number at least 1.\n"
    assert ready.servers() == []


def test_a_bad_port_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with machine(tmp_path) as fresh:
        done = fresh.run("ensure", LIVE_MEMORY_PORT="eighty")
        assert done.returncode == 1
        assert (
            done.stderr
            == "live-memory: LIVE_MEMORY_PORT cannot be 'eighty': it takes a whole number from 1 to 65535.\n"
        )
        assert not fresh.data_dir.exists()


@pytest.mark.parametrize("folder", ["/dev/null/data", "/proc/data"])
@pytest.mark.parametrize("command", ["ensure", "headers", "serve"])
def test_a_data_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path, folder: str, command: str) -> None:
    with machine(tmp_path) as fresh:
        done = fresh.run(command, LIVE_MEMORY_DATA_DIR=folder)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"live-memory: {Path(folder).parent}") or done.stderr.startswith(
        f"live-memory: {folder}"
    )
    assert done.stderr.count("\n") == 1


def test_old_environments_go_after_a_good_start(ready: Machine) -> None:
    old = ready.data_dir / "venv-0123456789abcdef"
    old.mkdir()
    ready.ensure()
    assert not old.exists()
    assert Path(venv.path(str(ready.data_dir))).exists()


def test_a_plain_terminal_finds_the_folder_of_the_running_server(ready: Machine) -> None:
    """DESIGN §3.8: what a running server proves to be this user's own comes before any default."""
    pid = ready.ensure()["pid"]
    without = {name: value for name, value in ready.environment.items() if name != "LIVE_MEMORY_DATA_DIR"}
    found = subprocess.run([COMMAND, "ensure", "--json"], env=without, capture_output=True, timeout=60, check=False)
    assert json.loads(found.stdout)["pid"] == pid
    assert not (ready.home / ".local").exists()
