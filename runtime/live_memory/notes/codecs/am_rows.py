"""The rows of am-memory's database as notes. Pure: `store/am_memory.py` reads them.

A document is a note: its whole text, and below it what was distilled from it and is not in it. A document without a project
is global there and here. Its instants are Unix seconds where a program wrote them and Julian days where the table's default
did.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from live_memory.notes.codecs.base import HOME, Decoded, Omission, without_doubles
from live_memory.notes.lifecycle import expiry
from live_memory.notes.note import GLOBAL, Kind, Note, Priority
from live_memory.notes.slugs import slug

Row = Mapping[str, object]

_KINDS: Mapping[str, Kind] = {
    "architectural_decision": "decision",
    "debug_solution": "root-cause",
    "technical_insight": "reference",
    "session_note": "session",
    "session_extract": "session",
    "hook": "reference",
    "file": "reference",
    "dream": "concept",
}
_PRIORITIES: Mapping[str, Priority] = {"P0": "P0", "P1": "P1", "P2": "P2"}
_LISTS = (("key_facts", "Key facts"), ("decisions", "Decisions"), ("metrics", "Metrics"), ("open_items", "Open items"))
_EPOCH_DAYS = 2_440_587.5  # 1970-01-01 as a Julian day
_JULIAN_DAYS = range(1_700_000, 5_373_485)  # the numbers between are no Unix time of our days
_DAY_S = 86_400
_LATEST_S = 253_402_300_800.0
_DESCRIPTION_CHARS = 300
_TITLE_CHARS = 200
_MAX_SYMBOLS = 20
_DEFINED = re.compile(
    r"\b(?:def|class|function|func|fn|interface|struct|enum|trait|type|const|let|var)\s+([A-Za-z_$][\w$]*)"
)
_CALLED = re.compile(r"([A-Za-z_$][\w$.]*)\s*\(")
_NAME = re.compile(r"[A-Za-z_$][\w$.:]*")
_OF_ITS_OWN = re.compile(
    r"current_session_id|session_docs:.*|last_dream.*"
)  # state that only am-memory's own work needs


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows of each table; `relations` as pairs of document numbers."""

    documents: Sequence[Row] = ()
    sessions: Sequence[Row] = ()
    state: Sequence[Row] = ()
    relations: Sequence[tuple[int, int]] = ()
    omissions: Sequence[Omission] = field(default=())


def notes_of(tables: Tables, now_s: float, project: str = "") -> Decoded:
    """What `tables` hold as notes; of a named `project` alone, and what belongs to none. What has expired by `now_s` is
    left out, as am-memory leaves it out."""
    left_out = list(tables.omissions)
    wanted = [row for row in tables.documents if _is_wanted(row, project)]
    if len(wanted) < len(tables.documents):
        left_out.append(
            Omission(f"{len(tables.documents) - len(wanted)} documents", f"of other projects than {project}")
        )
    names = _names(wanted)
    notes: list[tuple[str, Note]] = []
    for row in wanted:
        where = f"document {_text(row.get('doc_id'))}"
        expires_s = instant(row.get("expires_at"))
        if expires_s is not None and expires_s <= now_s:
            left_out.append(Omission(where, "it has expired"))
            continue
        note = _document(row, names, [names[b] for a, b in tables.relations if a == row.get("doc_id") and b in names])
        if note is None:
            left_out.append(Omission(where, "it holds no text"))
        else:
            notes.append((where, note))
    promoted = {_text(row.get("file_path")) for row in tables.documents}
    for row in tables.sessions:
        if f"session:{_text(row.get('session_id'))}" not in promoted and _is_wanted(row, project):
            notes.extend(_session(row, now_s))
    for row in tables.state:
        key = _text(row.get("key"))
        if _OF_ITS_OWN.fullmatch(key):
            left_out.append(Omission(f"state {key}", "am-memory's own bookkeeping"))
        elif key.strip():
            notes.append((f"state {key}", _state(row, key)))
    return without_doubles(notes, left_out)


def instant(value: object) -> float | None:
    """Unix seconds, from Unix seconds or a Julian day; None for what is no time."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < _LATEST_S:
        return None
    if int(value) in _JULIAN_DAYS:
        return (value - _EPOCH_DAYS) * _DAY_S
    return float(value)


def _is_wanted(row: Row, project: str) -> bool:
    return not project or not row.get("project") or row.get("project") == project


def _names(rows: Sequence[Row]) -> dict[object, str]:
    """The id of each document: its title's, with its number where several have that title."""
    bare = {row.get("doc_id"): slug(_title(row)) for row in rows}
    seen: dict[str, int] = {}
    for name in bare.values():
        seen[name] = seen.get(name, 0) + 1
    return {number: name if seen[name] == 1 else f"{name}-{number}" for number, name in bare.items()}


