"""A note as a JSON object and back, nothing lost. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, cast, get_args

from live_memory.errors import QuestionError
from live_memory.notes.note import Kind, Note, Origin, Priority, Status

CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": get_args(Kind),
    "status": get_args(Status),
    "priority": get_args(Priority),
    "origin": get_args(Origin),
}
_TEXTS = frozenset({"scope", "id", "title", "body", "description", *CHOICES})
_LISTS = frozenset({"symbols", "refs", "supersedes"})
_REQUIRED = tuple(field.name for field in fields(Note) if field.default is MISSING and field.default_factory is MISSING)


def to_json(note: Note) -> dict[str, Any]:
    """The note's fields by name, in their order."""
    read = {field.name: getattr(note, field.name) for field in fields(note)}
    return {**read, **{name: list(read[name]) for name in _LISTS}, "sources": dict(note.sources)}


def from_json(read: Mapping[str, Any]) -> Note:
    """The note that `read` spells; names that no field bears are passed over. QuestionError (`bad-note`) says what is
    wrong with it."""
    missing = [name for name in _REQUIRED if name not in read]
    if missing:
        raise _refusal(f"A note needs {', '.join(missing)}")
    known = {field.name: read[field.name] for field in fields(Note) if field.name in read}
    for name, value in known.items():
        _check(name, value)
    lists = {name: tuple(known[name]) for name in _LISTS & known.keys()}
    return Note(**{**known, **lists})


def _check(name: str, value: object) -> None:
    allowed = CHOICES.get(name)
    if name in _TEXTS and not isinstance(value, str):
        raise _refusal(f"The {name} of a note must be text")
    if allowed is not None and value not in allowed:
        named = ", ".join(choice or "(empty)" for choice in allowed)
        raise _refusal(f"The {name} of a note cannot be {value!r}; it is one of {named}")
    if name in _LISTS and not (isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)):
        raise _refusal(f"The {name} of a note must be a list of texts")
    if name == "sources" and not _is_text_to_text(value):
        raise _refusal("The sources of a note must map paths to SHA-256 sums")
    if name == "use_count" and not _is_number(value, int):
        raise _refusal("The use_count of a note must be a whole number")
    if (
        name.endswith("_at_s")
        and not _is_number(value, (int, float))
        and not (name == "expires_at_s" and value is None)
    ):
        raise _refusal(f"The {name} of a note must be a number of seconds")


def _is_text_to_text(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    return all(isinstance(part, str) for pair in cast("Mapping[object, object]", value).items() for part in pair)


def _is_number(value: object, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _refusal(sentence: str) -> QuestionError:
    return QuestionError("bad-note", f"{sentence}.")
