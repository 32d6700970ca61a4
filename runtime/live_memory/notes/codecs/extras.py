"""What a note holds beside its words and its edges, as named texts: the same names in every format that has room for
them. Pure.

A file that names an origin was written by us: what it does not name is empty. Any other is somebody else's, and what it
does not name is filled in by the rules of its kind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from live_memory.notes.codecs import stamps
from live_memory.notes.codecs.base import HOME
from live_memory.notes.lifecycle import default_priority, expiry
from live_memory.notes.note import Note, Origin, Priority
from live_memory.notes.note_json import CHOICES

_STAMPS: Mapping[str, str] = {
    "created": "created_at_s",
    "updated": "updated_at_s",
    "verified": "verified_at_s",
    "used": "used_at_s",
}
NEVER = "never"


def extras(note: Note) -> dict[str, str]:
    """By name, what is worth writing down."""
    named = {"scope": "" if note.scope == HOME else note.scope, "priority": note.priority, "origin": note.origin}
    named |= {name: _stamp(getattr(note, field)) for name, field in _STAMPS.items()}
    named["uses"] = str(note.use_count) if note.use_count else ""
    named["expires"] = "" if note.expires_at_s is None else stamps.written(note.expires_at_s)
    named["sources"] = json.dumps(dict(note.sources), ensure_ascii=True) if note.sources else ""
    named["symbols"] = json.dumps(list(note.symbols), ensure_ascii=True) if note.symbols else ""
    return {name: text for name, text in named.items() if text}


def with_extras(note: Note, named: Mapping[str, str], at_s: float) -> Note:
    """`note` with what `named` says; what cannot be read is passed over. Somebody else's note gets the priority of its
    kind, and a life that begins at `at_s`."""
    changes: dict[str, Any] = {"scope": named.get("scope") or HOME}
    for name, field in _STAMPS.items():
        read_s = stamps.read(named.get(name, ""))
        if read_s is not None:
            changes[field] = read_s
    uses = named.get("uses", "")
    if uses.isascii() and uses.isdigit():
        changes["use_count"] = int(uses[:9])
    changes["sources"] = {path: str(text) for path, text in _json(named.get("sources", ""), dict).items()}
    changes["symbols"] = tuple(str(each) for each in _json(named.get("symbols", ""), list))
    priority = named.get("priority", "")
    known = cast(Priority, priority) if priority in CHOICES["priority"] else default_priority(note.kind)
    changes["priority"] = known
    expires_s = stamps.read(named.get("expires", ""))
    if is_ours(named):
        changes["origin"] = cast(Origin, named["origin"])
        changes["expires_at_s"] = expires_s
    else:
        changes["origin"] = "import"
        changes["expires_at_s"] = expiry(known, at_s) if expires_s is None else expires_s
        if "created_at_s" in changes or "updated_at_s" in changes:
            changes.setdefault("created_at_s", changes.get("updated_at_s"))
            changes.setdefault("updated_at_s", changes["created_at_s"])
    return replace(note, **changes)


def is_ours(named: Mapping[str, str]) -> bool:
    """Whether we wrote it."""
    return named.get("origin", "") in CHOICES["origin"]


def _stamp(at_s: float) -> str:
    return stamps.written(at_s) if at_s else ""


def _json(text: str, kind: type) -> Any:
    try:
        value = json.loads(text) if text else kind()
    except (ValueError, RecursionError):
        return kind()
    return value if isinstance(value, kind) else kind()
