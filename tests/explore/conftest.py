"""Workspaces to explore, and both search engines."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from explore.in_process import InProcess

from live_memory.explore import ripgrep
from live_memory.explore.toolbox import run_tool


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty workspace at its canonical path, with a neighbour outside that nothing may reach."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "private.txt").write_text("not for the model\n")
    folder = tmp_path / "workspace"
    folder.mkdir()
    return Path(os.path.realpath(folder))


@pytest.fixture
def write(root: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file of the workspace."""

    def write_file(path: str, content: str | bytes) -> Path:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write_file


@pytest.fixture
def ask(root: Path) -> Callable[..., str]:
    """Call a tool as the model does; the text of its answer."""

    def call(tool: str, **arguments: object) -> str:
        return run_tool(
            root, tool, json.dumps({name.replace("__", "-"): value for name, value in arguments.items()})
        ).text

    return call


@pytest.fixture
def git(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run git in the workspace, under a home folder of its own; the first call makes the repository."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n")

    def run(*arguments: str, cwd: Path = root) -> str:
        return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout

    run("init", "--quiet")
    return run


@pytest.fixture(params=["ripgrep", "plain"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The test runs twice: with ripgrep, and with the engine for machines that have none."""
    if request.param == "plain":
        monkeypatch.setattr(ripgrep, "_engine", InProcess)
    return str(request.param)
