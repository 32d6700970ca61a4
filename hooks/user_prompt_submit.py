"""The UserPromptSubmit hook: hands Claude the notes that bear on the prompt, and keeps silent when there are none. The first
prompt also brings the table of contents where the session's start could not.

It has an own limit on the wire, after which the prompt passes untouched.
"""

from __future__ import annotations

import _beginning
import _event

RECALL_LIMIT_S = 0.3
PROMPT_MAX_CHARS = 100_000  # far above what recall looks at; a pasted log need not go over the wire whole


def main(event: dict[str, object]) -> dict[str, object]:
    """The hook's answer; empty without notes."""
    prompt = _event.text(event, "prompt")
    if prompt.lstrip().startswith("/"):
        return {}
    body = {
        "cwd": _event.text(event, "cwd"),
        "prompt": prompt[:PROMPT_MAX_CHARS],
        "session_id": event.get("session_id"),
    }
    wire = _event.Wire(RECALL_LIMIT_S)
    parts: list[object] = []
    with _event.harmless:
        parts.append(_beginning.owed(event, wire))
    parts.append(wire.post("/recall", body).get("context"))
    context = "\n\n".join(part for part in parts if isinstance(part, str) and part.strip())
    added = _event.add_context("UserPromptSubmit", context)
    return {"hookSpecificOutput": added} if added else {}


if __name__ == "__main__":
    with _event.harmless:
        _event.answer(main(_event.told()))
