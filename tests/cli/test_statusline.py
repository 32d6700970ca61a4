"""`live-memory statusline`: one line for Claude Code while the server runs, nothing otherwise."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.command_line import COMMAND, TIMEOUT_S, environment, run
from cli.stand_in import StandIn, always

STATS = {"context": {"ratio": 0.416}, "cost_usd": 1.239}

# What Claude Code 2.1.332 writes to a status line's stdin.
PAYLOAD: dict[str, Any] = {
    "session_id": "c55db946-6258-4b05-94f7-702b8cb74039",
    "transcript_path": "/home/ada/.claude/projects/-src-shop/c55db946-6258-4b05-94f7-702b8cb74039.jsonl",
    "cwd": "/src/shop/cart",
    "prompt_id": "3b283889-29db-4b4d-93d1-a8543da42d37",
    "effort": {"level": "medium"},
    "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
    "workspace": {"current_dir": "/src/shop/cart", "project_dir": "/src/shop", "added_dirs": []},
    "version": "2.1.332",
    "output_style": {"name": "default"},
    "cost": {"total_cost_usd": 0.000184, "total_duration_ms": 2760, "total_lines_added": 0},
    "context_window": {"total_input_tokens": 11, "context_window_size": 1000000, "used_percentage": 0},
    "exceeds_200k_tokens": False,
    "prompt_cache": {"warm": False, "ttl": "5m", "expires_at": None, "miss_causes": {}},
    "fast_mode": False,
    "thinking": {"enabled": True},
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "data").running() as stand_in:
        stand_in.routes["GET /stats"] = always(STATS)
        stand_in.put_on_record()
        yield stand_in


def test_it_shows_fill_and_cost(env: dict[str, str]) -> None:
    done = run(env, "statusline")
    assert (done.returncode, done.stdout, done.stderr) == (0, "memory 42% $1.24\n", "")


def test_what_the_cache_saved_stands_beside_the_cost(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /stats"] = always({**STATS, "saved_by_cache_usd": 7.456})
    assert run(env, "statusline").stdout == "memory 42% $1.24 (saved $7.46)\n"


def test_a_window_that_cost_nothing_shows_no_price(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /stats"] = always({"context": {"ratio": 0.0}, "cost_usd": 0.0})
    assert run(env, "statusline").stdout == "memory 0%\n"


@pytest.mark.parametrize(
    "session",
    [
        {"cwd": "/started/here", "workspace": {"current_dir": "/now/here & ü", "project_dir": "/started/here"}},
        {"cwd": "/now/here & ü"},
        {**PAYLOAD, "workspace": {**PAYLOAD["workspace"], "current_dir": "/now/here & ü"}},
    ],
    ids=["workspace", "cwd", "whole"],
)
def test_the_folder_comes_from_claude_codes_json(env: dict[str, str], server: StandIn, session: object) -> None:
    run(env, "statusline", stdin=json.dumps(session))
    assert server.asked[-1].query == {"notes": "off", "cwd": "/now/here & ü"}


@pytest.mark.parametrize("stdin", ["", "no JSON", "[1]", '{"workspace": 7, "cwd": 8}'])
def test_without_one_it_is_the_working_directory(
    env: dict[str, str], server: StandIn, tmp_path: Path, stdin: str
) -> None:
    assert run(env, "statusline", stdin=stdin, cwd=tmp_path).returncode == 0
    assert server.asked[-1].query == {"notes": "off", "cwd": str(tmp_path)}


def test_a_stdin_that_nobody_writes_to_does_not_hold_it(env: dict[str, str]) -> None:
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [COMMAND, "statusline"], env=env, stdin=reading, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert done.stdout == b"memory 42% $1.24\n"


def test_it_asks_once_and_only_for_stats(env: dict[str, str], server: StandIn) -> None:
    run(env, "statusline")
    assert [asked.path for asked in server.asked] == ["/stats"]


def test_it_prints_nothing_and_starts_nothing_when_the_server_is_down(tmp_path: Path, unused_port: int) -> None:
    data_dir = tmp_path / "data"
    done = run(environment(data_dir, unused_port), "statusline")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in data_dir.iterdir()] == ["python"]


def test_it_prints_nothing_when_the_server_refuses(env: dict[str, str], server: StandIn) -> None:
    server.routes.clear()
    done = run(env, "statusline")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_stale_pid_record_is_not_believed(env: dict[str, str], server: StandIn) -> None:
    record = {"pid": os.getpid(), "started": "another-1", "port": server.port, "version": "0"}
    (server.data_dir / "server.json").write_text(json.dumps(record))
    assert run(env, "statusline").stdout == ""
    assert server.asked == []
