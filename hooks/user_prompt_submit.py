"""The UserPromptSubmit hook: hands Claude the notes that bear on the prompt, and keeps silent when there are none.

It has an own limit on the wire, after which the prompt passes untouched.
"""

from __future__ import annotations

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
    recalled = _event.Wire(RECALL_LIMIT_S).post("/recall", body)
    added = _event.add_context("UserPromptSubmit", recalled.get("context"))
    return {"hookSpecificOutput": added} if added else {}


if __name__ == "__main__":
    with _event.harmless:
        _event.answer(main(_event.told()))
