"""JSON-RPC as the bridge meets it: which headers a message needs over HTTP, and errors as replies. Pure.

MCP has two eras. Up to 2025-11-25 a client shakes hands (`initialize`) and later names the agreed version in a header;
from 2026-07-28 every request carries its version in `params._meta` and mirrors version, method and name in headers.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

Message = dict[str, Any]
PARSE_ERROR = -32700  # the codes of JSON-RPC 2.0
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
CONNECTION_CLOSED = -32000  # the code of the MCP SDKs for a peer that went away

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
# Method → the parameter that is mirrored as `Mcp-Name` (MCP 2026-07-28, Streamable HTTP, "Standard headers").
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Handshake(NamedTuple):
    """What the handshake of the old era agreed on: each None before it, or where the server names none."""

    version: str | None = None
    session_id: str | None = None


def own_version(message: Message) -> str | None:
    """The protocol version that a message of the new era carries itself; None in the old one."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


def headers(message: Message, handshake: Handshake) -> dict[str, str]:
    """What the message's POST says in its headers."""
    version = own_version(message)
    named = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if version is None:
        if message.get("method") != "initialize":
            agreed = {"MCP-Protocol-Version": handshake.version, "Mcp-Session-Id": handshake.session_id}
            named.update((name, value) for name, value in agreed.items() if value)
        return {name: _encoded(value) for name, value in named.items()}
    method = str(message.get("method"))
    named["MCP-Protocol-Version"] = version
    named["Mcp-Method"] = method
    name = message["params"].get(NAMED_BY.get(method, ""))
    if isinstance(name, str):
        named["Mcp-Name"] = name
    return {name: _encoded(value) for name, value in named.items()}


def _encoded(value: str) -> str:
    """`value` where a header can carry it, else in MCP's base64 wrapping."""
    is_plain = value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?base64?")
    return value if is_plain else "=?base64?" + base64.b64encode(value.encode("utf-8")).decode("ascii") + "?="


def failure(identifier: object, code: int, message: str) -> Message:
    """The reply that says why there is none."""
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}


def is_reply(message: Message) -> bool:
    """Whether the message answers a request, well or badly."""
    return "method" not in message and ("result" in message or "error" in message)
