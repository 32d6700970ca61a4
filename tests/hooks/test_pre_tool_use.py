"""The PreToolUse hook on our own tools: the call meets a server, knows its folder, and is allowed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from cli.stand_in import StandIn
from hooks.calls import ROOT, Spoken, call, environment
from hooks.launchers import RecordingLauncher

from live_memory.configuration import PROVIDER_KEY_NAMES
from pre_tool_use import KEY_NAMES

TOOL = "mcp__plugin_live-memory_live-memory__ask_live_memory"
SAVE, SEARCH = (TOOL.replace("ask_live_memory", name) for name in ("memory_save", "memory_search"))

Ask = Callable[..., dict[str, object]]


@pytest.fixture
def ask(server: StandIn, launcher: RecordingLauncher) -> Ask:
    """The hook's answer to a call in a session that works in /src/shop; `env` is what the session's environment adds."""

    def asked(arguments: dict[str, object], tool: str = TOOL, **env: str) -> dict[str, object]:
        event = {"cwd": "/src/shop", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": arguments}
        own = environment(server.data_dir, CLAUDE_PLUGIN_ROOT=str(launcher.root), **{**server.environment, **env})
        spoken = call("PreToolUse", event, own)
        assert (spoken.exit_code, spoken.stderr) == (0, "")
        assert spoken.answer is not None
        answer = spoken.answer["hookSpecificOutput"]
        assert isinstance(answer, dict)
        return answer

    return asked


@pytest.mark.parametrize("cwd", [None, "", ".", "packages/cart", "~/shop", 7])
def test_a_missing_or_relative_cwd_becomes_the_session_s_and_the_rest_stays(ask: Ask, cwd: object) -> None:
    given = {"question": '购物车在哪里？ Где "корзина"?', "max_answer_tokens": 300}
    answer = ask({**given, **({} if cwd is None else {"cwd": cwd})})
    assert answer["updatedInput"] == {**given, "cwd": "/src/shop"}
    assert answer["permissionDecision"] == "allow"


def test_an_absolute_cwd_is_left_alone(ask: Ask) -> None:
    answer = ask({"question": "Where?", "cwd": "/src/other"})
    assert answer == {"hookEventName": "PreToolUse", "permissionDecision": "allow"}


def test_a_server_that_answers_is_left_alone_and_shown_no_token(
    ask: Ask, server: StandIn, launcher: RecordingLauncher
) -> None:
    ask({"question": "Where?"}, OPENAI_API_KEY="sk-dummy")
    assert [(asked.path, asked.headers.get("authorization")) for asked in server.asked] == [("/health", None)]
    assert not launcher.has_been_called()


def test_a_server_that_has_gone_is_brought_back_before_the_call(
    ask: Ask, launcher: RecordingLauncher, unused_port: int
) -> None:
    assert ask({"question": "Where?"}, LIVE_MEMORY_PORT=str(unused_port))["permissionDecision"] == "allow"
    assert launcher.next_call().startswith(f"ensure --wait 10 port={unused_port} ")


@pytest.mark.parametrize(("status", "wait_s"), [("installing", 100), ("draining", 10)])
def test_a_server_that_cannot_answer_yet_is_waited_for(
    ask: Ask, server: StandIn, launcher: RecordingLauncher, status: str, wait_s: int
) -> None:
    server.health = {"status": status}
    ask({"question": "Where?"})
    assert launcher.next_call().startswith(f"ensure --wait {wait_s} ")


def test_a_server_without_the_keys_of_this_session_is_started_again_with_them(
    ask: Ask, server: StandIn, launcher: RecordingLauncher
) -> None:
    record = {"pid": 1, "started": "then", "port": server.port, "version": "0.1.0", "is_keyless": True}
    (server.data_dir / "server.json").write_text(json.dumps(record))
    ask({"question": "Where?"})
    assert not launcher.has_been_called()
    ask({"question": "Where?"}, DEEPSEEK_API_KEY="sk-dummy")
    assert launcher.next_call().startswith("restart ")


def test_the_keys_looked_for_are_the_ones_that_the_settings_know() -> None:
    secrets = {name for name in PROVIDER_KEY_NAMES if name.endswith(("_KEY", "_TOKEN"))}
    assert set(KEY_NAMES) == secrets | {"LIVE_MEMORY_API_KEY"}


def test_it_is_asked_about_our_own_tools_only() -> None:
    matcher = json.loads((ROOT / "hooks" / "hooks.json").read_text())["hooks"]["PreToolUse"][0]["matcher"]
    assert re.fullmatch(matcher, TOOL)
    for other in ("Read", "mcp__other__ask_live_memory", "mcp__plugin_other_live-memory__ask"):
        assert not re.fullmatch(matcher, other)


@pytest.mark.parametrize("tool", ["Bash", "Read", "mcp__other__memory_save", f"x{TOOL}", "", None, ["Bash"]])
def test_another_s_tool_is_never_allowed_whoever_asks(
    server: StandIn, launcher: RecordingLauncher, tool: object
) -> None:
    event = {"cwd": "/src/shop", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"command": "rm x"}}
    own = environment(server.data_dir, CLAUDE_PLUGIN_ROOT=str(launcher.root), **server.environment)
    assert call("PreToolUse", event, own) == Spoken(None, 0, "")
    assert server.asked == []


@pytest.mark.parametrize("config", [None, "{}", '{"approve_saves": false}', '{"approve_saves": "off", "port": 7711}'])
def test_a_save_is_allowed_unless_saves_are_to_be_approved(ask: Ask, server: StandIn, config: str | None) -> None:
    if config is not None:
        (server.data_dir / "config.json").write_text(config)
    assert ask({"title": "a", "body": "b"}, SAVE)["permissionDecision"] == "allow"


@pytest.mark.parametrize("config", ['{"approve_saves": true}', '{"approve_saves": "on"}', "{", "[]"])
def test_a_save_that_is_to_be_approved_is_left_to_claude_code_s_own_question(
    ask: Ask, server: StandIn, config: str
) -> None:
    (server.data_dir / "config.json").write_text(config)
    answer = ask({"title": "a", "body": "b"}, SAVE)
    assert answer == {"hookEventName": "PreToolUse", "updatedInput": {"title": "a", "body": "b", "cwd": "/src/shop"}}
    assert ask({"query": "a"}, SEARCH)["permissionDecision"] == "allow"


def test_the_environment_says_first_whether_saves_are_to_be_approved(ask: Ask, server: StandIn) -> None:
    (server.data_dir / "config.json").write_text('{"approve_saves": true}')
    assert "permissionDecision" in ask({"title": "a"}, SAVE, LIVE_MEMORY_APPROVE_SAVES="off")
    (server.data_dir / "config.json").unlink()
    assert "permissionDecision" not in ask({"title": "a"}, SAVE, LIVE_MEMORY_APPROVE_SAVES="yes")
