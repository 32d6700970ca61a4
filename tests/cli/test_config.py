"""`live-memory config`: the settings in one place, secrets never shown, a running server told."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.command_line import environment, run
from cli.stand_in import StandIn, always, refusal

from live_memory.settings import SETTINGS

KEY = "sk-dummy-0123456789"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def env(data_dir: Path, unused_port: int) -> dict[str, str]:
    return environment(data_dir, unused_port)


@pytest.fixture
def server(data_dir: Path) -> Iterator[StandIn]:
    with StandIn(data_dir).running() as stand_in:
        stand_in.routes["POST /reload"] = always({"status": "reloaded"})
        yield stand_in


def test_every_setting_is_shown_with_where_it_comes_from(env: dict[str, str], data_dir: Path) -> None:
    (data_dir / "user-config.json").write_text('{"model": "a-model"}')
    shown = json.loads(run({**env, "LIVE_MEMORY_PROVIDER": "passages"}, "config", "--json").stdout)
    assert set(shown) == set(SETTINGS)
    assert shown["model"] == {"value": "a-model", "source": "userConfig"}
    assert shown["provider"] == {"value": "passages", "source": "environment"}
    assert shown["concurrency"] == {"value": "parallel", "source": "default"}


def test_the_settings_are_shown_by_topic_in_columns_that_align(env: dict[str, str], data_dir: Path) -> None:
    (data_dir / "user-config.json").write_text(
        json.dumps({"model": "a-model", "base_url": "http://127.0.0.1:1/" + "v" * 60})
    )
    lines = run({**env, "LIVE_MEMORY_PROVIDER": "passages"}, "config").stdout.splitlines()
    topics = [line for line in lines if line and not line.startswith(" ")]
    rows = [line for line in lines if line.startswith("  ")]
    assert topics == list(dict.fromkeys(row.topic for row in SETTINGS.values()))
    assert [row.split()[0] for row in rows] == list(SETTINGS)
    values_at = 4 + max(map(len, SETTINGS))
    assert {row[values_at - 2 : values_at] for row in rows} == {"  "}
    assert all(row[values_at] != " " for row in rows)
    origins = {row.split()[0]: row[values_at:].partition("  ")[2].strip() for row in rows}
    assert origins["model"] == origins["base_url"] == "the plugin's option"
    assert origins["provider"] == "LIVE_MEMORY_PROVIDER"
    assert origins["concurrency"] == "default"
    assert len({row.rindex("  default") for row in rows if row.endswith("  default")}) == 1


def test_what_is_set_is_kept_for_the_owner_only_and_can_be_unset(env: dict[str, str], data_dir: Path) -> None:
    done = run(env, "config", "set", "model=b-model", "max_tool_rounds=7")
    assert done.stdout.splitlines() == [
        "model            b-model  config.json",
        "max_tool_rounds  7        config.json",
    ]
    kept = data_dir / "config.json"
    assert json.loads(kept.read_text()) == {"model": "b-model", "max_tool_rounds": 7}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    run(env, "config", "unset", "model")
    assert json.loads(kept.read_text()) == {"max_tool_rounds": 7}


def test_what_another_version_left_behind_is_named_and_can_be_unset(env: dict[str, str], data_dir: Path) -> None:
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / "config.json").write_text('{"of_tomorrow": 1, "model": "m"}')
    refused = run(env, "config", "show")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "`live-memory config unset of_tomorrow` takes it out" in refused.stderr
    done = run(env, "config", "unset", "of_tomorrow")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((data_dir / "config.json").read_text()) == {"model": "m"}


def test_a_secret_is_never_shown(env: dict[str, str], data_dir: Path) -> None:
    outputs = [
        run(env, "config", "set", f"api_key={KEY}"),
        run(env, "config", "show"),
        run(env, "config", "--json"),
        run({**env, "LIVE_MEMORY_API_KEY": KEY}, "config", "--json"),
    ]
    assert json.loads((data_dir / "config.json").read_text()) == {"api_key": KEY}
    assert all(KEY not in done.stdout + done.stderr for done in outputs)
    assert json.loads(outputs[2].stdout)["api_key"]["value"] == "set"


def test_no_secret_is_shown_of_an_address_or_a_word_that_was_mistyped(env: dict[str, str], data_dir: Path) -> None:
    password, key = "s3cr3t" + "Passw0rd9", "sk-" + "ant-" + "a1B2c3D4e5F6g7H8"
    outputs = [
        run(env, "config", "set", f"base_url=https://user:{password}@llm.example.org/v1"),
        run(env, "config", "show"),
        run(env, "config", "--json"),
        run(env, "config", "set", f"base_url=ftp://user:{password}@llm.example.org/v1"),
        run(env, "config", "set", key),
        run(env, "config", "set", f"max_tool_rounds={key}"),
        run(env, "doctor"),
    ]
    assert "llm.example.org" in outputs[1].stdout
    for done in outputs:
        assert password not in done.stdout + done.stderr
        assert key not in done.stdout + done.stderr


def test_what_was_written_by_hand_cannot_command_the_terminal(env: dict[str, str], data_dir: Path) -> None:
    (data_dir / "config.json").write_text(json.dumps({"model": "a\x1b[2Jb"}))
    done = run(env, "config")
    assert "\x1b" not in done.stdout + done.stderr
    assert "The setting model cannot be" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["set", "max_tool_rounds=0"], "The setting max_tool_rounds cannot be '0'"),
        (["set", "max_tool_rounds=" + "9" * 5000], "The setting max_tool_rounds cannot be '999"),
        (["set", "daily_budget_usd=nan"], "The setting daily_budget_usd cannot be 'nan'"),
        (["set", "daily_budget_usd=-1"], "The setting daily_budget_usd cannot be '-1'"),
        (["set", "keep_warm=perhaps"], "it takes true or false"),
        (["set", "model=two\nlines"], "it takes text on one line"),
        (["set", "model=\x1b[2J"], "it takes text on one line"),
        (["set", "model=\udcff"], "it takes text on one line"),
        (["set", "redaction_off_roots=src"], "it takes absolute paths parted by commas"),
        (["set", "model=a", "colour=red"], "There is no setting colour"),
        (["set", "colour=red"], "There is no setting colour"),
        (["unset", "colour"], "There is no setting colour"),
    ],
)
def test_a_bad_change_is_refused_and_changes_nothing(
    env: dict[str, str], data_dir: Path, words: list[str], sentence: str
) -> None:
    done = run(env, "config", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (data_dir / "config.json").exists()


@pytest.mark.parametrize("words", [["set"], ["unset"], ["set", "model"], ["show", "model"], ["get"]])
def test_a_wrong_call_exits_2(env: dict[str, str], words: list[str]) -> None:
    assert run(env, "config", *words).returncode == 2


def test_a_running_server_takes_a_change_over(server: StandIn) -> None:
    done = run(environment(server.data_dir, server.port), "config", "set", "model=c-model")
    assert (done.returncode, done.stderr) == (0, "")
    assert [asked.path for asked in server.asked] == ["/health", "/reload"]


def test_reload_lets_a_server_read_the_settings_again(server: StandIn) -> None:
    done = run(environment(server.data_dir, server.port), "config", "reload")
    assert (done.returncode, done.stdout, done.stderr) == (0, "The server has read the settings again.\n", "")
    assert server.asked[-1].path == "/reload"


def test_a_change_that_the_running_server_refuses_is_kept_and_fails_with_its_sentence(server: StandIn) -> None:
    server.routes["POST /reload"] = lambda asked: refusal(400, "bad-setting", "The setting model cannot be that.")
    done = run(environment(server.data_dir, server.port), "config", "set", "model=c-model")
    sentence = "live-memory: Written, but not in force yet: The setting model cannot be that.\n"
    assert (done.returncode, done.stderr) == (1, sentence)
    assert json.loads((server.data_dir / "config.json").read_text()) == {"model": "c-model"}


def test_a_change_that_something_else_overrides_says_so(env: dict[str, str]) -> None:
    done = run({**env, "LIVE_MEMORY_MODEL": "d-model"}, "config", "set", "model=e-model")
    assert done.returncode == 0
    assert "LIVE_MEMORY_MODEL wins over config.json" in done.stderr


def test_a_port_that_claude_code_does_not_connect_to_is_warned_of(env: dict[str, str], data_dir: Path) -> None:
    (data_dir / "port").write_text("17711\n")
    without_port = {name: value for name, value in env.items() if name != "LIVE_MEMORY_PORT"}
    done = run(without_port, "config", "set", "port=17712")
    assert done.returncode == 0
    assert "Claude Code connects to port 17711" in done.stderr


def test_a_running_server_can_be_told_to_read_the_settings_again(env: dict[str, str], server: StandIn) -> None:
    done = run({**env, **server.environment}, "config", "reload")
    assert done.returncode == 0
    assert len(server.bodies("/reload")) == 1
