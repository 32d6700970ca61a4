"""`live-memory session list|show`."""

from __future__ import annotations

import json

import pytest
from cli.command_line import run
from cli.stand_in import StandIn, always

SESSION = {
    "session_id": "aaaa1111-2222-3333",
    "transcript": "/t/aaaa1111-2222-3333.jsonl",
    "root": "/shop",
    "state": "done",
    "why": "",
    "last_seen": "2026-11-30 12:00:00 UTC",
    "size_bytes": 2048,
    "captured": 2,
    "merged": 1,
    "disputed": 0,
    "refused": 3,
}
WAITING = {**SESSION, "session_id": "bbbb", "state": "queued", "why": "waits: there is no model", "captured": 0, "merged": 0, "refused": 0}  # fmt: skip


def test_sessions_are_a_table_with_what_came_of_each(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /sessions"] = always({"sessions": [SESSION, WAITING]})
    done = run(env, "session", "list", "--cwd", "/shop")
    assert done.stdout.splitlines() == [
        "aaaa1111  2026-11-30 12:00:00 UTC  done    2 captured, 1 merged, 3 refused",
        "bbbb      2026-11-30 12:00:00 UTC  queued  waits: there is no model",
    ]
    assert server.asked[-1].query == {"cwd": "/shop"}


def test_where_there_is_none_it_says_so(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /sessions"] = always({"sessions": []})
    assert run(env, "session", "list").stdout == "No session was told of here yet.\n"
    done = run(env, "session", "show", "zzzz")
    assert (done.returncode, "no session zzzz" in done.stderr) == (1, True)


def test_one_is_shown_whole(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /sessions"] = always({"sessions": [SESSION]})
    shown = run(env, "session", "show", "aaaa").stdout
    assert "transcript  /t/aaaa1111-2222-3333.jsonl" in shown
    assert "2.0 KiB" in shown
    assert server.asked[-1].query == {"session_id": "aaaa"}
    assert json.loads(run(env, "session", "show", "aaaa", "--json").stdout) == {"sessions": [SESSION]}


@pytest.mark.parametrize("words", [(), ("list", "x"), ("show",), ("drop", "x")])
def test_anything_else_is_told_the_usage(env: dict[str, str], words: tuple[str, ...]) -> None:
    assert run(env, "session", *words).returncode == 2
