"""The server as the commands meet it: the running one, one that is started where there is none, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import _client
from _client import Address
from launcher import identity, paths
from launcher.errors import LaunchError

CALL_TIMEOUT_S = 30.0  # for what needs no model
OK = 200

Health = dict[str, object]


class Live(NamedTuple):
    """Where the server listens, with our token, and its /health answer."""

    address: Address
    health: Health


class Refusal(LaunchError):
    """The server's own sentence; `code` is the word that its error carries."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ServerLost(LaunchError):
    """The server went away before it had answered."""


def running(place: paths.Place) -> Live | None:
    """The server of `place`, proved to be ours; None when nobody listens. LaunchError when somebody else does."""
    seen = identity.probe(place)
    if seen.kind == "ours":
        return Live(Address(place.port, _client.read_token(place.data_dir)), seen.health)
    if seen.kind in ("silent", "orphan"):
        raise LaunchError(f"The server on port {place.port} does not answer; `live-memory restart` replaces it.")
    if seen.kind == "foreign":
        from launcher import holder

        raise holder.held(place.port, seen.health)
    return None


def started(place: paths.Place) -> Live:
    """The server of `place`, started where there is none; perhaps still installing."""
    from launcher.ensure import ensure_server

    ensured = ensure_server(place, until="answering")
    return Live(Address(place.port, _client.read_token(place.data_dir)), ensured.health)


def settled(place: paths.Place, on_progress: Callable[[Health], None]) -> Live:
    """The same once it has done installing, whole or degraded; `on_progress` gets each /health answer until then."""
    from launcher.ensure import ensure_server

    ensured = ensure_server(place, until="settled", on_progress=on_progress)
    return Live(Address(place.port, _client.read_token(place.data_dir)), ensured.health)


def call(
    address: Address, method: str, path: str, body: object = None, timeout_s: float = CALL_TIMEOUT_S
) -> dict[str, object]:
    """What the server answers; Refusal with its sentence, ServerLost when it went away, LaunchError when it hangs."""
    try:
        status, answer = _client.call(address, method, path, body, timeout_s)
    except _client.NoAnswer as error:
        if "timed out" in str(error):
            sentence = f"The server did not answer within {timeout_s:g} s; `live-memory restart` replaces it."
            raise LaunchError(sentence) from None
        raise ServerLost("The server went away in the middle; `live-memory logs` shows why.") from None
    except _client.Unreachable:
        raise ServerLost("The server went away; ask again to start it.") from None
    if status == OK:
        return answer
    said = answer.get("error")
    if not isinstance(said, dict):
        raise Refusal("", f"The server answered {method} {path.partition('?')[0]} with HTTP status {status}.")
    raise Refusal(str(said.get("code", "")), str(said.get("message", "")))
