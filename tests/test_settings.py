"""The settings table: where a value comes from, and what is refused."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from live_memory import configuration, settings
from live_memory.errors import ConfigError
from live_memory.text.languages import STOP_WORDS


def test_the_environment_wins_over_the_plugin_options_and_those_over_the_config_file(tmp_path: Path) -> None:
    (tmp_path / "user-config.json").write_text(json.dumps({"port": 1001, "model": "from-plugin"}))
    (tmp_path / "config.json").write_text(json.dumps({"port": 1002, "model": "from-file", "oauth": "off"}))

    loaded = configuration.load(tmp_path, {"LIVE_MEMORY_PORT": "1000"})

    assert (loaded.settings.port, loaded.settings.model, loaded.settings.oauth) == (1000, "from-plugin", "off")
    assert (loaded.sources["port"], loaded.sources["model"]) == ("environment", "userConfig")
    assert (loaded.sources["oauth"], loaded.sources["idle_exit_s"]) == ("config.json", "default")


def test_an_empty_value_counts_as_not_set(tmp_path: Path) -> None:
    (tmp_path / "user-config.json").write_text(json.dumps({"model": "", "base_url": ""}))
    (tmp_path / "config.json").write_text(json.dumps({"model": "from-file"}))

    loaded = configuration.load(tmp_path, {"LIVE_MEMORY_MODEL": ""})

    assert loaded.settings.model == "from-file"
    assert loaded.sources["model"] == "config.json"


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("port", "80", 80),
        ("port", 80.0, None),
        ("port", "0", None),
        ("port", "65536", None),
        ("port", "seven", None),
        ("port", "9" * 400, None),
        ("daily_budget_usd", 10**400, None),
        ("port", True, None),
        ("port", [1], None),
        ("default_timeout_s", "2.5", 2.5),
        ("default_timeout_s", "nan", None),
        ("default_timeout_s", "inf", None),
        ("force_explore_when_cold", "yes", True),
        ("force_explore_when_cold", False, False),
        ("force_explore_when_cold", "maybe", None),
        ("provider", "anthropic", "anthropic"),
        ("provider", "antropic", None),
        ("recall_langs", "it, EN", "it, EN"),
        ("recall_langs", "en,english", None),
    ],
)
def test_a_value_is_taken_as_its_type_or_refused_with_name_value_and_what_is_allowed(
    name: str, raw: object, value: object
) -> None:
    row = settings.SETTINGS[name]
    if value is not None:
        assert row.parse(raw) == value
        return
    with pytest.raises(ConfigError) as refusal:
        row.parse(raw)
    assert str(refusal.value) == f"The setting {name} cannot be {raw!r}: it takes {row.allowed}."


def test_the_languages_of_recall_are_those_whose_words_are_built_in() -> None:
    assert {*settings.SETTINGS["recall_langs"].several} == {*STOP_WORDS}


def test_a_change_is_checked_before_it_is_written_and_the_file_is_private(tmp_path: Path) -> None:
    configuration.change_config_file(tmp_path, {"port": "8080", "api_key": "dummy"})
    before = (tmp_path / "config.json").read_bytes()

    with pytest.raises(ConfigError):
        configuration.change_config_file(tmp_path, {"model": "x", "port": "none"})
    with pytest.raises(ConfigError):
        configuration.change_config_file(tmp_path, {"no_such_setting": "x"})

    assert (tmp_path / "config.json").read_bytes() == before
    assert stat.S_IMODE((tmp_path / "config.json").stat().st_mode) == 0o600
    configuration.change_config_file(tmp_path, {"port": None})
    assert json.loads((tmp_path / "config.json").read_text()) == {"api_key": "dummy"}


def test_what_another_version_wrote_can_be_unset_and_nothing_else_is_changed_before(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"of_tomorrow": 1, "and_more": 2, "port": 8080}')
    with pytest.raises(ConfigError, match="`live-memory config unset and_more` takes it out"):
        configuration.load(tmp_path, {})
    changes: tuple[dict[str, str | None], ...] = ({"of_tomorrow": "2"}, {"of_yesterday": None}, {"model": "m"})
    for refused in changes:
        with pytest.raises(ConfigError):
            configuration.change_config_file(tmp_path, refused)
    configuration.change_config_file(tmp_path, {"and_more": None})
    configuration.change_config_file(tmp_path, {"of_tomorrow": None})
    assert json.loads((tmp_path / "config.json").read_text()) == {"port": 8080}


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"prot": 1}', '{"port": "x"}', "[" * 100_000, '{"port": 1' + "0" * 400 + "}"]
)
def test_a_broken_config_file_is_refused_by_its_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ConfigError, match=r"config\.json|port"):
        configuration.load(tmp_path, {})


def test_a_secret_is_never_shown(tmp_path: Path) -> None:
    loaded = configuration.load(tmp_path, {"LIVE_MEMORY_API_KEY": "dummy-key-1", "ANTHROPIC_API_KEY": "dummy-key-2"})
    assert "dummy-key" not in repr(loaded)


def test_a_compaction_floor_that_is_not_below_the_threshold_is_refused_and_not_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"compaction_floor cannot be 0\.9: it must be below compaction_threshold"):
        configuration.load(tmp_path, {"LIVE_MEMORY_COMPACTION_FLOOR": "0.9"})
    with pytest.raises(ConfigError, match="compaction_floor"):
        configuration.change_config_file(tmp_path, {"compaction_threshold": "0.5"})
    assert not (tmp_path / "config.json").exists()
    configuration.change_config_file(tmp_path, {"compaction_threshold": "0.5", "compaction_floor": "0.3"})
    assert configuration.load(tmp_path, {}).settings.compaction_floor == 0.3


def test_a_user_without_a_home_has_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # KeyError, as for a user without an entry
    assert configuration.load(tmp_path, {}).settings.port == 7711
