"""hooks/run: the quickest Python at hand, and never a failure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli.stand_in import StandIn
from hooks.calls import call, environment

TOOL = "mcp__plugin_live-memory_live-memory__ask_live_memory"
EVENT = {"cwd": "/src/shop", "tool_name": TOOL, "tool_input": {"question": "Where?"}}


def interpreter_that_leaves_a_mark(folder: Path, exit_code: int = 0) -> Path:
    program = folder / "marking-python"
    program.write_text(f'#!/bin/sh\necho "$@" > "{folder}/mark"\nexit {exit_code}\n')
    program.chmod(0o755)
    return program


def test_the_recorded_interpreter_runs_the_script_without_site_packages(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    (data_dir / "python").write_text(f"{interpreter_that_leaves_a_mark(tmp_path)}\n")
    assert call("PreToolUse", EVENT, environment(data_dir)).exit_code == 0
    flags, script = (tmp_path / "mark").read_text().split(maxsplit=1)
    assert flags == "-ESs"
    assert script.strip().endswith("hooks/pre_tool_use.py")


@pytest.mark.parametrize("recorded", [None, "", "/nowhere/python", "python3\n"])
def test_without_a_usable_record_the_python_on_path_does(tmp_path: Path, recorded: str | None) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    if recorded is not None:
        (data_dir / "python").write_text(recorded)
    with StandIn(data_dir).running() as server:
        assert call("PreToolUse", EVENT, environment(data_dir, **server.environment)).answer


def test_a_data_folder_named_by_the_environment_wins_over_the_plugin_s(tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.mkdir()
    (named / "python").write_text(f"{interpreter_that_leaves_a_mark(tmp_path)}\n")
    call("PreToolUse", EVENT, environment(tmp_path / "data", LIVE_MEMORY_DATA_DIR=str(named)))
    assert (tmp_path / "mark").exists()


def test_a_script_that_fails_does_not_fail_the_session(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    (data_dir / "python").write_text(f"{interpreter_that_leaves_a_mark(tmp_path, exit_code=3)}\n")
    assert call("PreToolUse", EVENT, environment(data_dir)).exit_code == 0


@pytest.mark.parametrize(("event", "says"), [("SessionStart", "needs Python 3.11"), ("PreToolUse", "")])
def test_without_any_python_the_session_start_says_what_is_missing(tmp_path: Path, event: str, says: str) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "env"):
        (tools / name).symlink_to(f"/usr/bin/{name}" if os.path.exists(f"/usr/bin/{name}") else f"/bin/{name}")
    spoken = call(event, EVENT, environment(tmp_path / "data", PATH=str(tools)))
    assert spoken.exit_code == 0
    assert says in str(spoken.line)
    assert bool(spoken.line) == bool(says)
