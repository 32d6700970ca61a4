"""The PreToolUse hook on Live Memory's own tools: fills in the session's `cwd` and allows the call. Never talks to the server."""

from __future__ import annotations

import os
import sys

import _quick


def permission(event: object) -> dict[str, object]:
    """The hook's answer: allow, with `cwd` filled in where the model left it out or wrote a relative one."""
    answer: dict[str, object] = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    told = event if isinstance(event, dict) else {}
    asked = told.get("tool_input")
    arguments = asked if isinstance(asked, dict) else {}
    cwd = arguments.get("cwd")
    session_cwd = told.get("cwd")
    if session_cwd and not (isinstance(cwd, str) and os.path.isabs(cwd)):
        answer["updatedInput"] = {**arguments, "cwd": session_cwd}
    return {"hookSpecificOutput": answer}


if __name__ == "__main__":
    sys.stdout.write(_quick.render(permission(_quick.parse(sys.stdin.buffer.read().decode()))))