def _title(row: Row) -> str:
    first = (_text(row.get("title")).strip() or _text(row.get("raw_content")).strip() or "Untitled").splitlines()[0]
    return " ".join(first.split())[:_TITLE_CHARS]


def _document(row: Row, names: Mapping[object, str], refs: Sequence[str]) -> Note | None:
    body = _body(row, _text(row.get("raw_content")))
    if not body:
        return None
    source = _text(row.get("source"))
    name = names[row.get("doc_id")]
    created_s = instant(row.get("created_at")) or 0.0
    path = _text(row.get("file_path"))
    if path and not re.match(r"(?:session|dream|concept)[:_]", path):
        body = f"{body}\n\nFile: {path}"
    return Note(
        scope=HOME if row.get("project") else GLOBAL,
        id=name,
        kind=_kind(source, path),
        title=_title(row),
        body=body,
        description=_one_line(row.get("summary")),
        priority=_PRIORITIES.get(_text(row.get("priority")), "P1"),
        origin="import",
        created_at_s=created_s,
        updated_at_s=created_s,
        verified_at_s=created_s,
        used_at_s=instant(row.get("last_accessed_at")) or 0.0,
        expires_at_s=instant(row.get("expires_at")),
        symbols=tuple(_symbols(_list(row.get("code_sigs")))),
        refs=tuple(dict.fromkeys(each for each in refs if each != name)),
    )


def _kind(source: str, path: str) -> Kind:
    if source == "dream" and "concept" not in path:
        return "reference"  # facts that dream found in several sessions
    return _KINDS.get(source, "project")


def _session(row: Row, now_s: float) -> Iterator[tuple[str, Note]]:
    """An ended session that was not made a document, where it says something."""
    body = _body(row, "")
    if not body:
        return
    name = _text(row.get("session_id"))
    ended_s = instant(row.get("ended_at")) or instant(row.get("started_at")) or 0.0
    title = " ".join(_text(row.get("topic")).split())[:_TITLE_CHARS] or f"Session {name[:8]}"
    note = Note(
        scope=HOME if row.get("project") else GLOBAL,
        id=f"session-{slug(name)}",
        kind="session",
        title=title,
        body=body,
        status="open" if _list(row.get("open_items")) else "",
        priority="P2",
        origin="import",
        created_at_s=instant(row.get("started_at")) or ended_s,
        updated_at_s=ended_s,
        verified_at_s=ended_s,
        expires_at_s=expiry("P2", now_s),
    )
    yield f"session {name}", note


def _state(row: Row, key: str) -> Note:
    updated_s = instant(row.get("updated_at")) or 0.0
    return Note(
        scope=HOME,
        id=f"state-{slug(key)}",
        kind="state",
        title=key,
        body=_text(row.get("value")) or "null",
        priority="P0",
        origin="import",
        created_at_s=updated_s,
        updated_at_s=updated_s,
        verified_at_s=updated_s,
    )


def _body(row: Row, whole: str) -> str:
    """The text, its summary where there is no more, and what was distilled beside it."""
    parts = [whole.strip() or _text(row.get("summary")).strip()]
    for column, heading in _LISTS:
        new = [line for line in _list(row.get(column)) if line not in parts[0]]
        if new:
            parts.append(f"{heading}:\n" + "\n".join(f"- {line}" for line in new))
    return "\n\n".join(part for part in parts if part)


def _symbols(lines: Iterable[str]) -> list[str]:
    """The names that lines of code define, call or are."""
    found: dict[str, None] = {}
    for line in lines:
        match = _DEFINED.search(line) or _CALLED.search(line) or _NAME.fullmatch(line.strip())
        if match is not None:
            found.setdefault(match[match.lastindex or 0], None)
    return list(found)[:_MAX_SYMBOLS]


def _list(value: object) -> list[str]:
    """A JSON list's texts, each on one line; a text that is no list is one."""
    text = _text(value).strip()
    try:
        read = json.loads(text) if text else []
    except (ValueError, RecursionError):
        read = [text]
    items = read if isinstance(read, list) else [read]
    return [line for item in items if (line := " ".join((item if isinstance(item, str) else json.dumps(item)).split()))]


def _one_line(value: object) -> str:
    return " ".join(_text(value).split())[:_DESCRIPTION_CHARS]


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
