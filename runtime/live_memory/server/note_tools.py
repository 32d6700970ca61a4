"""The tools of the notes as their callers see them. Pure.

Claude Code keeps them behind its tool search (`alwaysLoad` of the server is for ask_live_memory): the table of contents
names them, and so do the server's instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from live_memory.notes.note import Kind, Status
from live_memory.server.definition import ToolDefinition
from live_memory.server.tool import READS

KINDS = [kind for kind in get_args(Kind) if kind != "fact"]
STATUSES = [status for status in get_args(Status) if status]
TEXT = {"type": "string"}
IDS = {"type": "array", "items": {"type": "string"}}
KIND = {"type": "string", "enum": KINDS}
STATUS = {"type": "string", "enum": STATUSES}
SINCE = {"type": "string", "description": "2026-05-01, or 7d."}


def _meta(hint: str) -> Mapping[str, object]:
    """What keeps a tool behind Claude Code's tool search, and lets that find it."""
    return {"anthropic/alwaysLoad": False, "anthropic/searchHint": hint}


WRITES: Mapping[str, object] = {**READS, "readOnlyHint": False}


def _schema(required: list[str], **properties: object) -> Mapping[str, object]:
    return {"type": "object", "properties": {**properties, "cwd": TEXT}, "required": required}


SEARCH = ToolDefinition(
    "memory_search",
    "Search notes",
    "Search what was noted in earlier sessions about this repository and this user: decisions and why, root causes, "
    "preferences, references, open work. Use it before you answer about past work, decide something anew, or debug what "
    'may have come up before. Words in any language, identifiers, paths, "exact phrases". Gives one line '
    "a note; fetch the texts with memory_get.",
    _schema(
        ["query"],
        query=TEXT,
        limit={"type": "integer", "minimum": 1, "maximum": 50},
        kind=KIND,
        status=STATUS,
        since=SINCE,
        scope={"type": "string", "enum": ["all", "repo", "global"]},
        symbol=TEXT,
        path={"type": "string", "description": "A file or folder that notes rest on."},
    ),
    READS,
    _meta("recall what was decided or found out in earlier sessions"),
)

GET = ToolDefinition(
    "memory_get",
    "Fetch notes",
    "Fetch notes whole, all ids in one call. follow_refs adds the notes they cite or replaced (where does this come from?), "
    "backlinks those that cite them (which rules apply to this topic?), up to depth steps. STALE means that a file a note "
    "rests on has changed since: check it before you rely on the note.",
    _schema(
        ["ids"],
        ids=IDS,
        follow_refs={"type": "boolean"},
        backlinks={"type": "boolean"},
        depth={"type": "integer", "minimum": 1, "maximum": 8},
    ),
    READS,
    _meta("read remembered notes by id"),
)

SAVE = ToolDefinition(
    "memory_save",
    "Save a note",
    "Keep something for later sessions: when the user asks you to remember it, when something was decided (with its reason), "
    "when a root cause was found, when the user states a preference, and where work was left open. Not what the code says by "
    "itself, passing states, or secrets. One topic a note. Search first; to change a note pass its id and what changes, to "
    "replace one name it in supersedes. #id in the body links to a note.",
    _schema(
        [],
        title={"type": "string", "description": "The point in one line; needed for a new note."},
        body={"type": "string", "description": "Facts, reasons, exact names; clear without this conversation."},
        kind=KIND,
        description={"type": "string", "description": "Other words it may be looked for by."},
        id=TEXT,
        status=STATUS,
        refs=IDS,
        supersedes=IDS,
        priority={"type": "string", "enum": ["P0", "P1", "P2"], "description": "P0 stays, P1 90 days unused, P2 30."},
        scope={"type": "string", "enum": ["repo", "global"], "description": "global: true in every repository."},
        files={**IDS, "description": "Files it rests on."},
    ),
    WRITES,
    _meta("remember something for later sessions"),
)

TOC = ToolDefinition(
    "memory_toc",
    "List notes",
    "List what is noted, one line each, open ones first: what the session began with, anew or narrowed.",
    _schema([], since=SINCE, status=STATUS, kind=KIND),
    READS,
    _meta("list remembered notes"),
)

NOTE_TOOLS = (SEARCH, GET, SAVE, TOC)
NOTE_TOOL_NAMES = frozenset(tool.name for tool in NOTE_TOOLS)
