"""The first start on a fresh machine: the packages come, or do not, or come late; and the server answers all along."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from lifecycle.command import COMMAND, Machine, command_lines, machine, until, unused_port
from lifecycle.environments import assert_built, lantern_data_dir
from lifecycle.index import download, index_over

import _client
from launcher import installers, venv

INSTALL_LIMIT_S = 120.0
PIP_ONLY = os.defpath
BOTH_INSTALLERS = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return download(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Machine]:
    """A machine with nothing on it but an interpreter."""
    with machine(tmp_path) as made:
        made.data_dir.mkdir()
        (made.data_dir / "python").write_text(os.path.realpath(sys.executable) + "\n")
        yield made


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A code base with one place to find."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "lighthouse.py").write_text("def kindle_lamp(fuel):\n    return fuel.burn()\n")
    return folder


def environments(made: Machine) -> list[str]:
    return sorted(name for name in os.listdir(made.data_dir) if name.startswith("venv-"))


def is_installing(made: Machine) -> bool:
    return any(venv.STAGING_MARK in name for name in environments(made)) and bool(made.health())


def assert_answers(made: Machine, repository: Path, question: str = "where is kindle_lamp defined?") -> str:
    """A question is answered with its place; the answer's text."""
    status, answer = made.ask(question, repository)
    assert status == 200, answer
    assert "lighthouse.py:1" in str(answer["answer"])
    return str(answer["answer"])


@pytest.mark.parametrize("search_path", [BOTH_INSTALLERS, PIP_ONLY], ids=["uv", "pip"])
def test_a_fresh_machine_is_set_up_from_the_public_index(fresh: Machine, search_path: str, repository: Path) -> None:
    started = fresh.ensure(PATH=search_path)
    assert (started["status"], started["started"]) == ("ok", True)
    assert environments(fresh) == [os.path.basename(venv.path(str(fresh.data_dir)))]
    assert_answers(fresh, repository)


@pytest.mark.parametrize("search_path", [BOTH_INSTALLERS, PIP_ONLY], ids=["uv", "pip"])
def test_a_folder_of_wheels_is_enough(fresh: Machine, wheels: Path, search_path: str) -> None:
    closed = f"http://127.0.0.1:{unused_port()}/"
    offline = {"PIP_INDEX_URL": closed, "UV_DEFAULT_INDEX": closed}
    started = fresh.ensure(PATH=search_path, LIVE_MEMORY_WHEELHOUSE=str(wheels), **offline)
    assert started["status"] == "ok"


def test_questions_are_answered_while_installing_and_no_connection_is_ever_refused(
    fresh: Machine, repository: Path
) -> None:
    ensuring = fresh.start("ensure", "--json", PATH=PIP_ONLY)
    until(lambda: is_installing(fresh), "it installs")
    installing = fresh.health()
    assert installing["status"] == "installing"
    assert "installing the packages" in str(installing["step"]) or "checking" in str(installing["step"])
    assert_answers(fresh, repository)
    address = _client.Address(fresh.port, _client.read_token(str(fresh.data_dir)))
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    status, listed = _client.call(address, "POST", "/mcp", listing, timeout_s=5)
    assert (status, listed["result"]["tools"][0]["name"]) == (200, "ask_live_memory")  # type: ignore[index]

    refused: list[str] = []
    ready = threading.Event()

    def knock() -> None:
        while not ready.is_set():
            try:
                _client.call(address, "GET", "/health", timeout_s=30)
            except _client.Unreachable as error:
                refused.append(str(error))

    knocking = threading.Thread(target=knock)
    knocking.start()
    until(lambda: fresh.health().get("status") == "ok", "the server is whole", INSTALL_LIMIT_S)
    ready.set()
    knocking.join()
    assert refused == []
    assert fresh.health()["pid"] == installing["pid"]
    ensuring.communicate(timeout=20)
    assert_answers(fresh, repository)


