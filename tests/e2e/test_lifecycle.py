"""The server's life and its faults, with the real processes: DESIGN §3 and what issue 1 must show."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lifecycle.command import COMMAND, Machine, machine, until, unused_port
from lifecycle.stand_in import age_record, foreign_http_server, stand_in

import _client
from launcher import identity, paths


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose packages are installed."""
    with machine(tmp_path) as made:
        made.borrow_packages()
        yield made


def test_the_server_holds_no_file_of_whoever_started_it(ready: Machine) -> None:
    pid = ready.ensure()["pid"]  # its output was read to the end: nobody else holds the other end of that pipe
    opened = {os.readlink(f"/proc/{pid}/fd/{number}") for number in (0, 1, 2)}
    assert opened == {"/dev/null", str(ready.data_dir / "logs" / "launcher.log")}
    assert os.getsid(int(str(pid))) == pid
    assert os.readlink(f"/proc/{pid}/cwd") == str(ready.data_dir)


def test_stop_ends_the_server_and_is_done_when_none_runs(ready: Machine) -> None:
    pid = ready.ensure()["pid"]
    assert ready.run("stop").stdout == f"Stopped the server (pid {pid}).\n"
    assert ready.servers() == []
    assert ready.run("stop").stdout == "No server was running.\n"


def test_restart_brings_another_process(ready: Machine) -> None:
    before = ready.ensure()["pid"]
    done = ready.run("restart", "--json")
    after = json.loads(done.stdout)
    assert (after["status"], after["started"]) == ("ok", True)
    assert after["pid"] != before


def test_headers_follow_the_port_of_claude_codes_url_and_record_it(ready: Machine) -> None:
    without = {name: value for name, value in ready.environment.items() if name != "LIVE_MEMORY_PORT"}
    url = f"http://127.0.0.1:{ready.port}/mcp"
    done = subprocess.run(
        [COMMAND, "headers"],
        env={**without, "CLAUDE_CODE_MCP_SERVER_URL": url},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert ready.health()["status"] == "ok"
    assert (ready.data_dir / "port").read_text() == f"{ready.port}\n"
    found = subprocess.run([COMMAND, "ensure", "--json"], env=without, capture_output=True, timeout=60, check=False)
    assert json.loads(found.stdout)["port"] == ready.port


def test_a_newer_server_is_left(ready: Machine) -> None:
    with stand_in(ready.place, "99.0.0", "answers") as newer:
        started = ready.ensure()
        assert (started["pid"], started["version"], started["started"]) == (newer.pid, "99.0.0", False)


def test_a_server_that_accepts_and_never_answers_is_ended_and_replaced(ready: Machine) -> None:
    with stand_in(ready.place, paths.plugin_version(), "hangs") as hung:
        age_record(ready.data_dir, seconds=60)
        started = ready.ensure()
        assert hung.wait(timeout=5) == -signal.SIGTERM
    assert (started["status"], started["started"]) == ("ok", True)


def test_a_stopped_server_is_killed_and_replaced(ready: Machine) -> None:
    pid = int(str(ready.ensure()["pid"]))
    os.kill(pid, signal.SIGSTOP)
    assert ready.ensure()["pid"] != pid
    assert len(ready.servers()) == 1


def test_many_starts_over_a_hung_server_replace_it_once(ready: Machine) -> None:
    pid = int(str(ready.ensure()["pid"]))
    os.kill(pid, signal.SIGSTOP)
    starts = [ready.start("ensure", "--json") for _ in range(8)]
    answers = [json.loads(start.communicate(timeout=60)[0]) for start in starts]
    assert len({answer["pid"] for answer in answers}) == 1
    assert ready.servers() == [answers[0]["pid"]] != [pid]


def test_the_pid_record_of_a_dead_server_is_no_obstacle(ready: Machine) -> None:
    pid = int(str(ready.ensure()["pid"]))
    os.kill(pid, signal.SIGKILL)
    until(lambda: not ready.health(), "the server is gone")
    assert _client.read_record(str(ready.data_dir))["pid"] == pid
    assert ready.ensure()["started"] is True


def test_a_recycled_pid_is_never_ended(ready: Machine) -> None:
    """The record names a process that runs, and began at another time: a stranger who got the number later."""
    with subprocess.Popen(["sleep", "60"]) as stranger, _silent_listener(ready.port):
        identity.write_record(ready.place, stranger.pid, "0.1.0")
        record = ready.data_dir / "server.json"
        record.write_text(record.read_text().replace('"started": "', '"started": "1'))
        age_record(ready.data_dir, seconds=60)
        done = ready.run("ensure")
        assert stranger.poll() is None
        stranger.kill()
    assert done.returncode == 1


@pytest.mark.parametrize("manner", ["silent", "an HTTP server"])
def test_a_foreign_program_on_the_port_is_named_in_one_sentence(ready: Machine, manner: str) -> None:
    with _silent_listener(ready.port) if manner == "silent" else foreign_http_server(ready.port):
        done = ready.run("ensure", "--json")
        headers = ready.run("headers")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"live-memory: Port {ready.port} is held by ")
    assert f"(pid {os.getpid()})" in done.stderr
    assert "LIVE_MEMORY_PORT" in done.stderr
    assert done.stderr.count("\n") == 1
    assert (headers.returncode, headers.stdout) == (1, "")  # the token is for nobody else
    assert ready.servers() == []


def test_somebody_elses_live_memory_is_named_by_its_data_folder(ready: Machine, tmp_path: Path) -> None:
    with machine(tmp_path / "other") as other:
        other.port = ready.port
        other.borrow_packages()
        other.ensure()
        done = ready.run("ensure")
    assert done.returncode == 1
    assert f"is held by the Live Memory of another data folder ({other.data_dir}" in done.stderr


def test_a_server_of_the_same_folder_on_another_port_is_ended_first(ready: Machine) -> None:
    before = ready.ensure()["pid"]
    ready.port = unused_port()
    after = ready.ensure()
    assert after["started"] is True
    assert ready.servers() == [after["pid"]] != [before]


def test_an_idle_server_saves_and_exits(ready: Machine) -> None:
    ready.ensure(LIVE_MEMORY_IDLE_EXIT_S="1")
    until(lambda: ready.servers() == [], "the idle server has ended")


def test_serve_in_the_foreground_ends_with_zero_on_sigterm(ready: Machine) -> None:
    serving = ready.start("serve")
    until(lambda: ready.health().get("status") == "ok", "the server answers")
    assert ready.health()["pid"] == serving.pid
    serving.terminate()
    _, said = serving.communicate(timeout=20)
    assert serving.returncode == 0
    assert f"on 127.0.0.1:{ready.port}" in said


def test_serve_beside_a_running_server_leaves_at_once(ready: Machine) -> None:
    pid = ready.ensure()["pid"]
    done = ready.run("serve")
    assert (done.returncode, done.stderr) == (
        0,
        f"live-memory: A server runs already on port {ready.port} (pid {pid}); `live-memory stop` ends it.\n",
    )


def _silent_listener(port: int) -> socket.socket:
    """Accepts (the kernel does) and never answers."""
    return socket.create_server(("127.0.0.1", port))
