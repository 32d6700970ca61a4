"""MCP without its SDK, for a server whose packages are missing: the handshake, the tool's description, the frame of an answer.

A client that connects while the packages are being installed has its tool at once, and notices nothing when they are
there: what it sees here is what the SDK says (a test compares them). Absent: progress, cancelling by message (hanging up
does it), subscriptions. Pure.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from live_memory.server.http import Response, json_response
from live_memory.server.note_tools import NOTE_TOOLS
from live_memory.server.tool import ASK, INSTRUCTIONS, TOOL_NAME

CALL_TOOL = "tools/call"
SESSION_HEADER = "mcp-session-id"
SESSION_BYTES = 16

# The era of the handshake: the version is agreed on once, the newest where the client's is unknown.
HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
# The era after it: each request names its version and stands alone.
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
MODERN_VERSIONS = ("2026-07-28",)

METHOD_NOT_FOUND = -32601  # JSON-RPC 2.0
INVALID_PARAMS = -32602
UNSUPPORTED_VERSION = -32022  # MCP 2026-07-28

TOOLS = (ASK, *NOTE_TOOLS)
TOOL_NAMES = frozenset(tool.name for tool in TOOLS)
CAPABILITIES: Mapping[str, object] = {"tools": {"listChanged": False}}
CACHING: Mapping[str, object] = {"cacheScope": "private", "ttlMs": 0}


@dataclass(frozen=True, slots=True)
class Message:
    """A JSON-RPC message; `id` is None for one that wants no reply, `modern_version` empty in the era of the handshake."""

    method: str
    id: object
    params: Mapping[str, object]
    modern_version: str

    @property
    def tool(self) -> str:
        """Which of our tools is called; empty when none of them is."""
        name = self.params.get("name")
        return name if self.method == CALL_TOOL and isinstance(name, str) and name in TOOL_NAMES else ""

    @property
    def arguments(self) -> Mapping[str, object]:
        """What a tool is called with."""
        arguments = self.params.get("arguments")
        return arguments if isinstance(arguments, dict) else {}


def message_of(fields: Mapping[str, object]) -> Message:
    """The message in a request's JSON object; what is no request counts as one that wants no reply."""
    params = fields.get("params")
    known = params if isinstance(params, dict) else {}
    meta = known.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    method = fields.get("method")
    identifier = fields.get("id") if isinstance(method, str) else None
    return Message(str(method), identifier, known, version if isinstance(version, str) else "")


def reply(message: Message, server_version: str) -> Response:
    """The reply to everything but a call of one of our tools."""
    if message.id is None:
        return Response(202, b"")
    if message.modern_version and message.modern_version not in MODERN_VERSIONS:
        about = {"supported": list(MODERN_VERSIONS), "requested": message.modern_version}
        return _error(message, UNSUPPORTED_VERSION, "Unsupported protocol version", about, status=400)
    if message.method == CALL_TOOL:
        return _error(message, INVALID_PARAMS, unknown_tool(message.params.get("name")))
    known = {"server/discover": _discovery} if message.modern_version else {"initialize": _handshake, "ping": _pong}
    describe = {**known, "tools/list": _tools}.get(message.method)
    if describe is None:
        status = 404 if message.modern_version else 200
        return _error(message, METHOD_NOT_FOUND, "Method not found", message.method, status=status)
    headers = {SESSION_HEADER: secrets.token_urlsafe(SESSION_BYTES)} if message.method == "initialize" else {}
    return _result(message, describe(message, server_version), server_version, headers)


def unknown_tool(name: object) -> str:
    """The refusal of a tool that there is not."""
    return f"Unknown tool: {name}. Ask with {TOOL_NAME}."


def tool_result(message: Message, text: str, kind: Literal["answer", "error"], server_version: str) -> Response:
    """The reply to a call of one of our tools."""
    content = [{"type": "text", "text": text}]
    return _result(message, {"content": content, "isError": kind == "error"}, server_version, {})


def _handshake(message: Message, server_version: str) -> Mapping[str, object]:
    wanted = message.params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0],
        "capabilities": CAPABILITIES,
        "serverInfo": _server(server_version),
        "instructions": INSTRUCTIONS,
    }


def _discovery(message: Message, server_version: str) -> Mapping[str, object]:
    versions = {"supportedVersions": list(MODERN_VERSIONS), "capabilities": CAPABILITIES}
    return {**versions, "instructions": INSTRUCTIONS, **CACHING}


def _tools(message: Message, server_version: str) -> Mapping[str, object]:
    return {"tools": [tool.to_json() for tool in TOOLS], **(CACHING if message.modern_version else {})}


def _pong(message: Message, server_version: str) -> Mapping[str, object]:
    return {}


def _server(version: str) -> Mapping[str, object]:
    return {"name": "live-memory", "title": "Live Memory", "version": version}


def _result(
    message: Message, result: Mapping[str, object], server_version: str, headers: Mapping[str, str]
) -> Response:
    if message.modern_version:
        result = {**result, "resultType": "complete", "_meta": {SERVER_KEY: _server(server_version)}}
    return json_response({"jsonrpc": "2.0", "id": message.id, "result": result}, headers=headers)


def _error(message: Message, code: int, text: str, about: object = None, *, status: int = 200) -> Response:
    error = {"code": code, "message": text, **({} if about is None else {"data": about})}
    return json_response({"jsonrpc": "2.0", "id": message.id, "error": error}, status=status)
