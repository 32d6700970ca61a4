"""Who may talk to us: the token, and the Host and Origin that keep a web page's requests out. Pure."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from live_memory.server.http import Response, error_response

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
HTTP_PORT = 80
CHALLENGE_MAX_CHARS = 256


def foreign(headers: Mapping[str, str], port: int) -> Response | None:
    """The refusal of a request that names another host than this one, or comes from another origin's page; else None.

    A DNS name rebound to 127.0.0.1 still shows in Host, a foreign page in Origin."""
    hosts = loopback_hosts(port)
    if headers.get("host", "").lower() not in hosts:
        return error_response(403, "foreign-host", f"The Host header must be 127.0.0.1:{port} or localhost:{port}.")
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in {f"http://{host}" for host in hosts}:
        return error_response(403, "foreign-origin", "Requests from other web pages are not accepted.")
    return None


def loopback_hosts(port: int) -> frozenset[str]:
    """Every Host that means this server; the port may be left out only where HTTP leaves it out."""
    with_port = {f"{name}:{port}" for name in LOOPBACK_NAMES}
    return frozenset(with_port | set(LOOPBACK_NAMES) if port == HTTP_PORT else with_port)


def unauthorized(headers: Mapping[str, str], token: str) -> Response | None:
    """The refusal of a request without the bearer token; else None. The comparison takes constant time."""
    scheme, _, shown = headers.get("authorization", "").partition(" ")
    is_known = hmac.compare_digest(shown.strip().encode("utf-8", "surrogatepass"), token.encode())
    if token and is_known and scheme.lower() == "bearer":
        return None
    return error_response(
        401,
        "unauthorized",
        "This needs the token in the data folder, as `Authorization: Bearer …`; `live-memory headers` prints it.",
        headers={"WWW-Authenticate": 'Bearer realm="live-memory"'},
    )


def proof(token: str, challenge: str) -> str:
    """What only a holder of the token can answer to `challenge`: its HMAC-SHA256, in hex."""
    return hmac.new(token.encode(), challenge.encode(), hashlib.sha256).hexdigest()
