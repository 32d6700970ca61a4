"""The route of dreams: the notes of a repository tidied, a rehearsal of that, how far it is, and the last one taken back."""

from __future__ import annotations

from typing import cast, get_args

from live_memory.memory.dream.runner import Mode
from live_memory.server import bodies, fields
from live_memory.server.http import Request, Response, json_response
from live_memory.server.route import Route, Routes
from live_memory.server.state import ServerState


async def dream(state: ServerState, request: Request) -> Response:
    """Dream of the repository of `cwd` as `mode` says; a long run is answered before it ends, and `status` tells the rest."""
    given = bodies.json_object(request.body)
    mode = cast(Mode, fields.word(given, "mode", get_args(Mode), "run"))
    if mode != "status":
        state.desk.note_client()
    return json_response(await state.dreams.dream(bodies.cwd(given), mode))


ROUTES: Routes = {("POST", "/dream"): Route(dream, "desk")}
