"""hooks.json: every script has its event, none blocks that need not, every limit is set."""

from __future__ import annotations

import json
import re

import pytest
from hooks.calls import EVENTS, ROOT, command

REGISTERED = json.loads((ROOT / "hooks" / "hooks.json").read_text())["hooks"]
BACKGROUND = {"PostToolUse", "FileChanged"}
WAITS_FOR_A_PROGRAM = {"PreToolUse", "UserPromptExpansion"}


def test_every_script_is_run_by_the_event_of_its_name_and_by_no_other() -> None:
    scripts = {path.stem for path in (ROOT / "hooks").glob("[a-z]*.py")}
    for event in EVENTS:
        name = re.sub("(?<!^)(?=[A-Z])", "_", event).lower()
        assert command(event) == f'sh "${{CLAUDE_PLUGIN_ROOT}}/hooks/run" {name}'
        scripts.remove(name)
    assert not scripts


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_has_a_limit_in_seconds_and_the_ones_that_follow_files_block_nothing(event: str) -> None:
    (entry,) = REGISTERED[event]
    (hook,) = entry["hooks"]
    assert hook.get("async", False) == (event in BACKGROUND)
    assert 0 < hook["timeout"] <= (120 if event in WAITS_FOR_A_PROGRAM else 10)


def test_the_file_tools_are_followed_and_no_others() -> None:
    matcher = REGISTERED["PostToolUse"][0]["matcher"]
    for tool in ("Read", "Write", "Edit", "MultiEdit", "NotebookEdit"):
        assert re.fullmatch(matcher, tool)
    for tool in ("Bash", "Glob", "NotebookRead", "mcp__plugin_live-memory_live-memory__ask_live_memory"):
        assert not re.fullmatch(matcher, tool)
