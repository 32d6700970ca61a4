"""What Claude is given at a session's beginning: the table of contents of the notes.

Where no server could give it then, because the session itself has only now started one, it is owed: a mark in the data
folder says so, and the first prompt that finds a server brings it.
"""

from __future__ import annotations

import os
import time

import _client
import _event

OWED_FOLDER = "owed"
FORGOTTEN_S = 86400.0  # by then nobody goes on with a session that never had a prompt


def table_of_contents(event: dict[str, object], wire: _event.Wire) -> dict[str, object]:
    """The server's answer `{"context", "notes"}`; empty where there was none."""
    where = "?cwd=" + _client.quoted(_event.text(event, "cwd"))
    named = "".join("&%s=%s" % (name, _client.quoted(str(event.get(name, "")))) for name in ("source", "session_id"))
    return wire.get("/toc" + where + named)


def owe(event: dict[str, object]) -> None:
    """Mark the session as one that is owed its table of contents, and forget the marks of old ones."""
    path = _mark(event)
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for name in os.listdir(folder):
        old = os.path.join(folder, name)
        if time.time() - os.stat(old).st_mtime > FORGOTTEN_S:
            os.unlink(old)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))


def owed(event: dict[str, object], wire: _event.Wire) -> str:
    """The table of contents that the session is owed; empty where it has had it, or there is still no server."""
    path = _mark(event)
    if not os.path.exists(path):
        return ""
    table = table_of_contents(dict(event, source="startup"), wire)
    if not table:
        return ""
    os.unlink(path)
    _event.report(dict(event, source="startup"), "session-start", wire)
    context = table.get("context")
    return context if isinstance(context, str) else ""


def _mark(event: dict[str, object]) -> str:
    """The path of the session's mark; ValueError for a session without a name that a file can have."""
    session_id = _event.text(event, "session_id")
    folder = _client.data_dir()
    if not folder or not session_id.replace("-", "").replace("_", "").isalnum():
        raise ValueError("no mark")
    return os.path.join(folder, OWED_FOLDER, session_id)
