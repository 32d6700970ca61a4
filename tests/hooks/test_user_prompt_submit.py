"""The UserPromptSubmit hook: the notes that bear on a prompt, or silence."""

from __future__ import annotations

import pytest
from cli.stand_in import StandIn, always
from hooks.calls import Spoken, call, environment

NOTES = {"notes": [{"id": "cart-total", "title": "Totals", "score": 0.7, "state": "fresh"}], "context": "Totals: in ¢."}


def submit(server: StandIn, prompt: object) -> Spoken:
    event = {"cwd": "/src/shop", "session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    return call("UserPromptSubmit", event, environment(server.data_dir))


def test_what_the_server_recalls_is_handed_to_claude(server: StandIn) -> None:
    server.routes["POST /recall"] = always(NOTES)
    assert submit(server, "Wie wird summiert? 购物车").answer == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "Totals: in ¢."}
    }
    asked = {"cwd": "/src/shop", "prompt": "Wie wird summiert? 购物车", "session_id": "s-1"}
    assert server.bodies("/recall") == [asked]


@pytest.mark.parametrize("context", ["", " \n", None, 7, ["x"]])
def test_where_nothing_is_recalled_nothing_is_printed(server: StandIn, context: object) -> None:
    server.routes["POST /recall"] = always({"notes": [], "context": context})
    assert submit(server, "Where are totals added up?") == Spoken(None, 0, "")


@pytest.mark.parametrize("prompt", ["/compact", "  /live-memory:live-memory-stats", "", None, 7])
def test_a_command_or_no_prompt_at_all_is_not_asked_about(server: StandIn, prompt: object) -> None:
    server.routes["POST /recall"] = always(NOTES)
    assert submit(server, prompt) == Spoken(None, 0, "")
    assert server.asked == []


def test_of_a_huge_prompt_only_the_beginning_goes_over_the_wire(server: StandIn) -> None:
    server.routes["POST /recall"] = always(NOTES)
    submit(server, "log line\n" * 1_000_000)
    assert len(server.bodies("/recall")[0]["prompt"]) == 100_000
