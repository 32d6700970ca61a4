"""The HTTP interface as plain functions from a request to a response: what the runtime's app and the stdlib doorman
both serve. MCP itself is not here: where the runtime is whole, its app answers `/mcp` before it asks this table.

A server reads a request in two steps, so that a body is read only when it is wanted: `admit` judges the head, `dispatch`
the whole. Whoever reads the body in between holds it to `body_limit_bytes`.
"""

from __future__ import annotations

import logging
import os
from contextlib import nullcontext

from live_memory.errors import ConfigError, ModelError, QuestionError, StoreError
from live_memory.server import auth, bodies, dream_routes, fields, note_calls, plain_mcp, session_routes
from live_memory.server.http import Request, Response, error_response, json_response
from live_memory.server.note_routes import NOTE_ROUTES
from live_memory.server.route import Route, Routes
from live_memory.server.state import ServerState
from live_memory.server.tool import TOOL_NAME
from live_memory.server.transfer_routes import TRANSFER_ROUTES
from live_memory.text.secrets import redact

logger = logging.getLogger(__name__)

MCP_PATH = "/mcp"
INSTALL_RETRY_S = 1
DRAIN_RETRY_S = 2  # by then the next server has the port
DRAINING = "The server is ending; ask again in a moment."


async def health(state: ServerState, request: Request) -> Response:
    """Who this is and how it is; with `?challenge=` also the proof that it holds the token."""
    challenge = request.query.get("challenge", "")
    if len(challenge) > auth.CHALLENGE_MAX_CHARS:
        return error_response(400, "bad-field", f"challenge may have {auth.CHALLENGE_MAX_CHARS} characters at most.")
    if state.phase.status != "draining" and state.is_orphan:
        logger.warning("draining: the token in the data folder is another's")
        state.drain()
    body: dict[str, object] = {
        "name": "live-memory",
        "version": state.version,
        "status": state.phase.status,
        "pid": os.getpid(),
        "uptime_s": round(state.clock.monotonic_s() - state.started_s, 3),
        "data_dir": str(state.data_dir),
    }
    if challenge:
        body["proof"] = auth.proof(state.token, challenge)
    if state.phase.step:
        body["step"] = state.phase.step
    if state.phase.reason:
        body["reason"] = state.phase.reason
    return json_response(body, headers={"Cache-Control": "no-store"})


async def ask(state: ServerState, request: Request) -> Response:
    """The answer to a question, with its account."""
    answer = await state.desk.ask(bodies.question(bodies.json_object(request.body)))
    return json_response(answer.to_json())


async def stats(state: ServerState, request: Request) -> Response:
    """What the window of a repository holds, what it cost, and how many notes there are; of all together when no `cwd` is
    named. `notes=off` leaves those out, for who asks at every redraw."""
    cwd = request.query.get("cwd", "")
    figures = state.desk.stats(cwd)
    if fields.flag({"notes": request.query.get("notes", "on")}, "notes"):
        figures = {**figures, "notes": await state.library.figures(cwd), "semantic": state.library.meaning_figures()}
    return json_response({**figures, "capture": state.capture.figures(), "dream": state.dreams.figures()})


async def notify(state: ServerState, request: Request) -> Response:
    """News of files that somebody read, wrote or changed."""
    count = await state.desk.observe(bodies.file_notice(bodies.json_object(request.body)))
    return json_response({"status": "noted", "observed": count})


async def watch(state: ServerState, request: Request) -> Response:
    """The files that a session in `cwd` should watch, and what its user has to know of the workspace, if anything."""
    cwd = request.query.get("cwd", "")
    paths, concern = await state.desk.watched_paths(cwd), await state.desk.concern(cwd)
    return json_response({"paths": paths} | ({"concern": concern} if concern else {}))


async def clear(state: ServerState, request: Request) -> Response:
    """Forget the window of a repository."""
    cwd = bodies.cwd(bodies.json_object(request.body))
    await state.desk.clear(cwd)
    return json_response({"status": "cleared", "cwd": cwd})


async def reset(state: ServerState, request: Request) -> Response:
    """Forget the window of a repository and load it anew."""
    cwd = bodies.cwd(bodies.json_object(request.body))
    await state.desk.reset(cwd)
    return json_response({"status": "reset", "cwd": cwd})


async def reload(state: ServerState, request: Request) -> Response:
    """Read the settings again; a bad one is refused and the old ones stay."""
    state.settings = state.desk.reload().settings
    return json_response({"status": "reloaded"})


async def shutdown(state: ServerState, request: Request) -> Response:
    """End the server once the answers in flight are out."""
    state.drain()
    return json_response({"status": "draining", "pid": os.getpid()})


async def mcp(state: ServerState, request: Request) -> Response:
    """MCP as far as it goes without its SDK; a whole runtime answers before this table is asked."""
    message = plain_mcp.message_of(bodies.json_object(request.body))
    if not message.tool:
        return plain_mcp.reply(message, state.version)
    is_question = message.tool == TOOL_NAME
    if is_question and state.phase.status == "installing" and state.desk.needs_packages():
        return installing(state)
    try:
        if is_question:
            text = (await state.desk.ask(bodies.question(message.arguments))).with_trailer()
        else:
            text = await note_calls.result(state, message.tool, message.arguments)
    except Exception as error:
        return plain_mcp.tool_result(message, explain(MCP_PATH, error)[2], "error", state.version)
    return plain_mcp.tool_result(message, text, "answer", state.version)


