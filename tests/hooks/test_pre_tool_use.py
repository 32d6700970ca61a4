"""The PreToolUse hook on our own tools."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hooks.calls import ROOT, call, environment

TOOL = "mcp__plugin_live-memory_live-memory__ask_live_memory"


def ask(tmp_path: Path, **arguments: object) -> dict[str, object]:
    """The hook's answer to a call with these arguments in a session that works in /src/shop."""
    event = {"cwd": "/src/shop", "hook_event_name": "PreToolUse", "tool_name": TOOL, "tool_input": arguments}
    spoken = call("PreToolUse", event, environment(tmp_path / "data"))
    assert (spoken.exit_code, spoken.stderr) == (0, "")
    assert spoken.answer is not None
    answer = spoken.answer["hookSpecificOutput"]
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("cwd", [None, "", ".", "packages/cart", "~/shop", 7])
def test_a_missing_or_relative_cwd_becomes_the_session_s_and_the_rest_stays(tmp_path: Path, cwd: object) -> None:
    given = {"question": '购物车在哪里？ Где "корзина"?', "max_answer_tokens": 300}
    answer = ask(tmp_path, **given, **({} if cwd is None else {"cwd": cwd}))
    assert answer["updatedInput"] == {**given, "cwd": "/src/shop"}
    assert answer["permissionDecision"] == "allow"


def test_an_absolute_cwd_is_left_alone(tmp_path: Path) -> None:
    answer = ask(tmp_path, question="Where?", cwd="/src/other")
    assert answer == {"hookEventName": "PreToolUse", "permissionDecision": "allow"}


def test_an_event_it_cannot_read_is_left_to_claude_code(tmp_path: Path) -> None:
    spoken = call("PreToolUse", "no json", environment(tmp_path / "data"))
    assert (spoken.exit_code, spoken.answer) == (0, None)


def test_it_is_asked_about_our_own_tools_only() -> None:
    matcher = json.loads((ROOT / "hooks" / "hooks.json").read_text())["hooks"]["PreToolUse"][0]["matcher"]
    assert re.fullmatch(matcher, TOOL)
    for other in ("Read", "mcp__other__ask_live_memory", "mcp__plugin_other_live-memory__ask"):
        assert not re.fullmatch(matcher, other)
