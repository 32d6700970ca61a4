"""What a draft makes of a store's note: a new one, a changed one, or one that says it already. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from live_memory.notes.draft import Draft
from live_memory.notes.duplicates import NEAR, coverage
from live_memory.notes.lifecycle import default_priority, expiry
from live_memory.notes.note import Kind, Note, Priority
from live_memory.notes.refs import MAX_REFS, lifted
from live_memory.text.terms import TOKEN, is_identifier

DEFAULT_KIND: Kind = "project"
MAX_SYMBOLS = 32
MAX_SYMBOL_CHARS = 80
MAX_FILES = 32
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]|[\d.,:/-]+")
_PATH = re.compile(r"(?<![\w/\\.@:-])(?:\./)?[\w.@+~-]+(?:/[\w.@+~()\[\]-]+)*")


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found out about a draft: when, and which files it names hold what (path → SHA-256)."""

    now_s: float
    sources: Mapping[str, str]


def symbols_of(text: str) -> tuple[str, ...]:
    """The identifiers that `text` names, as they are written, in order."""
    named = (match.group() for match in TOKEN.finditer(text))
    found = (each for each in named if is_identifier(each) and not _ABBREVIATION.fullmatch(each))
    return tuple(dict.fromkeys(each for each in found if len(each) <= MAX_SYMBOL_CHARS))[:MAX_SYMBOLS]


def paths_of(text: str) -> tuple[str, ...]:
    """What `text` names that may be a file, relative to the root: words with a folder or an ending."""
    named = (match.group().removeprefix("./").rstrip(".") for match in _PATH.finditer(text))
    found = (each for each in named if re.search(r"[^.]\.\w|/", each))
    return tuple(dict.fromkeys(found))[: 2 * MAX_FILES]


def created(draft: Draft, scope: str, note_id: str, findings: Findings) -> Note:
    """The note that a draft makes where there is none."""
    now_s, kind = findings.now_s, draft.kind or DEFAULT_KIND
    priority = cast(Priority, draft.priority) or default_priority(kind)
    return Note(
        scope,
        note_id,
        kind,
        draft.title,
        draft.body,
        draft.description,
        draft.status or "",
        priority,
        draft.origin,
        created_at_s=now_s,
        updated_at_s=now_s,
        verified_at_s=now_s,
        expires_at_s=expiry(priority, now_s),
        sources=dict(findings.sources),
        symbols=_joined(draft.symbols, symbols_of(f"{draft.title}\n{draft.body}"), most=MAX_SYMBOLS),
        refs=_edges(note_id, draft.refs, lifted(draft.body)),
        supersedes=_edges(note_id, draft.supersedes),
    )


def updated(old: Note, draft: Draft, findings: Findings) -> Note:
    """`old` with what the draft says anew. It is verified by that only where its words are, and never older than it was: clocks
    are set back."""
    findings = replace(findings, now_s=max(findings.now_s, old.updated_at_s))
    new = created(
        replace(draft, title=draft.title or old.title, body=draft.body or old.body), old.scope, old.id, findings
    )
    kind = draft.kind or old.kind
    kept_priority = old.priority if old.priority != default_priority(old.kind) else default_priority(kind)
    priority = cast(Priority, draft.priority) or kept_priority
    chosen = tuple(ref for ref in old.refs if ref not in lifted(old.body))
    is_said_anew = bool(draft.title or draft.body)
    return replace(
        new,
        kind=kind,
        description=draft.description or old.description,
        status=old.status if draft.status is None else draft.status,
        priority=priority,
        origin=old.origin,
        created_at_s=old.created_at_s,
        verified_at_s=findings.now_s if is_said_anew else old.verified_at_s,
        used_at_s=old.used_at_s,
        use_count=old.use_count,
        expires_at_s=expiry(priority, findings.now_s),
        sources=findings.sources if is_said_anew else old.sources,
        symbols=new.symbols if is_said_anew else old.symbols,
        refs=_edges(old.id, draft.refs or chosen, lifted(new.body)),
        supersedes=_edges(old.id, old.supersedes, draft.supersedes),
    )


def merged(old: Note, new: Note) -> Note:
    """`old` after the same was said again in the words of `new`, which one of the two covers: the longer text is kept, and
    what either is connected with."""
    is_covered = coverage(old, new) >= NEAR and (coverage(new, old) < NEAR or len(old.body) >= len(new.body))
    body = old.body if is_covered else new.body
    description = old.description if len(old.description) >= len(new.description) else new.description
    status = new.status or old.status
    priority = min(old.priority, new.priority)  # P0 outlives P2
    now_s = max(old.updated_at_s, new.updated_at_s)
    again = replace(
        old,
        priority=priority,
        body=body,
        description=description,
        status=status,
        verified_at_s=max(old.verified_at_s, new.verified_at_s),
        expires_at_s=expiry(priority, now_s),
        sources={**old.sources, **new.sources},
        symbols=_joined(old.symbols, new.symbols, most=MAX_SYMBOLS),
        refs=_edges(old.id, old.refs, new.refs),
        supersedes=_edges(old.id, old.supersedes, new.supersedes),
    )
    is_changed = (body, description, status) != (old.body, old.description, old.status)
    return replace(again, updated_at_s=now_s if is_changed else old.updated_at_s)


def _edges(own_id: str, *several: Iterable[str]) -> tuple[str, ...]:
    return tuple(each for each in _joined(*several, most=MAX_REFS) if each != own_id)


def _joined(*several: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for texts in several for each in texts))[:most]
