"""`live-memory stats`, `reset` and `empty`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.command_line import run
from cli.stand_in import StandIn, always, refusal

STATS = {
    "root": "/a/repository",
    "questions": 12,
    "cost_usd": 0.0312,
    "uptime_s": 3725,
    "context": {"used_tokens": 41200, "max_tokens": 200000, "ratio": 0.206},
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "data").running() as stand_in:
        stand_in.routes["GET /stats"] = always(STATS)
        stand_in.routes["POST /reset"] = always({"status": "reset"})
        stand_in.routes["POST /clear"] = always({"status": "cleared"})
        yield stand_in


def test_stats_begin_with_what_matters_first(env: dict[str, str], server: StandIn) -> None:
    whole = {
        **STATS,
        "model": "claude-haiku-5-5",
        "why": "ANTHROPIC_API_KEY is set",
        "cost_today_usd": 0.01,
        "unpriced_questions": 2,
        "saved_by_cache_usd": 1.5,
        "files_known": 7,
        "files": {"fresh": 6, "stale": 1},
        "notes": {"notes": 42, "open": 3, "disputed": 1, "expired": 0},
    }
    server.routes["GET /stats"] = always(whole)
    assert run(env, "stats").stdout.splitlines()[:5] == [
        "claude-haiku-5-5, because ANTHROPIC_API_KEY is set",
        "window 21% full · 12 questions · 7 files, 1 stale",
        "42 notes · 3 open · 1 disputed",
        "$0.01 today · $0.0312 in all · 2 questions without a known price (n/a) · the cache saved $1.50",
        "",
    ]


def test_stats_are_lines_with_their_units(env: dict[str, str]) -> None:
    assert run(env, "stats").stdout.splitlines() == [
        "window 21% full · 12 questions",
        "$0.0312 in all",
        "",
        "root       /a/repository",
        "questions  12",
        "cost       $0.0312",
        "uptime     1 h 2 min",
        "context",
        "  used   41,200 tokens",
        "  max    200,000 tokens",
        "  ratio  21%",
    ]


def test_stats_say_how_long_ago_something_was_and_count_one_as_one(env: dict[str, str], server: StandIn) -> None:
    runs = {"capture": {"last_run_s_ago": 1238}, "dream": {"last_run_s_ago": None}}
    server.routes["GET /stats"] = always({**STATS, "questions": 1, "notes": {"notes": 1}, **runs})
    lines = run(env, "stats").stdout.splitlines()
    assert lines[0] == "window 21% full · 1 question"
    assert lines[1] == "1 note"
    assert [line for line in lines if "last run" in line] == ["  last run  20 min 38 s ago", "  last run  never"]


def test_stats_say_first_of_all_where_secrets_are_left_in(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /stats"] = always({**STATS, "redaction": {"state": "off", "secrets_taken_out": 0}})
    lines = run(env, "stats").stdout.splitlines()
    assert lines[0] == "REDACTION IS OFF here (redaction_off_roots): secrets in files are kept and sent to the model"
    assert "  secrets taken out  0" in lines


def test_stats_as_json_are_the_servers(env: dict[str, str]) -> None:
    assert json.loads(run(env, "stats", "--json").stdout) == STATS


def test_stats_are_those_of_the_folder_named(env: dict[str, str], server: StandIn) -> None:
    run(env, "stats", "--cwd", "/a b/ü&c")
    assert server.asked[-1].query == {"cwd": "/a b/ü&c"}


@pytest.mark.parametrize(("command", "path"), [("reset", "/reset"), ("empty", "/clear")])
def test_forgetting_names_what_was_forgotten(
    env: dict[str, str], server: StandIn, tmp_path: Path, command: str, path: str
) -> None:
    done = run(env, command, cwd=tmp_path)
    assert done.returncode == 0
    assert str(tmp_path) in done.stdout
    assert server.bodies(path) == [{"cwd": str(tmp_path)}]
    assert json.loads(run(env, command, "--json").stdout)["status"] in ("reset", "cleared")


@pytest.mark.parametrize("command", ["stats", "reset", "empty"])
def test_a_refusal_is_one_sentence_and_exit_1(env: dict[str, str], server: StandIn, command: str) -> None:
    for route in server.routes:
        server.routes[route] = lambda asked: refusal(400, "bad-cwd", "There is no folder /nowhere.")
    done = run(env, command, "--cwd", "/nowhere")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "live-memory: There is no folder /nowhere.\n")
    assert run(env, command, "surplus").returncode == 2
