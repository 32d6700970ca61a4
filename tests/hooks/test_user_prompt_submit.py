"""The UserPromptSubmit hook: the notes that bear on a prompt, or silence."""

from __future__ import annotations

from pathlib import Path

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


def test_a_session_whose_start_found_no_server_gets_its_table_of_contents_with_its_first_prompt(
    server: StandIn, tmp_path: Path
) -> None:
    started = {"cwd": "/src/shop", "session_id": "s-1", "hook_event_name": "SessionStart", "source": "startup"}
    server.routes["GET /toc"] = always({"context": "", "notes": 0}, status=503)
    call("SessionStart", started, environment(server.data_dir, LIVE_MEMORY_PORT=str(server.port)))
    server.asked.clear()
    server.routes["GET /toc"] = always({"context": "Notes: 1.", "notes": 1})
    server.routes["POST /recall"] = always(NOTES)
    first, second = submit(server, "Where are totals added up?"), submit(server, "And the taxes?")
    assert [context(first), context(second)] == ["Notes: 1.\n\nTotals: in ¢.", "Totals: in ¢."]
    assert [body["event"] for body in server.bodies("/session")] == ["session-start"]


def context(spoken: Spoken) -> object:
    output = (spoken.answer or {})["hookSpecificOutput"]
    assert isinstance(output, dict)
    return output["additionalContext"]
