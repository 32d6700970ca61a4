"""What a route is, for the modules that hold some."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from live_memory.server.http import Request, Response
from live_memory.server.state import ServerState

Handler: TypeAlias = Callable[[ServerState, Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """`needs` says when it is served: nothing = in every phase; desk = until the server drains; model = also not while
    the packages that the chosen provider needs are being installed."""

    handler: Handler
    needs: Literal["nothing", "desk", "model"]
    access: Literal["token", "open"] = "token"


Routes: TypeAlias = Mapping[tuple[str, str], Route]  # by method and path
