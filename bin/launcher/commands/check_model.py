"""The doctor's look at who answers, and why. No key is ever in what it says."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from launcher import paths
from launcher.commands import runtime_package, servers
from launcher.commands.check import Check
from launcher.errors import LaunchError

PASSAGES = "passages"
SET_ON_PURPOSE = "the setting provider"


class Answering(NamedTuple):
    """Who answers, and why; `problem` instead where nobody can."""

    model: str
    why: str
    problem: str = ""


def model(place: paths.Place) -> Check:
    """As the running server chose, by the environment that it was started in; else as one started here would."""
    here, there = _by_this_environment(place), _by_the_running_server(place)
    chosen = there or here
    if here.problem and chosen.model in ("", PASSAGES):  # a server with a model has what this terminal lacks
        return Check("model", "problem", here.problem, "see docs/settings.md")
    text = f"{chosen.model}, because {chosen.why}"
    if there and not here.problem and here.model != there.model:
        advice = "run `live-memory restart` here to have that"
        return Check("model", "warning", f"{text}; by this terminal's environment it would be {here.model}", advice)
    if chosen.model == PASSAGES and SET_ON_PURPOSE not in chosen.why:
        advice = "for a model's answers set a provider's key, or `live-memory config set provider=… api_key=…`"
        return Check("model", "warning", text, advice)
    return Check("model", "ok", text)


def _by_this_environment(place: paths.Place) -> Answering:
    runtime_package.reachable()
    from live_memory import configuration
    from live_memory.errors import ConfigError
    from live_memory.llm.choice import choose

    try:
        choice = choose(configuration.load(Path(place.data_dir)), now_s=time.time())
    except ConfigError as error:
        return Answering("", "", str(error))
    return Answering(choice.model or PASSAGES, choice.why)


def _by_the_running_server(place: paths.Place) -> Answering | None:
    try:
        live = servers.running(place)
        said = servers.call(live.address, "GET", "/stats") if live else {}
    except LaunchError:
        return None  # what is wrong with the server is a check of its own
    model, why = said.get("model"), said.get("why")
    return Answering(str(model), str(why)) if model and why else None
