"""Reading Claude Code's login, which is never ours to change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from live_memory.llm.subscription import read_subscription

NOW_S = 1_800_000_000.0
LOGIN = {"accessToken": "sk-ant-oat01-dummy", "expiresAt": (NOW_S + 3600) * 1000, "scopes": ["user:inference"]}


def credentials(folder: Path, content: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".credentials.json").write_text(json.dumps(content), encoding="utf-8")


def test_a_variable_wins_over_the_file(tmp_path: Path) -> None:
    credentials(tmp_path / ".claude", {"claudeAiOauth": LOGIN})
    assert read_subscription({"CLAUDE_CODE_OAUTH_TOKEN": "t"}, tmp_path, NOW_S, platform="linux").token == "t"


def test_the_file_is_where_claude_code_s_folder_is(tmp_path: Path) -> None:
    credentials(tmp_path / "elsewhere", {"claudeAiOauth": LOGIN})
    variables = {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert read_subscription(variables, tmp_path, NOW_S, platform="linux").token == "sk-ant-oat01-dummy"
    assert read_subscription({}, tmp_path, NOW_S, platform="linux").token == ""


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ({}, "hold no subscription token"),
        ([], "hold no subscription token"),
        ({"claudeAiOauth": None}, "hold no subscription token"),
        ({"claudeAiOauth": LOGIN | {"expiresAt": "soon"}}, "hold no subscription token"),
        ({"claudeAiOauth": LOGIN | {"expiresAt": (NOW_S + 30) * 1000}}, "has expired"),
        ({"claudeAiOauth": LOGIN | {"scopes": ["user:profile"]}}, "does not allow model calls"),
    ],
)
def test_a_login_that_cannot_be_used_says_why(tmp_path: Path, content: object, why: str) -> None:
    credentials(tmp_path / ".claude", content)
    found = read_subscription({}, tmp_path, NOW_S, platform="linux")
    assert found.token == ""
    assert why in found.why


def test_a_login_without_an_end_is_good(tmp_path: Path) -> None:
    credentials(tmp_path / ".claude", {"claudeAiOauth": {"accessToken": "t"}})
    assert read_subscription({}, tmp_path, NOW_S, platform="linux").token == "t"


def test_the_printed_login_shows_no_token(tmp_path: Path) -> None:
    assert "secret" not in repr(read_subscription({"CLAUDE_CODE_OAUTH_TOKEN": "secret"}, tmp_path, NOW_S))


@pytest.mark.parametrize(("exit_code", "token"), [(0, "sk-ant-oat01-dummy"), (44, "")])
def test_a_mac_keeps_it_in_the_keychain_which_may_be_shut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exit_code: int, token: str
) -> None:
    program = tmp_path / "security"
    item = json.dumps({"claudeAiOauth": LOGIN})
    program.write_text(f"#!/bin/sh\n[ \"$3\" = 'Claude Code-credentials' ] && echo '{item}'\nexit {exit_code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_subscription({}, tmp_path, NOW_S, platform="darwin").token == token


def test_a_machine_without_a_keychain_has_no_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_subscription({}, tmp_path, NOW_S, platform="darwin").token == ""
