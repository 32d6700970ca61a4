"""What a model proposes to keep of a part of a session, as a value, and the JSON that carries it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast, get_args

from live_memory.memory.asking import BadShape, closed, object_in
from live_memory.notes.note import Kind
from live_memory.text.secrets import redact

CAPTURED: tuple[Kind, ...] = ("decision", "root-cause", "preference", "reference", "project")
MAX_NOTES = 40  # of one part
MAX_FILES = 20
MAX_LINES = 12  # of what was done, or is open
LINE_CHARS = 300
TOPIC_CHARS = 200
TITLE_CHARS = 160
DESCRIPTION_CHARS = 300
BODY_CHARS = 4000
EVIDENCE_CHARS = 600

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


SCHEMA: Mapping[str, object] = closed(
    {
        "notes": {
            "type": "array",
            "items": closed(
                {
                    "kind": {"type": "string", "enum": list(CAPTURED)},
                    "title": _TEXT,
                    "description": _TEXT,
                    "body": _TEXT,
                    "evidence": _TEXT,
                    "files": _TEXTS,
                }
            ),
        },
        "session": closed({"topic": _TEXT, "done": _TEXTS, "open": _TEXTS}),
    }
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note as a model proposes it; nothing of it is checked yet but its shape."""

    kind: str
    title: str
    description: str
    body: str
    evidence: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionAccount:
    """What a session was about, in lines."""

    topic: str = ""
    done: tuple[str, ...] = ()
    open: tuple[str, ...] = ()

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Proposal:
    """All that a model made of one part."""

    candidates: tuple[Candidate, ...] = ()
    account: SessionAccount = SessionAccount()


def parse_proposal(text: str) -> Proposal:
    """The proposal in a reply, whatever stands around its object. Notes that are no notes are passed over; BadShape where
    there is no object of that shape at all."""
    value = object_in(text)
    notes = value.get("notes")
    if not isinstance(notes, list):
        raise BadShape("it has no list named notes")
    candidates = tuple(_candidate(note) for note in notes[:MAX_NOTES] if isinstance(note, dict))
    return Proposal(candidates, _account(value.get("session")))


def parse_account(text: str) -> SessionAccount:
    """The account that `SessionAccount.to_json` wrote; an empty one for anything else."""
    try:
        return _account(json.loads(text))
    except (ValueError, RecursionError):
        return SessionAccount()


def is_captured(kind: str) -> bool:
    return kind in CAPTURED


def as_kind(kind: str) -> Kind:
    """A kind that was checked."""
    assert kind in get_args(Kind)
    return cast(Kind, kind)


def _candidate(note: Mapping[str, Any]) -> Candidate:
    return Candidate(
        _line(note.get("kind"), LINE_CHARS),
        _line(note.get("title"), TITLE_CHARS),
        _line(note.get("description"), DESCRIPTION_CHARS),
        _text(note.get("body"))[:BODY_CHARS].strip(),
        _text(note.get("evidence"))[:EVIDENCE_CHARS].strip(),
        _lines(note.get("files"), MAX_FILES),
    )


def _account(value: object) -> SessionAccount:
    if not isinstance(value, dict):
        return SessionAccount()
    topic = _line(value.get("topic"), TOPIC_CHARS)
    return SessionAccount(topic, _lines(value.get("done"), MAX_LINES), _lines(value.get("open"), MAX_LINES))


def _lines(value: object, limit: int) -> tuple[str, ...]:
    lines = (_line(each, LINE_CHARS) for each in value) if isinstance(value, list) else ()
    return tuple(line for line in lines if line)[:limit]


def _line(value: object, limit: int) -> str:
    return " ".join(_text(value).split())[:limit]


def _text(value: object) -> str:
    """The words, without secrets: a proposal waits in the queue before it is a note."""
    return redact(value) if isinstance(value, str) else ""
