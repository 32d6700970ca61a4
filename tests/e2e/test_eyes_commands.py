"""Our slash commands in the real Claude Code: output on the screen, and no request to any model."""

from __future__ import annotations

import json

import pytest
from e2e.claude_code import ClaudeCode
from e2e.screen import screen_of
from support.two_models import TwoModels

STATS = "window 0% full"
CONFIG = "max_parallel_queries"


@pytest.mark.parametrize(("command", "shown"), [("stats", STATS), ("config show", CONFIG)])
def test_a_command_of_a_printed_session_is_answered_without_a_model(
    ready_user: ClaudeCode, models: TwoModels, command: str, shown: str
) -> None:
    ready_user.install()
    outcome = ready_user.ask(f"/live-memory:live-memory-{command}")
    assert shown in outcome.result["result"]
    assert outcome.result["num_turns"] == 0
    assert not any(models.heard.values())


def test_a_command_shows_its_output_on_the_interactive_screen_and_asks_no_model(
    ready_user: ClaudeCode, models: TwoModels
) -> None:
    ready_user.install()
    with screen_of(ready_user) as screen:
        screen.wait_for("❯")
        screen.type("/live-memory-stats")  # completed by the menu
        screen.wait_for(STATS)
        screen.type("/live-memory:live-memory-config show")
        screen.wait_for(CONFIG)
    assert not any(models.heard.values())


def test_the_status_line_of_the_readme_shows_the_window_under_the_prompt(
    ready_user: ClaudeCode, models: TwoModels
) -> None:
    models.script("claude", ["Hello yourself."])
    ready_user.install()
    assert ready_user.live_memory("ensure").returncode == 0
    told = ready_user.home / "payload.json"
    command = f"tee '{told}' | '{ready_user.plugin / 'bin' / 'live-memory'}' statusline"
    settings = ready_user.config_dir / "settings.json"
    content = json.loads(settings.read_text()) | {"statusLine": {"type": "command", "command": command}}
    settings.write_text(json.dumps(content))
    with screen_of(ready_user) as screen:
        screen.wait_for("❯")
        screen.type("Hello.")
        screen.wait_for("memory 0%")
    assert json.loads(told.read_text())["workspace"]["current_dir"] == str(ready_user.project)