def test_an_installation_that_is_killed_leaves_nothing_behind(fresh: Machine, wheels: Path) -> None:
    ensuring = fresh.start("ensure", PATH=PIP_ONLY, LIVE_MEMORY_WHEELHOUSE=str(wheels))
    until(lambda: is_installing(fresh), "it installs")
    os.kill(int(str(fresh.health()["pid"])), signal.SIGKILL)
    ensuring.kill()
    ensuring.communicate()
    until(lambda: not installers_of(fresh), "the installer died with the server")
    assert any(venv.STAGING_MARK in name for name in environments(fresh))
    assert fresh.ensure(LIVE_MEMORY_WHEELHOUSE=str(wheels))["status"] == "ok"
    assert environments(fresh) == [os.path.basename(venv.path(str(fresh.data_dir)))]


def test_a_stop_in_the_middle_of_an_installation_clears_up(fresh: Machine, wheels: Path) -> None:
    ensuring = fresh.start("ensure", PATH=PIP_ONLY, LIVE_MEMORY_WHEELHOUSE=str(wheels))
    until(lambda: is_installing(fresh), "it installs")
    ensuring.kill()
    ensuring.communicate()
    stopped = fresh.run("stop")
    assert (stopped.returncode, stopped.stderr) == (0, "")
    assert environments(fresh) == []
    assert installers_of(fresh) == []


def installers_of(made: Machine) -> list[int]:
    """The pids of whatever still works on the machine's environment (Linux)."""
    staging = os.fsencode(venv.path(str(made.data_dir)) + venv.STAGING_MARK)
    return [pid for pid, words in command_lines() if any(staging in word for word in words)]


@pytest.mark.parametrize("search_path", [BOTH_INSTALLERS, PIP_ONLY], ids=["uv", "pip"])
def test_an_index_that_refuses_leaves_a_degraded_server_that_becomes_whole_when_it_is_back(
    fresh: Machine, wheels: Path, repository: Path, tmp_path: Path, search_path: str
) -> None:
    index_port = unused_port()
    index = f"http://127.0.0.1:{index_port}/"
    fresh.extra = {
        "PATH": search_path,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": index,
        "UV_DEFAULT_INDEX": index,
        "LIVE_MEMORY_INSTALL_RETRY_S": "1",
    }
    started = fresh.ensure()
    assert started["status"] == "degraded"
    assert "could not be installed" in str(fresh.health()["reason"])
    assert_answers(fresh, repository)
    assert fresh.run("headers").returncode == 0
    with index_over(wheels, tmp_path / "index", index_port):
        until(lambda: fresh.health().get("status") == "ok", "the server is whole", INSTALL_LIMIT_S)
    assert fresh.health()["pid"] == started["pid"]
    assert_answers(fresh, repository)


def test_a_degraded_server_says_why_no_model_spoke(fresh: Machine, tmp_path: Path, repository: Path) -> None:
    (tmp_path / "empty").mkdir()
    key = {"LIVE_MEMORY_PROVIDER": "anthropic", "LIVE_MEMORY_API_KEY": "dummy"}
    assert fresh.ensure(LIVE_MEMORY_WHEELHOUSE=str(tmp_path / "empty"), **key)["status"] == "degraded"
    assert "not installed" in assert_answers(fresh, repository)


