"""The plugin in the real Claude Code: the first session calls ask_live_memory and gets its answer, however the server came up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from e2e.claude_code import (
    DUMMY_KEY,
    TOOL,
    VERSIONS,
    ClaudeCode,
    plugin_copy,
)
from support.two_models import Call, TwoModels

QUESTION = "Where is the price of a cart added up?"
ANSWER = "Cart.total adds up the prices (shop/cart.py:5)."
SECOND_QUESTION = "Who calls Cart.total?"
SECOND_ANSWER = "checkout does (shop/checkout.py:4)."

Made = Callable[..., ClaudeCode]


def play_a_question(models: TwoModels, **arguments: object) -> None:
    """Claude asks, the backend looks a file up and answers, Claude is done."""
    models.script("claude", [Call(TOOL, {"question": QUESTION, **arguments}), "Thanks."])
    models.script("backend", [Call("Read", {"file_path": "shop/cart.py"}), ANSWER])


def assert_answered(models: TwoModels, answer: str = ANSWER) -> None:
    """Claude was shown the backend's answer with its account, and the backend this project's file."""
    shown = models.tool_results("claude", TOOL)
    assert answer in shown[-1], shown
    assert "\n---\n[live-memory] model=" in shown[-1]
    assert "citations=1 fresh, 0 stale, 0 unverified" in shown[-1]
    assert any("return sum(self.prices)" in result for result in models.tool_results("backend", "Read"))


def test_at_least_one_version_of_the_cli_is_served(clis: dict[str, Path]) -> None:
    assert clis


@pytest.mark.parametrize("version", VERSIONS)
def test_the_plugin_is_valid_without_a_warning(clis: dict[str, Path], tmp_path: Path, version: str) -> None:
    plugin = plugin_copy(tmp_path / "plugin")
    program = clis.get(version) or next(iter(clis.values()))
    for manifest in (plugin, plugin / ".claude-plugin" / "plugin.json"):
        command = [str(program), "plugin", "validate", "--strict", str(manifest)]
        environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_session_gets_an_answer_without_any_permission_or_folder_given(
    ready_user: ClaudeCode, models: TwoModels
) -> None:
    ready_user.install()
    play_a_question(models)
    outcome = ready_user.ask("What adds up a cart?")
    assert outcome.result["result"] == "Thanks."
    assert outcome.result["permission_denials"] == []
    assert models.meanwhiles == 0  # the tool was there in the first turn
    assert_answered(models)


def test_the_plugin_s_options_choose_the_model_behind_it(ready_user: ClaudeCode, models: TwoModels) -> None:
    options = {"provider": "anthropic", "model": "claude-chosen", "base_url": models.address, "api_key": DUMMY_KEY}
    ready_user.install_without_key(**options)
    play_a_question(models)
    ready_user.ask("What adds up a cart?")
    assert_answered(models)
    assert {body["model"] for body in models.heard["backend"]} == {"claude-chosen"}


def test_a_key_in_the_environment_is_used_though_claude_code_keeps_it_from_the_headers_helper(
    ready_user: ClaudeCode, models: TwoModels
) -> None:
    ready_user.install_without_key()
    play_a_question(models)
    ready_user.ask("What adds up a cart?")
    assert_answered(models)


def test_the_port_option_is_the_one_that_everything_uses(ready_user: ClaudeCode, models: TwoModels) -> None:
    ready_user.install()
    play_a_question(models)
    ready_user.ask("What adds up a cart?")
    data_dir = ready_user.data_dir
    assert ready_user.server_record()["port"] == ready_user.port
    assert (data_dir / "port").read_text().strip() == str(ready_user.port)
    assert json.loads((data_dir / "user-config.json").read_text())["port"] == str(ready_user.port)


def test_the_headers_helper_alone_brings_the_server_up(ready_user: ClaudeCode, models: TwoModels) -> None:
    (ready_user.plugin / "hooks" / "hooks.json").unlink()
    ready_user.install()
    play_a_question(models, cwd=str(ready_user.project))
    ready_user.ask("What adds up a cart?", "--allowedTools", TOOL)
    assert_answered(models)
    assert not (ready_user.data_dir / "user-config.json").exists()


def test_the_session_start_hook_alone_brings_the_server_up(ready_user: ClaudeCode, models: TwoModels) -> None:
    token = "dummy-token-that-was-there-before-the-server"
    (ready_user.data_dir / "token").write_text(token)
    header = ready_user.plugin / "header.json"
    header.write_text(json.dumps({"Authorization": f"Bearer {token}"}))

    def only_show(content: dict[str, dict[str, dict[str, object]]]) -> None:
        content["mcpServers"]["live-memory"]["headersHelper"] = 'cat "${CLAUDE_PLUGIN_ROOT}/header.json"'

    ready_user.change_json(".mcp.json", only_show)
    ready_user.install()
    play_a_question(models)
    ready_user.ask("What adds up a cart?")
    assert_answered(models)
    assert not (ready_user.data_dir / "port").exists()


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_the_very_first_run_answers_while_its_packages_are_still_being_installed(
    user: Made, models: TwoModels, installer: str
) -> None:
    first = user("uv") if installer == "uv" else user()
    first.install()
    play_a_question(models)
    first.ask("What adds up a cart?")
    assert models.meanwhiles == 0  # the tool was there in the first turn
    assert_answered(models)
    (venv,) = first.data_dir.glob("venv-*")
    assert ("\nuv = " in (venv / "pyvenv.cfg").read_text()) == (installer == "uv")


def test_a_server_killed_between_two_calls_is_back_for_the_second(ready_user: ClaudeCode, models: TwoModels) -> None:
    killed = []

    def ask_after_a_kill() -> Call:
        killed.append(ready_user.server_record()["pid"])
        os.kill(killed[0], signal.SIGKILL)
        return Call(TOOL, {"question": SECOND_QUESTION})

    models.script("claude", [Call(TOOL, {"question": QUESTION}), ask_after_a_kill, "Thanks."])
    read_cart, read_checkout = (Call("Read", {"file_path": f"shop/{name}.py"}) for name in ("cart", "checkout"))
    models.script("backend", [read_cart, ANSWER, read_checkout, SECOND_ANSWER])
    ready_user.install()
    outcome = ready_user.ask("What adds up a cart, and for whom?")
    assert outcome.result["permission_denials"] == []
    first, second = models.tool_results("claude", TOOL)
    assert ANSWER in first
    assert SECOND_ANSWER in second
    assert ready_user.server_record()["pid"] != killed[0]


def test_a_slash_command_is_answered_without_any_model(ready_user: ClaudeCode, models: TwoModels) -> None:
    ready_user.install()
    outcome = ready_user.ask("/live-memory:live-memory-config set model=a-model")
    assert "model  a-model  config.json" in outcome.result["result"]
    assert outcome.result["num_turns"] == 0
    assert not any(models.heard.values())


def test_a_slash_command_shows_the_same_where_hooks_are_turned_off(ready_user: ClaudeCode, models: TwoModels) -> None:
    (ready_user.plugin / "hooks" / "hooks.json").unlink()
    ready_user.install()
    models.script("claude", ["Shown."])
    ready_user.ask("/live-memory:live-memory-config set model=a-model")
    (asked,) = models.heard["claude"]
    assert "model  a-model  config.json" in json.dumps(asked["messages"])
