"""`bin/live-memory` itself: which interpreter it takes, and how it fails."""

from __future__ import annotations

import ast
import errno
import subprocess
import sys
from pathlib import Path

import pytest
from lifecycle.command import COMMAND

from launcher import dispatch, paths
from launcher.errors import LaunchError

MAIN = Path(paths.PLUGIN_ROOT) / "bin" / "launcher" / "__main__.py"


def run(path: str, home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": path, "HOME": str(home), **more}
    return subprocess.run(
        ["/bin/sh", COMMAND, *arguments], env=env, capture_output=True, text=True, timeout=30, check=False
    )


def a_python(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_without_any_python_it_says_so(tmp_path: Path) -> None:
    done = run(str(tmp_path), tmp_path, "ensure")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "live-memory: no Python was found on PATH; install Python 3.11 or newer.\n"


def test_with_an_old_python_alone_it_names_its_version(tmp_path: Path) -> None:
    a_python(tmp_path / "bin", "python3", 'case "$*" in --version) echo Python 3.8.10 ;; *) exit 1 ;; esac')
    done = run(str(tmp_path / "bin"), tmp_path, "ensure")
    assert (done.returncode, done.stderr) == (
        1,
        "live-memory: Python 3.8.10 is too old; install Python 3.11 or newer.\n",
    )


def test_a_newer_python_beside_an_old_one_is_found(tmp_path: Path) -> None:
    a_python(tmp_path / "bin", "python3", "exit 1")
    a_python(tmp_path / "bin", "python3.12", f'exec "{sys.executable}" "$@"')
    assert run(str(tmp_path / "bin"), tmp_path, "--version").stdout == paths.plugin_version() + "\n"


@pytest.mark.parametrize("how", ["variable", "option", "joined option", "plugin", "default"])
def test_the_recorded_interpreter_is_taken_without_a_search(tmp_path: Path, how: str) -> None:
    folder = tmp_path / (".claude/plugins/data/live-memory-market" if how == "plugin" else ".local/share/live-memory")
    folder.mkdir(parents=True)
    (folder / "python").write_text(sys.executable + "\n")
    away = "" if how in ("plugin", "default") else str(tmp_path / "another home")
    options = {"option": ["--data-dir", str(folder)], "joined option": [f"--data-dir={folder}"]}.get(how, [])
    more = {"LIVE_MEMORY_DATA_DIR": str(folder)} if how == "variable" else {}
    done = run("/nowhere", Path(away or tmp_path), "--version", *options, **more)
    assert (done.returncode, done.stdout) == (0, paths.plugin_version() + "\n")


def test_a_link_to_the_command_works(tmp_path: Path) -> None:
    (tmp_path / "relative").symlink_to(COMMAND)
    (tmp_path / "link").symlink_to("relative")
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([tmp_path / "link", "--version"], env=env, capture_output=True, text=True, check=False)
    assert done.stdout == paths.plugin_version() + "\n"


def test_the_first_file_is_understood_by_very_old_pythons() -> None:
    tree = ast.parse(MAIN.read_text(), feature_version=(3, 3))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.AnnAssign)]
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert all(node.returns is None for node in functions)


def test_an_old_python_gets_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from launcher.__main__ import main

    monkeypatch.setattr(sys, "version_info", (3, 9, 18, "final", 0))
    assert main(["ensure"]) == 1  # type: ignore[no-untyped-call]
    said = capsys.readouterr().err
    assert said == f"live-memory: Python 3.9 is too old ({sys.executable}); install Python 3.11 or newer.\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [([], 2), (["nonsense"], 2), (["serve", "--nonsense"], 2), (["--help"], 0), (["--version"], 0)],
)
def test_exit_codes_tell_done_from_wrong_usage(tmp_path: Path, arguments: list[str], code: int) -> None:
    done = run(str(Path(sys.executable).parent), tmp_path, *arguments)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.EROFS, "x", "/data"), "/data: the file system is read-only."),
        (OSError(errno.ENOSPC, "x", "/data"), "/data: the disk is full."),
        (OSError(errno.ENOSPC, "x"), "The disk is full."),
        (OSError(errno.EACCES, "x", "/data"), "/data: permission is denied."),
        (OSError(errno.ENOTDIR, "Not a directory", "/data"), "/data: Not a directory."),
    ],
)
def test_an_error_of_the_system_is_one_sentence(
    error: OSError, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr(dispatch, "overview", failing)
    assert dispatch.dispatch({}, ["help"]) == 1
    assert capsys.readouterr().err == f"live-memory: {sentence}\n"


def test_every_command_leads_to_a_function() -> None:
    from importlib import import_module

    from launcher.__main__ import COMMANDS

    for target, _ in COMMANDS.values():
        module, _, function = target.partition(":")
        assert callable(getattr(import_module(module), function)), target


def test_a_launch_error_is_exit_code_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(_commands: object) -> str:
        raise LaunchError("This went wrong.")

    monkeypatch.setattr(dispatch, "overview", failing)
    assert dispatch.dispatch({}, ["help"]) == 1
    assert capsys.readouterr().err == "live-memory: This went wrong.\n"
