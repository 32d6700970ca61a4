"""A session's own note: its topic, what was done, what is open, for whoever goes on with the work. Pure.

Each takes the place of the one before it. Without a model it holds only what the transcript says by itself: what the user
asked for first and last, and which files were edited.
"""

from __future__ import annotations

import re
from pathlib import Path

from live_memory.memory.capture.proposal import SessionAccount
from live_memory.memory.transcripts import Survey
from live_memory.notes.draft import Draft
from live_memory.notes.note import Status
from live_memory.text.secrets import redact

SESSION_NOTE = "session-"
ID_CHARS = 8
PROMPT_CHARS = 160
MAX_EDITED = 8
DESCRIPTION = "Where the last session left off."


def session_note_id(session_id: str) -> str:
    """`session-` and the beginning of the session's id."""
    short = re.sub(r"[^A-Za-z0-9]+", "", session_id)[:ID_CHARS].lower()
    return f"{SESSION_NOTE}{short or 'unnamed'}"


def session_draft(session_id: str, account: SessionAccount) -> Draft | None:
    """The note of a session; None where there is nothing to tell."""
    if not account.topic:
        return None
    parts = [(heading, lines) for heading, lines in (("Done", account.done), ("Open", account.open)) if lines]
    body = "\n\n".join(f"{heading}:\n" + "\n".join(f"- {line}" for line in lines) for heading, lines in parts)
    status: Status = "open" if account.open else "done"
    return Draft(
        account.topic,
        body or account.topic,
        id=session_note_id(session_id),
        kind="session",
        description=account.open[0] if account.open else DESCRIPTION,
        status=status,
        priority="P2",
        origin="capture",
    )


def plain_account(survey: Survey, root: Path) -> SessionAccount:
    """What the transcript says by itself; nothing of it is anybody's guess."""
    prompts = [_line(text) for _, text in survey.user_texts]
    if not prompts:
        return SessionAccount()
    done = tuple(f"edited {_relative(path, root)}" for path in survey.edited[:MAX_EDITED])
    last = (f"last asked: {prompts[-1]}",) if len(prompts) > 1 else ()
    return SessionAccount(prompts[0], (*done, *last))


def _line(text: str) -> str:
    line = " ".join(redact(text).split())
    return line if len(line) <= PROMPT_CHARS else line[:PROMPT_CHARS] + " …"


def _relative(path: str, root: Path) -> str:
    pure = Path(path)
    return pure.relative_to(root).as_posix() if pure.is_relative_to(root) else path
