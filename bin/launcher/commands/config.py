"""`live-memory config`: show the settings by topic and where each comes from, set and unset them, and tell a running server.

A secret is written and never shown, nor what looks like one in another setting or in a mistyped word.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from launcher import paths
from launcher.commands import options, runtime_package, servers
from launcher.errors import LaunchError, UsageError
from launcher.terminal import coloured, printable

if TYPE_CHECKING:
    from live_memory.configuration import Configuration

USAGE = "config [show | set NAME=VALUE… | unset NAME… | reload] [--json]"
SECRET_IS_SET = "set"  # noqa: S105  # shown in the place of one
MAX_VALUE_WIDTH = 40  # a longer value pushes what stands behind it aside, and no other line


def run(arguments: list[str]) -> int:
    parsed = options.parse(arguments, USAGE, options.JSON, max_words=None)
    action, words = (parsed.words[0], parsed.words[1:]) if parsed.words else ("show", [])
    place = paths.place()
    if action == "reload" and not words:
        return _reload(place)
    if action == "set" and words:
        _change(place, dict(_assignment(word) for word in words))
    elif action == "unset" and words:
        _change(place, dict.fromkeys(words))
    elif action != "show" or words:
        raise UsageError(f"usage: live-memory {USAGE}")
    configuration = _load(place)
    # What another version wrote into the file may have been unset: this one has nothing to show of it.
    named = [word.partition("=")[0] for word in words]
    names = [name for name in configuration.sources if name in named or action == "show"]
    if options.form(parsed) == "json":
        sys.stdout.write(json.dumps(_table(configuration, names)) + "\n")
    else:
        sys.stdout.write(_by_topic(configuration) if action == "show" else _lines(configuration, names))
    if action != "show":
        _warn_of_what_wins(place, configuration, names)
    return 0


def _reload(place: paths.Place) -> int:
    """Let the server read the settings again, after somebody else changed them."""
    # Started where there is none: one that is just starting may have read the files before they were changed.
    servers.call(servers.started(place).address, "POST", "/reload")
    sys.stdout.write("The server has read the settings again.\n")
    return 0


def _assignment(word: str) -> tuple[str, str]:
    name, separator, value = word.partition("=")
    if not separator or not name:
        raise UsageError(f"{_clean(word)!a} is no NAME=VALUE; usage: live-memory {USAGE}")
    return name, value


def _change(place: paths.Place, changes: Mapping[str, str | None]) -> None:
    """Write the changes and let a running server take them over. LaunchError when either refuses: a value that
    is not allowed is not written, one that the server cannot use by itself, like a provider without its key, is."""
    runtime_package.reachable()
    from live_memory import configuration
    from live_memory.errors import ConfigError

    paths.make_data_dir(place.data_dir)
    try:
        configuration.change_config_file(Path(place.data_dir), changes)
    except ConfigError as error:
        raise LaunchError(_clean(str(error))) from None
    try:
        live = servers.running(place)
        if live is not None:
            servers.call(live.address, "POST", "/reload")
    except LaunchError as error:
        raise LaunchError(f"Written, but not in force yet: {error}") from None


def _load(place: paths.Place) -> Configuration:
    runtime_package.reachable()
    from live_memory import configuration
    from live_memory.errors import ConfigError

    try:
        return configuration.load(Path(place.data_dir))
    except ConfigError as error:
        raise LaunchError(_clean(str(error))) from None


def _table(configuration: Configuration, names: list[str]) -> dict[str, dict[str, object]]:
    return {name: {"value": _public(configuration, name), "source": configuration.sources[name]} for name in names}


def _by_topic(configuration: Configuration) -> str:
    """All settings in columns, each topic under its name."""
    from live_memory.settings import SETTINGS

    topics: dict[str, list[str]] = {}
    for name in configuration.sources:
        topics.setdefault(SETTINGS[name].topic, []).append(name)
    widths = _widths(configuration, list(configuration.sources))
    parts = (
        f"{coloured(topic, 'bold')}\n{_lines(configuration, names, widths, '  ')}" for topic, names in topics.items()
    )
    return "\n".join(parts)


def _lines(
    configuration: Configuration, names: list[str], widths: tuple[int, int] | None = None, indent: str = ""
) -> str:
    """A line for each of `names`: its value, and where that comes from."""
    name_width, value_width = widths or _widths(configuration, names)
    lines = []
    for name in names:
        source = configuration.sources[name]
        origin = coloured(_origin(name, source), "dim" if source == "default" else "green")
        lines.append(f"{indent}{name.ljust(name_width)}  {_shown(configuration, name).ljust(value_width)}  {origin}\n")
    return "".join(lines)


def _widths(configuration: Configuration, names: list[str]) -> tuple[int, int]:
    values = (len(_shown(configuration, name)) for name in names)
    name_width = max(map(len, names), default=0)
    return name_width, max((width for width in values if width <= MAX_VALUE_WIDTH), default=0)


def _shown(configuration: Configuration, name: str) -> str:
    value = _public(configuration, name)
    return (
        printable("" if value is None else str(value).lower() if isinstance(value, bool) else str(value)) or "(empty)"
    )


def _origin(name: str, source: str) -> str:
    """Where a value comes from, as its owner can find it."""
    if source == "environment":
        return f"LIVE_MEMORY_{name.upper()}"
    return "the plugin's option" if source == "userConfig" else source


def _public(configuration: Configuration, name: str) -> object:
    """The value as it may be shown: of a secret only whether there is one, of others what no secret is."""
    from live_memory.settings import SETTINGS

    value = getattr(configuration.settings, name)
    if SETTINGS[name].secret:
        return SECRET_IS_SET if value else ""
    return _clean(value) if isinstance(value, str) else value


def _clean(text: str) -> str:
    """`text` without what looks like a secret: an address may hold a password, a mistyped word a key."""
    runtime_package.reachable()
    from live_memory.text.secrets import redact

    return redact(text)


def _warn_of_what_wins(place: paths.Place, configuration: Configuration, names: list[str]) -> None:
    """Say of each changed setting what keeps the change from being in force."""
    for name in names:
        source = configuration.sources[name]
        if source in ("environment", "userConfig"):
            where = f"LIVE_MEMORY_{name.upper()}" if source == "environment" else "the plugin's option in Claude Code"
            _warn(f"{name} stays as it is: {where} wins over config.json.")
    if "port" in names and configuration.sources["port"] in ("config.json", "default"):
        recorded = paths.recorded_port(place.data_dir)
        if recorded and recorded != configuration.settings.port:
            _warn(f"Claude Code connects to port {recorded}, and that wins: set the plugin's `port` option as well.")
        _warn("A running server keeps its port; `live-memory restart` moves it.")


def _warn(sentence: str) -> None:
    sys.stderr.write(coloured(f"live-memory: {sentence}", "yellow", sys.stderr) + "\n")