def test_a_degraded_server_keeps_and_finds_notes(fresh: Machine, tmp_path: Path, repository: Path) -> None:
    (tmp_path / "empty").mkdir()
    fresh.extra = {"LIVE_MEMORY_WHEELHOUSE": str(tmp_path / "empty")}
    assert fresh.ensure()["status"] == "degraded"
    place = ("--cwd", str(repository))
    saved = fresh.run(
        "save", "The lamp burns whale oil", "Since the fuel laws of 1850.", "--files=lighthouse.py", *place
    )
    assert (saved.returncode, saved.stdout) == (0, "Created: the-lamp-burns-whale-oil\n"), saved.stderr
    assert fresh.run("search", "lamp oil", *place).stdout.startswith("the-lamp-burns-whale-oil")
    assert "- #the-lamp-burns-whale-oil (project)" in fresh.run("toc", *place).stdout
    assert fresh.run("state", "set", "work", '{"lamp": 1}', *place).returncode == 0
    assert fresh.run("state", "get", "work", *place).stdout == '{"lamp": 1}\n'
    assert fresh.run("forget", "the-lamp-burns-whale-oil", *place).returncode == 0
    assert fresh.run("get", "the-lamp-burns-whale-oil", *place).returncode == 1
    assert fresh.run("forget", "--undo", *place).returncode == 0
    assert "Since the fuel laws of 1850." in fresh.run("get", "the-lamp-burns-whale-oil", *place).stdout
    assert "Since the fuel laws of 1850." in assert_answers(
        fresh, repository, "where is kindle_lamp, and which lamp oil burns?"
    )


def test_a_degraded_server_that_nobody_uses_exits(fresh: Machine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    wheelhouse = str(tmp_path / "empty")
    started = fresh.ensure(LIVE_MEMORY_WHEELHOUSE=wheelhouse, LIVE_MEMORY_IDLE_EXIT_S="1")
    assert started["status"] in ("degraded", "draining")
    until(lambda: not Path(f"/proc/{started['pid']}").exists(), "the idle server has ended")


def test_pythons_own_pip_makes_a_whole_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data_dir = lantern_data_dir(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(installers, "_has_fit_pip", lambda: False)
    assert_built(data_dir)


def test_an_environment_whose_interpreter_has_vanished_is_built_anew(fresh: Machine, wheels: Path) -> None:
    broken = Path(venv.path(str(fresh.data_dir))) / "bin"
    broken.mkdir(parents=True)
    (broken / "python").symlink_to("/nowhere/python")
    assert fresh.ensure(LIVE_MEMORY_WHEELHOUSE=str(wheels))["status"] == "ok"


def test_a_read_only_data_folder_is_one_sentence(fresh: Machine) -> None:
    done = on_a_small_disk(fresh, "ro,size=1m", 'exec "$@"')
    assert done.returncode == 1
    assert done.stderr == f"live-memory: {fresh.data_dir}/logs: the file system is read-only.\n"


def test_a_full_disk_is_one_sentence_and_nothing_half_made(fresh: Machine) -> None:
    script = 'head -c 1m /dev/zero >"$DISK/filler" 2>/dev/null; "$@"; code=$?; ls "$DISK" "$DISK/logs" >&2; exit $code'
    done = on_a_small_disk(fresh, "size=64k", script)
    assert done.returncode == 1
    said, *listed = done.stderr.splitlines()
    assert said == f"live-memory: {fresh.data_dir}: the disk is full."
    assert [name for name in listed if name not in ("filler", "logs", "")] == [
        f"{fresh.data_dir}:",
        f"{fresh.data_dir}/logs:",
    ]


def test_a_disk_too_small_for_the_packages_leaves_a_degraded_server(fresh: Machine) -> None:
    script = (
        '"$@"; code=$?; ls "$DISK" >&2; kill "$(sed "s/[^0-9]*\\([0-9]*\\).*/\\1/" "$DISK/server.json")"; exit $code'
    )
    done = on_a_small_disk(fresh, "size=20m", script)
    assert done.returncode == 0, done.stderr
    assert "is degraded (The packages could not be installed: the disk is full: " in done.stdout
    assert venv.STAGING_MARK not in done.stderr


def on_a_small_disk(made: Machine, options: str, script: str) -> subprocess.CompletedProcess[str]:
    """`live-memory ensure` with a data folder on a file system of its own, run by `script` as `$@`."""
    mount = f'mount -t tmpfs -o {options} tmpfs "$DISK" && {script}'
    return subprocess.run(
        [str(shutil.which("unshare")), "-rm", "sh", "-c", mount, "sh", COMMAND, "ensure"],
        env={**made.environment, "DISK": str(made.data_dir)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