ROUTES: Routes = {
    ("GET", "/health"): Route(health, "nothing", access="open"),
    ("POST", MCP_PATH): Route(mcp, "desk"),
    ("POST", "/ask"): Route(ask, "model"),
    ("GET", "/stats"): Route(stats, "nothing"),
    ("POST", "/notify"): Route(notify, "desk"),
    ("GET", "/watch"): Route(watch, "desk"),
    ("POST", "/clear"): Route(clear, "desk"),
    ("POST", "/reset"): Route(reset, "desk"),
    ("POST", "/reload"): Route(reload, "nothing"),
    ("POST", "/shutdown"): Route(shutdown, "nothing"),
    **NOTE_ROUTES,
    **TRANSFER_ROUTES,
    **session_routes.ROUTES,
    **dream_routes.ROUTES,
}


async def dispatch(state: ServerState, request: Request) -> Response:
    """The response to a whole request; nothing but a cancellation is ever raised."""
    refusal = admit(state, request)
    if refusal is not None:
        return refusal
    route = ROUTES[request.method, request.path]
    if len(request.body) > body_limit_bytes(state):
        return too_large(state)
    with state.serving() if route.access == "token" else nullcontext():
        try:
            return await route.handler(state, request)
        except Exception as error:
            return failure(request, error)


def admit(state: ServerState, request: Request) -> Response | None:
    """The refusal that the head of a request calls for (its body need not be read for it); None lets it in."""
    refusal = auth.foreign(request.headers, state.port)
    if refusal is not None:
        return refusal
    route = ROUTES.get((request.method, request.path))
    if route is None or route.access == "token":
        refusal = auth.unauthorized(request.headers, state.token)
    if refusal is not None:
        return refusal
    if route is None:
        return _unrouted(request)
    return _unfit_length(state, request) or _untimely(state, route)


def body_limit_bytes(state: ServerState) -> int:
    """How much of a body may be read at all."""
    return state.settings.max_body_bytes


def too_large(state: ServerState) -> Response:
    """The refusal of a body over the bound, announced or not."""
    limit = body_limit_bytes(state)
    return error_response(413, "too-large", f"The body is over {limit} bytes (the setting max_body_bytes).")


def draining() -> Response:
    """The refusal of a question by a server that is about to end."""
    return _later("draining", DRAINING, DRAIN_RETRY_S)


def failure(request: Request, error: Exception) -> Response:
    """`error` as a response."""
    return error_response(*explain(request.path, error))


def explain(path: str, error: Exception) -> tuple[int, str, str]:
    """Status, code and sentence for `error`: its own where somebody can act on it, else one line and a trace in the log."""
    match error:
        case QuestionError():
            return error.status, error.code, redact(str(error))
        case ConfigError():
            return 400, "bad-setting", redact(str(error))
        case StoreError():
            return 500, "store", redact(str(error))
        case ModelError():
            return 502, "model", redact(str(error))
    logger.error("request failed path=%s", path, exc_info=error)
    return 500, "internal", "This went wrong in the server; `live-memory logs` shows where."


def _unrouted(request: Request) -> Response:
    methods = sorted(method for method, path in ROUTES if path == request.path)
    if not methods:
        return error_response(404, "not-found", "There is no such path; docs/ARCHITECTURE.md lists them.")
    allowed = ", ".join(methods)
    return error_response(405, "bad-method", f"This path takes {allowed} only.", headers={"Allow": allowed})


def _unfit_length(state: ServerState, request: Request) -> Response | None:
    announced = request.headers.get("content-length", "0").strip()
    if not (announced.isascii() and announced.isdigit()):
        return error_response(400, "bad-length", "Content-Length must be a number of bytes.")
    # Compared by digits first: turning a number of a million digits into an int is work that nobody should ask for.
    limit = body_limit_bytes(state)
    digits = announced.lstrip("0")
    return too_large(state) if len(digits) > len(str(limit)) or int(digits or "0") > limit else None


def _untimely(state: ServerState, route: Route) -> Response | None:
    """The refusal of what this phase does not serve."""
    phase = state.phase
    if route.needs == "nothing":
        return None
    if phase.status == "draining":
        return draining()
    if phase.status == "installing" and route.needs == "model" and state.desk.needs_packages():
        return installing(state)
    return None


def installing(state: ServerState) -> Response:
    """The refusal of what needs the packages while they are being installed."""
    step = f" ({state.phase.step})" if state.phase.step else ""
    return _later("installing", f"Live Memory is being set up{step}; ask again in a moment.", INSTALL_RETRY_S)


def _later(code: str, message: str, retry_after_s: int) -> Response:
    return error_response(503, code, message, headers={"Retry-After": str(retry_after_s)})
