"""How long a note lives: by its priority, which goes by its kind unless somebody says otherwise; a use renews it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from live_memory.notes.note import Kind, Note, Priority

DAY_S = 86_400.0
LIFE_DAYS: Mapping[Priority, int | None] = {"P0": None, "P1": 90, "P2": 30}

# What was decided or is wished for holds until somebody says otherwise; what was found out may be found out again.
PRIORITIES: Mapping[Kind, Priority] = {
    "decision": "P0",
    "preference": "P0",
    "state": "P0",
    "root-cause": "P1",
    "project": "P1",
    "reference": "P1",
    "concept": "P1",
    "fact": "P1",
    "session": "P2",
}

# What am-memory called the kinds of what it was given, and a word of ours that only windows use.
KINDS_BY_SOURCE: Mapping[str, tuple[Kind, Priority | None]] = {
    "architectural_decision": ("decision", None),
    "debug_solution": ("root-cause", None),
    "technical_insight": ("reference", None),
    "session_note": ("session", None),
    "routine": ("project", "P2"),
    "fact": ("reference", None),
}


def default_priority(kind: Kind) -> Priority:
    """The priority of a note of which nobody said how much it matters."""
    return PRIORITIES[kind]


def expiry(priority: Priority, now_s: float) -> float | None:
    """When a note of that priority expires unless it is used before; None never."""
    days = LIFE_DAYS[priority]
    return None if days is None else now_s + days * DAY_S


def renewed(note: Note, now_s: float) -> Note:
    """The note after one more use. Use says nothing about truth: when it was verified stays as it was."""
    later = expiry(note.priority, now_s)
    kept = note.expires_at_s
    expires_at_s = None if kept is None or later is None else max(kept, later)
    used_at_s = max(note.used_at_s, now_s)
    return replace(note, use_count=note.use_count + 1, used_at_s=used_at_s, expires_at_s=expires_at_s)
