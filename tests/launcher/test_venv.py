"""The environment: built beside its place from a small wheel of our own, renamed whole, never half-made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from lifecycle.command import command_lines, until
from lifecycle.environments import assert_built, lantern_data_dir, venvs
from lifecycle.wheel import MODULE

from launcher import installers, interpreter, paths, venv
from launcher.errors import InstallFailed
from launcher.leash import Leash
from launcher.lock import FileLock


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return lantern_data_dir(tmp_path, monkeypatch)


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_each_installer_makes_a_whole_environment(
    data_dir: str, installer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if installer == "pip":
        monkeypatch.setenv("PATH", "/nowhere")
    assert_built(data_dir)


def test_an_environment_that_stands_is_left_alone(data_dir: str) -> None:
    steps: list[str] = []
    python = Path(venv.python(venv.path(data_dir)))
    python.parent.mkdir(parents=True)
    python.symlink_to(interpreter.real())
    venv.build(data_dir, steps.append, Leash())
    assert steps == []


@pytest.mark.parametrize("rest", [None, ""])
def test_an_environment_that_lost_a_file_is_built_anew(data_dir: str, rest: str | None) -> None:
    venv.build(data_dir, lambda step: None, Leash())
    (module,) = Path(venv.path(data_dir)).rglob(f"{MODULE}.py")
    assert venv.is_ready(data_dir)
    module.unlink()  # not emptied in place: an installer's cache may hold the same file
    if rest is not None:
        module.write_text(rest)
    assert not venv.is_ready(data_dir)
    venv.build(data_dir, lambda step: None, Leash())
    assert venv.is_ready(data_dir)
    assert module.read_text()


def test_bytecode_that_comes_and_goes_is_no_damage(data_dir: str) -> None:
    venv.build(data_dir, lambda step: None, Leash())
    for cache in list(Path(venv.path(data_dir)).rglob("__pycache__")):
        shutil.rmtree(cache)
    assert venv.is_ready(data_dir)


def test_a_wheel_with_another_hash_is_refused_and_nothing_is_left(data_dir: str) -> None:
    Path(paths.REQUIREMENTS).write_text(f"{MODULE}==1.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(InstallFailed, match=r"(?i)hash"):
        venv.build(data_dir, lambda step: None, Leash())
    assert venvs(data_dir) == []


def test_packages_that_cannot_be_imported_are_no_environment(data_dir: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(venv, "IMPORT_PROOFS", (f"import {MODULE}", "import nothing_of_that_name"))
    with pytest.raises(InstallFailed, match="nothing_of_that_name"):
        venv.build(data_dir, lambda step: None, Leash())
    assert venvs(data_dir) == []


def test_a_disk_without_room_is_told_before_anything_is_installed(
    data_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(venv, "NEEDED_BYTES", 1 << 62)
    steps: list[str] = []
    with pytest.raises(InstallFailed, match="the disk is full"):
        venv.build(data_dir, steps.append, Leash())
    assert steps == []


def test_the_rests_of_killed_installations_are_cleared(data_dir: str) -> None:
    rest = Path(venv.path(data_dir) + venv.STAGING_MARK + "1")
    (rest / "lib").mkdir(parents=True)
    (rest / "lib" / "module.py").touch()
    venv.build(data_dir, lambda step: None, Leash())
    assert venvs(data_dir) == [os.path.basename(venv.path(data_dir))]


def test_a_second_installation_waits_for_the_first_and_finds_its_work(data_dir: str) -> None:
    steps: list[str] = []
    with FileLock(os.path.join(data_dir, paths.LOCK_FILE)):
        waiting = threading.Thread(target=venv.build, args=(data_dir, steps.append, Leash()))
        waiting.start()
        until(lambda: steps, "it waits")
        python = Path(venv.python(venv.path(data_dir)))
        python.parent.mkdir(parents=True)
        python.symlink_to(interpreter.real())
    waiting.join(10)
    assert steps == ["waiting for another installation"]


def test_a_waiting_installation_ends_when_told_to(data_dir: str) -> None:
    leash = Leash()
    leash.end()
    with FileLock(os.path.join(data_dir, paths.LOCK_FILE)), pytest.raises(InstallFailed, match="stopped"):
        venv.build(data_dir, lambda step: None, leash)


def test_old_environments_go_unless_an_installation_is_under_way(data_dir: str) -> None:
    current, old = Path(venv.path(data_dir)), Path(data_dir) / "venv-old"
    current.mkdir()
    old.mkdir()
    with FileLock(os.path.join(data_dir, paths.LOCK_FILE)):
        venv.remove_old(data_dir)
    assert old.exists()
    venv.remove_old(data_dir)
    assert venvs(data_dir) == [current.name]


def test_the_lock_is_given_back_when_its_holder_is_killed(tmp_path: Path) -> None:
    script = "import sys; sys.path[:0] = sys.argv[2:]\nfrom launcher.lock import FileLock\nwith FileLock(sys.argv[1]):\n print('held', flush=True); sys.stdin.read()"
    folders = [os.path.join(paths.PLUGIN_ROOT, name) for name in ("bin", "hooks")]
    command = [sys.executable, "-c", script, str(tmp_path / "lock"), *folders]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with FileLock(str(tmp_path / "lock")) as lock:
            assert not lock.is_held
        holder.kill()
    with FileLock(str(tmp_path / "lock")) as lock:
        assert lock.is_held


def test_a_failing_command_tells_its_last_words() -> None:
    with pytest.raises(InstallFailed, match=r"^ERROR: no such package$"):
        Leash().run(["sh", "-c", "echo trying; echo 'ERROR: no such package' >&2; echo bye; exit 3"])


def test_commands_side_by_side_all_have_to_succeed() -> None:
    Leash().run_all([["true"], ["true"]])
    with pytest.raises(InstallFailed, match="exit code 1"):
        Leash().run_all([["true"], ["false"]])


def test_a_leash_that_ends_ends_its_commands_with_all_their_children() -> None:
    leash = Leash()
    mark = "86399.25"
    failed: list[InstallFailed] = []

    def run() -> None:
        try:
            leash.run(["sh", "-c", f"sleep {mark} & sleep {mark}"])
        except InstallFailed as error:
            failed.append(error)

    running = threading.Thread(target=run)
    running.start()
    until(lambda: len(sleeping(mark)) == 2, "both sleep")
    leash.end()
    running.join(10)
    assert [str(error) for error in failed] == ["the server was stopped"]
    until(lambda: sleeping(mark) == [], "nobody sleeps")
    with pytest.raises(InstallFailed, match="stopped"):
        leash.run(["true"])


def test_the_commands_of_a_killed_process_end_with_it() -> None:
    mark = "86398.25"
    script = (
        f"import sys; sys.path[:0] = sys.argv[1:]\nfrom launcher.leash import Leash\nLeash().run(['sleep', '{mark}'])"
    )
    folders = [os.path.join(paths.PLUGIN_ROOT, name) for name in ("bin", "hooks")]
    with subprocess.Popen([sys.executable, "-c", script, *folders]) as holder:
        until(lambda: sleeping(mark), "it sleeps")
        holder.kill()
    until(lambda: sleeping(mark) == [], "the sleeper is gone as well")


def sleeping(mark: str) -> list[int]:
    return [pid for pid, words in command_lines() if words[:2] == [b"sleep", mark.encode()]]


def test_what_the_environment_says_to_one_installer_reaches_the_other() -> None:
    given = {
        "PIP_INDEX_URL": "http://index/",
        "PIP_EXTRA_INDEX_URL": "http://a/ http://b/",
        "PIP_FIND_LINKS": "/x /y",
        "PIP_CERT": "/ca.pem",
        "HTTPS_PROXY": "http://proxy:1",
    }
    environment = installers.environment(given)
    assert {name: environment[name] for name in given} == given
    assert environment["UV_DEFAULT_INDEX"] == "http://index/"
    assert environment["UV_INDEX"] == "http://a/ http://b/"
    assert environment["UV_FIND_LINKS"] == "/x,/y"
    assert environment["SSL_CERT_FILE"] == "/ca.pem"
    assert installers.environment({"UV_DEFAULT_INDEX": "http://index/"})["PIP_INDEX_URL"] == "http://index/"


def test_an_installers_own_setting_wins_over_the_others() -> None:
    environment = installers.environment({"PIP_INDEX_URL": "http://pip/", "UV_DEFAULT_INDEX": "http://uv/"})
    assert (environment["PIP_INDEX_URL"], environment["UV_DEFAULT_INDEX"]) == ("http://pip/", "http://uv/")
    older_name = installers.environment({"UV_INDEX_URL": "http://uv/", "PIP_INDEX_URL": "http://pip/"})
    assert (older_name["PIP_INDEX_URL"], older_name["UV_DEFAULT_INDEX"]) == ("http://pip/", "http://uv/")


def test_what_would_divert_the_packages_is_left_out() -> None:
    given = {
        "PIP_TARGET": "/t",
        "PIP_USER": "1",
        "PYTHONPATH": "/p",
        "VIRTUAL_ENV": "/v",
        "UV_PYTHON": "3.9",
        "PATH": "/bin",
    }
    environment = installers.environment(given)
    assert environment["PIP_USER"] == "0"
    assert set(environment) & set(given) == {"PATH", "PIP_USER"}
