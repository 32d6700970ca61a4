"""The PostToolUse hook on Claude's file tools, subagents' too: names the file to the server, so that the window knows it.

Only the path goes out. The server reads the same disk: it sees the file whole and as it is now, also after a partial Read
or the edit of a notebook's cell, and it alone decides what may be read (ADR-0024).
"""

from __future__ import annotations

import os

import _event

EVENTS = {"Read": "read", "Write": "write", "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit"}


def main(event: dict[str, object]) -> None:
    what, arguments = EVENTS.get(_event.text(event, "tool_name")), event.get("tool_input")
    if what is None or not isinstance(arguments, dict):
        return
    cwd = _event.text(event, "cwd")
    path = _event.text(arguments, "notebook_path" if "notebook_path" in arguments else "file_path")
    _event.Wire().post("/notify", {"cwd": cwd, "event": what, "paths": [os.path.join(cwd, path)]})


if __name__ == "__main__":
    with _event.harmless:
        main(_event.told())
