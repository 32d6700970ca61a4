"""The event stream of a server's reply: lines in, the text of each event out. Reads nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def events(lines: Iterable[bytes]) -> Iterator[str]:
    """The text of each `message` event, as the WHATWG's "Server-sent events" has it; an event cut off by the end of
    the stream is dropped, as are comments (what keeps the connection alive) and events of other names."""
    name = ""
    parts: list[str] = []
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if not line:
            if parts and name in ("", "message"):
                yield "\n".join(parts)
            name, parts = "", []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "data":
            parts.append(value)
        elif field == "event":
            name = value
