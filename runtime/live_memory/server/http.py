"""A request and a response as plain values, so that one route serves under the stdlib server and under Starlette alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request; header names are lower case, `query` holds the last value of each name."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response, whole."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def json_response(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """`value` as UTF-8 JSON; in ASCII where it holds what UTF-8 cannot (a path whose bytes are no text)."""
    try:
        body = json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        body = json.dumps(value).encode()
    return Response(status, body, headers=headers or {})


def error_response(status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None) -> Response:
    """The one shape of every error: `{"error": {"code", "message"}}`."""
    return json_response({"error": {"code": code, "message": message}}, status=status, headers=headers)
