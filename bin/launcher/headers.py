"""`headers`: what Claude Code runs before each connection. Makes sure that a server is up, then prints the auth header.

The token is printed only for a port where our server has proved itself. Fast when the server is up: one challenge.
"""

from __future__ import annotations

import os
import sys

import _client
from launcher import ensure, paths

WAIT_S = 8.0  # Claude Code ends the helper after 10 s


def run(arguments: list[str]) -> int:
    """`headers`: one JSON object of headers on stdout; exit 1 and a sentence when there is no server to show it to."""
    flags = paths.parse_flags(arguments, {"--data-dir": "value"})
    url = os.environ.get("CLAUDE_CODE_MCP_SERVER_URL", "")
    place = paths.place(flags.get("--data-dir"), server_url=url)
    # A server that is still installing takes the connection as well, so that the tool is there in the first turn.
    ensure.ensure_server(place, until="answering", wait_s=WAIT_S)
    record_port(place, paths.url_port(url))
    # No JSON module for a token of letters, digits, - and _: importing one takes as long as all the rest.
    sys.stdout.write(f'{{"Authorization": "Bearer {_client.read_token(place.data_dir)}"}}\n')
    return 0


def record_port(place: paths.Place, url_port: int) -> None:
    """Keep the port that Claude Code uses, for hooks and the command line that see no url."""
    if url_port and paths.recorded_port(place.data_dir) != url_port:
        paths.write_whole(os.path.join(place.data_dir, paths.PORT_FILE), f"{url_port}\n")
