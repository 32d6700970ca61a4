"""How the commands about notes talk to the server: it is started where there is none, and asked again where it just gave way
to the next one."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from launcher import paths
from launcher.commands import servers

PASSING = ("draining", "installing")


def path(route: str, query: Mapping[str, str]) -> str:
    """`route` with its query."""
    pairs = (
        f"{name}={quote(value.encode('utf-8', 'surrogateescape'), safe='')}" for name, value in query.items() if value
    )
    return f"{route}?{'&'.join(pairs)}"


def ask(place: paths.Place, method: str, route: str, body: object = None) -> dict[str, object]:
    """What the server answers; LaunchError with its sentence where it refuses."""
    live = servers.started(place)
    try:
        return servers.call(live.address, method, route, body)
    except servers.ServerLost:
        pass
    except servers.Refusal as refusal:
        if refusal.code not in PASSING:
            raise
    live = servers.settled(place, lambda health: None)
    return servers.call(live.address, method, route, body)
