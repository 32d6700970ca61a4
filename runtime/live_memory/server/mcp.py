"""The MCP endpoint: the tools, answered in prose, over the SDK's stateless streamable HTTP.

It keeps no session. The session id that a handshake client gets is a name the client carries, so that its
`notifications/cancelled` finds the call it means; the server accepts any, also one it gave out before a restart.
Token, Host, Origin and the body's size have been judged before a request comes here.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.types.jsonrpc import INVALID_PARAMS

from live_memory.agent.answers import Answer, Question
from live_memory.agent.jobs import Jobs
from live_memory.errors import QuestionError
from live_memory.server import bodies, note_calls
from live_memory.server.asgi import Message, Receive, Scope, Send
from live_memory.server.definition import ToolDefinition
from live_memory.server.note_tools import NOTE_TOOL_NAMES, NOTE_TOOLS
from live_memory.server.plain_mcp import unknown_tool
from live_memory.server.routes import DRAINING, MCP_PATH, explain
from live_memory.server.state import ServerState
from live_memory.server.tool import ASK, INSTRUCTIONS, JOB_TOOLS, RESULT_NAME, SUBMIT_NAME, TOOL_NAME

PROGRESS_INTERVAL_S = 3.0
SESSION_HEADER = "mcp-session-id"
REQUEST_CANCELLED = -32800  # what the SDK itself answers to a cancelled request of the handshake era
RESULT_PATIENCE_S = 10.0  # how long a fetch waits before it says that the answer is not there yet


class Endpoint:
    """Serves `/mcp`. Owned by one event loop, between `running()`'s beginning and end."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._jobs = Jobs(state.desk.ask, state.clock)
        self._calls: dict[tuple[str, str], asyncio.Task[Answer]] = {}
        server: Server[Any] = Server(
            "live-memory",
            version=state.version,
            title="Live Memory",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )
        # One gate, not two that could disagree: no `security_settings`, and no bound on a body that has one already.
        self._manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=sys.maxsize)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The time in which requests can be served; enter and leave it in one task."""
        async with self._manager.run():
            try:
                yield
            finally:
                await self._jobs.close()

    async def serve(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """One POST, whose `body` has been read from `receive`."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        method, params = _method_and_params(body)
        if method == "notifications/cancelled":
            self._cancel(headers.get(SESSION_HEADER, ""), params.get("requestId"))
        if method == "initialize":
            send = _naming_the_session(send)
        await self._manager.handle_request(scope, _replaying(body, receive), send)

    async def _list_tools(
        self, _context: ServerRequestContext[Any, Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        offered = (ASK, *NOTE_TOOLS, *(JOB_TOOLS if self._state.settings.async_tools else ()))
        return types.ListToolsResult(tools=[_tool(each) for each in offered])

    async def _call_tool(
        self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        fields = params.arguments or {}
        offers_jobs = self._state.settings.async_tools
        try:
            if params.name == TOOL_NAME:
                return _prose((await self._answer(context, bodies.question(fields))).with_trailer())
            if params.name in NOTE_TOOL_NAMES:
                return _prose(await note_calls.result(self._state, params.name, fields))
            if params.name == SUBMIT_NAME and offers_jobs:
                return _prose(self._submitted(fields))
            if params.name == RESULT_NAME and offers_jobs:
                return _prose(await self._fetched(fields))
        except MCPError:
            raise
        except Exception as error:
            _, _, sentence = explain(MCP_PATH, error)
            return _failure(sentence)
        raise MCPError(INVALID_PARAMS, unknown_tool(params.name))

    def _submitted(self, fields: Mapping[str, object]) -> str:
        if self._state.phase.status == "draining":
            raise QuestionError("draining", DRAINING, status=503)
        job_id = self._jobs.submit(bodies.question(fields))
        return f"[submitted] job_id={job_id}: fetch the answer with {RESULT_NAME}."

    async def _fetched(self, fields: Mapping[str, object]) -> str:
        job_id = bodies.required_text(fields, "job_id", f"what {SUBMIT_NAME} returned")
        answer = await self._jobs.collect(job_id, RESULT_PATIENCE_S)
        return answer.with_trailer() if answer else f"[running] job_id={job_id}: fetch it again in a moment."

    async def _answer(self, context: ServerRequestContext[Any, Any], question: Question) -> Answer:
        """The desk's answer, with progress to the caller while it is made; MCPError when the caller cancelled."""
        lines: deque[str] = deque()
        news = asyncio.Event()

        def note(line: str) -> None:
            lines.append(line)
            news.set()

        # A task of its own, so that the desk gets one cancellation, and not one at every await as in a cancelled scope.
        work = asyncio.create_task(self._state.desk.ask(question, note))
        work.add_done_callback(_retrieve_failure)
        call = (_session_of(context), str(context.request_id))
        self._calls[call] = work
        try:
            await _report_until_done(context, work, lines, news)
            return work.result()
        except asyncio.CancelledError:
            if not work.cancelled():
                raise
            if self._state.phase.status == "draining":
                raise QuestionError("draining", DRAINING) from None
            raise MCPError(REQUEST_CANCELLED, "Request cancelled") from None
        finally:
            work.cancel()
            if self._calls.get(call) is work:
                del self._calls[call]

    def _cancel(self, session: str, request_id: object) -> None:
        work = self._calls.get((session, str(request_id)))
        if session and work is not None:
            work.cancel()


def _tool(definition: ToolDefinition) -> types.Tool:
    return types.Tool.model_validate(definition.to_json())


async def _report_until_done(
    context: ServerRequestContext[Any, Any], work: asyncio.Task[Answer], lines: deque[str], news: asyncio.Event
) -> None:
    """Send every line as progress, and the last one again when nothing new came for a while."""
    sent, line = 0, "Working"
    while not work.done():
        with_news = asyncio.ensure_future(news.wait())
        try:
            await asyncio.wait((work, with_news), timeout=PROGRESS_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            with_news.cancel()
        news.clear()
        if not work.done() and not lines:
            lines.append(line)
        while lines:
            sent, line = sent + 1, lines.popleft()
            await context.session.report_progress(sent, message=line)


def _retrieve_failure(work: asyncio.Task[Answer]) -> None:
    """Take note of how a call ended that nobody waits for any more, so that asyncio does not complain about it."""
    if not work.cancelled():
        work.exception()


def _prose(text: str) -> types.CallToolResult:
    """Plain text only: structured output would be shown to the model as JSON with the prose quoted inside."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=False)


def _failure(sentence: str) -> types.CallToolResult:
    """What went wrong, for the model to read."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=sentence)], is_error=True)


def _session_of(context: ServerRequestContext[Any, Any]) -> str:
    return context.request.headers.get(SESSION_HEADER, "") if context.request is not None else ""


def _method_and_params(body: bytes) -> tuple[str, Mapping[str, object]]:
    """What a JSON-RPC message is about; empty when it is none, which the SDK will say in its own words."""
    try:
        message = bodies.json_object(body)
    except QuestionError:
        return "", {}
    params = message.get("params")
    return str(message.get("method", "")), params if isinstance(params, dict) else {}


def _replaying(body: bytes, receive: Receive) -> Receive:
    """`receive` as if the body had not been read yet."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return pending.pop() if pending else await receive()

    return receive_again


def _naming_the_session(send: Send) -> Send:
    """`send` that also gives the client a session id to carry."""
    header = (SESSION_HEADER.encode(), secrets.token_urlsafe(16).encode())

    async def send_named(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], header]}
        await send(message)

    return send_named
