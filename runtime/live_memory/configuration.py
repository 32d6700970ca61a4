"""The settings in force, and the one place that reads the environment.

A value comes from `LIVE_MEMORY_<NAME>`, else the plugin's userConfig, else config.json, else the default.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from live_memory.errors import ConfigError
from live_memory.setting_rows import Value
from live_memory.settings import SETTINGS, Settings, listed

CONFIG_FILE = "config.json"
USER_CONFIG_FILE = "user-config.json"  # what Claude Code's plugin options said last, written by the SessionStart hook

Source = Literal["environment", "userConfig", "config.json", "default"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings in force, where each came from, and the provider keys found beside them (names only are printable)."""

    settings: Settings
    sources: Mapping[str, Source]
    provider_keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    home: Path = field(default_factory=Path.home)


PROVIDER_KEY_NAMES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    "DEEPSEEK_API_KEY",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
    "MOONSHOT_API_KEY",
    "ZAI_API_KEY",
    "CEREBRAS_API_KEY",
    "DASHSCOPE_API_KEY",
)


def load(data_dir: Path, environ: Mapping[str, str] | None = None) -> Configuration:
    """The configuration as the environment and the files of `data_dir` give it now; ConfigError names the first bad value."""
    env = os.environ if environ is None else environ
    layers: tuple[tuple[Source, Mapping[str, object]], ...] = (
        ("environment", {name: env[row.env_name] for name, row in SETTINGS.items() if env.get(row.env_name)}),
        ("userConfig", read_config_file(data_dir / USER_CONFIG_FILE)),
        ("config.json", read_config_file(data_dir / CONFIG_FILE)),
    )
    unset: tuple[Source, object] = ("default", None)
    values: dict[str, Value] = {}
    sources: dict[str, Source] = {}
    for name, row in SETTINGS.items():
        source, raw = next(((s, layer[name]) for s, layer in layers if _is_set(layer.get(name))), unset)
        values[name] = row.default if raw is None else row.parse(raw)
        sources[name] = source
    _check_watermarks(values)
    _check_roots(str(values["redaction_off_roots"]))
    _check_address("semantic_base_url", str(values["semantic_base_url"]))
    keys = {name: env[name] for name in PROVIDER_KEY_NAMES if env.get(name)}
    # expanduser, for Path.home() raises where a container's user has no entry and no HOME.
    home = Path(env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~"))
    return Configuration(Settings(**values), sources, keys, home)  # type: ignore[arg-type]  # parsed by row


def _check_watermarks(values: Mapping[str, object]) -> None:
    floor, threshold = values["compaction_floor"], values["compaction_threshold"]
    if isinstance(floor, (int, float)) and isinstance(threshold, (int, float)) and floor >= threshold:
        raise ConfigError(
            f"The setting compaction_floor cannot be {floor:g}: it must be below compaction_threshold, which is {threshold:g}."
        )


def _check_roots(raw: str) -> None:
    for root in listed(raw):
        if not os.path.isabs(root):
            raise ConfigError(
                f"The setting redaction_off_roots cannot hold {root!r}: it takes absolute paths parted by commas."
            )


def _check_address(name: str, raw: str) -> None:
    if raw and not raw.startswith(("http://", "https://")):
        raise ConfigError(f"The setting {name} cannot be what it is: an address starts with http:// or https://.")


def _is_set(raw: object) -> bool:
    return raw is not None and raw != ""


def read_config_file(path: Path) -> dict[str, object]:
    """The JSON object in `path`; empty when there is no file. ConfigError when it is not one, or names no known setting."""
    content = _json_object(path)
    _refuse_unknown(path, content)
    return content


def _refuse_unknown(path: Path, content: Mapping[str, object]) -> None:
    unknown = sorted(set(content) - set(SETTINGS))
    if unknown:
        raise ConfigError(
            f"{path} names the unknown setting {unknown[0]}; `live-memory config unset {unknown[0]}` takes it out, "
            "docs/settings.md has the names."
        )


def _json_object(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read as JSON ({error}); mend or remove it.") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} must hold a JSON object of settings; mend or remove it.")
    return content


def change_config_file(data_dir: Path, changes: Mapping[str, str | None]) -> None:
    """Set (text) or unset (None) settings in config.json, readable by the owner only; what another version wrote there may be
    unset as well. ConfigError changes nothing."""
    path = data_dir / CONFIG_FILE
    content = _json_object(path)
    strange = {name for name, raw in changes.items() if raw is None and name in content}
    unknown = sorted(set(changes) - set(SETTINGS) - strange)
    if unknown:
        raise ConfigError(f"There is no setting {unknown[0]}; `live-memory config show` lists them.")
    for name, raw in changes.items():
        if raw is None:
            content.pop(name, None)
        else:
            content[name] = SETTINGS[name].parse(raw)
    if any(raw is not None for raw in changes.values()):
        _refuse_unknown(path, content)
    _check_watermarks({name: content.get(name, row.default) for name, row in SETTINGS.items()})
    _check_roots(str(content.get("redaction_off_roots", "")))
    _check_address("semantic_base_url", str(content.get("semantic_base_url", "")))
    write_private(path, json.dumps(content, indent=2, sort_keys=True) + "\n")


def write_private(path: Path, text: str) -> None:
    """Replace `path` whole, readable by the owner only (0600); a crash leaves the old content or the new."""
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(staging, path)
