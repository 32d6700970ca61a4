"""`live-memory dream`."""

from __future__ import annotations

import json

import pytest
from cli.command_line import run
from cli.stand_in import StandIn, always

REPORT = {
    "phase": "done",
    "notes": 12,
    "took_s": 0.5,
    "counts": {"disputed": 1, "expired": 12},
    "listed": {
        "disputed": [{"ids": ["new", "old"], "why": "“5” against “3”"}],
        "expired": [{"ids": [f"n{number}"]} for number in range(12)],
    },
    "left_undone": {"model": "there is no model"},
}
DONE = {"state": "done", "batch": "dream-1", "report": REPORT}


def test_what_was_done_is_told_in_lines(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /dream"] = always(DONE)
    lines = run(env, "dream", "--force", "--cwd", "/shop").stdout.splitlines()
    assert lines[0] == "Done: 12 notes in 0.5 s; 1 disputed, 12 expired."
    assert "  #new, #old: “5” against “3”" in lines
    assert "  and 2 more" in lines
    assert lines[-1] == "Left undone (model): there is no model."
    assert server.asked[-1].body == {"cwd": "/shop", "mode": "force"}
    assert json.loads(run(env, "dream", "--json").stdout) == DONE


@pytest.mark.parametrize(
    ("words", "mode"),
    [((), "run"), (("--force",), "force"), (("--dry-run",), "dry-run"), (("--status",), "status"), (("undo",), "undo")],
)
def test_each_way_has_its_mode(env: dict[str, str], server: StandIn, words: tuple[str, ...], mode: str) -> None:
    server.routes["POST /dream"] = always(DONE)
    run(env, "dream", *words)
    assert server.asked[-1].body["mode"] == mode


def test_a_shut_gate_an_undo_and_a_status_are_told(env: dict[str, str], server: StandIn) -> None:
    gate = {"is_open": False, "why": "3.0 of 24 hours are left"}
    server.routes["POST /dream"] = always({"state": "gated", "gate": gate})
    assert run(env, "dream").stdout.startswith("Not yet: 3.0 of 24 hours are left.")
    server.routes["POST /dream"] = always({"state": "undone", "changes": 4})
    assert run(env, "dream", "undo").stdout == "Taken back: 4 changes of the last dream.\n"
    last = {"day": "2026-11-30", "report": REPORT}
    server.routes["POST /dream"] = always({"state": "idle", "gate": gate, "last": last})
    shown = run(env, "dream", "--status").stdout
    assert "The gate is shut: 3.0 of 24 hours are left." in shown
    assert "The last dream was on 2026-11-30: 12 notes" in shown


@pytest.mark.parametrize("words", [("undo", "--force"), ("nap",), ("--force", "--dry-run")])
def test_what_makes_no_sense_is_told_the_usage(env: dict[str, str], words: tuple[str, ...]) -> None:
    assert run(env, "dream", *words).returncode == 2
