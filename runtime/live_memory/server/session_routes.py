"""The routes of Claude Code's sessions: what hooks tell of them, and what became of them."""

from __future__ import annotations

from live_memory.memory.capture.reports import session_report
from live_memory.memory.library import SessionStart
from live_memory.server import bodies, fields
from live_memory.server.http import Request, Response, json_response
from live_memory.server.route import Route, Routes
from live_memory.server.state import ServerState


async def session(state: ServerState, request: Request) -> Response:
    """A session starts, ends, has had a turn, or is about to be compacted."""
    report = session_report(bodies.json_object(request.body))
    state.desk.note_client()
    if report.event == "session-start":
        state.library.session_started(SessionStart(report.session_id, report.source))
    await state.capture.report(report)
    return json_response({"status": "noted"})


async def sessions(state: ServerState, request: Request) -> Response:
    """The sessions that were told of, newest first: of one place, or those whose id begins as named."""
    cwd, session_id = fields.text(request.query, "cwd"), fields.text(request.query, "session_id")
    return json_response({"sessions": await state.capture.sessions(cwd, session_id)})


ROUTES: Routes = {
    ("POST", "/session"): Route(session, "desk"),
    ("GET", "/sessions"): Route(sessions, "desk"),
}
