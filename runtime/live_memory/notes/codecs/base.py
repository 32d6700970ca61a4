"""What every format gives and takes: notes whose scope is a word, and what was left out, with the reason. Pure.

In a file a scope is not the identity of some repository on some machine, but what it is to whoever carries the notes:
HOME, TREE or GLOBAL. A scope that is none of them (an export of everything) stands as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from live_memory.notes.note import Kind, Note
from live_memory.notes.slugs import is_id, slug

HOME = "repo"  # the repository that the notes leave or come to
TREE = "tree"  # the scope of its facts

Files: TypeAlias = Mapping[str, str]  # path inside a folder, with `/` → text


@dataclass(frozen=True, slots=True)
class Omission:
    """`where` names what was left out, by id or place; `reason` is half a sentence."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a file holds. A note that the format says nothing of in time has stamps of 0."""

    notes: tuple[Note, ...]
    omissions: tuple[Omission, ...] = ()


# The four conventional kinds of agd and of Claude Code's memory, and what they are here.
KINDS_OUTSIDE: Mapping[str, Kind] = {
    "user": "preference",
    "feedback": "preference",
    "project": "project",
    "reference": "reference",
}
_WORDS_FOR_KINDS: Mapping[str, str] = {"preference": "feedback", "reference": "reference", "concept": "reference"}


def word_outside(note: Note) -> str:
    """Which of the four conventional kinds a note is nearest to."""
    if note.kind == "preference" and note.id.startswith("user-"):
        return "user"
    return _WORDS_FOR_KINDS.get(note.kind, "project")


def in_order(notes: Iterable[Note]) -> list[Note]:
    """The one order in which notes are written, so that the same notes are the same bytes."""
    return sorted(notes, key=lambda note: (note.scope, note.id))


def without_doubles(notes: Iterable[tuple[str, Note]], omissions: Iterable[Omission]) -> Decoded:
    """The notes (each with its place) by ids that we know; of those that share scope and id the one last updated, the last
    one of equals."""
    kept: dict[tuple[str, str], tuple[str, Note]] = {}
    left_out = list(omissions)
    for where, named in notes:
        note = _with_our_ids(named)
        key = (note.scope, note.id)
        last = (where, note)
        if key in kept:
            older, last = sorted((kept[key], last), key=lambda each: each[1].updated_at_s)
            left_out.append(Omission(older[0], f"the id {note.id} is there twice, and the newer one is taken"))
        kept[key] = last
    return Decoded(tuple(note for _, note in kept.values()), tuple(left_out))


def _with_our_ids(note: Note) -> Note:
    """`note` with ids that can be cited, wherever others allow more in one."""
    refs, supersedes = (tuple(dict.fromkeys(map(_our_id, ids))) for ids in (note.refs, note.supersedes))
    return replace(note, id=_our_id(note.id), refs=refs, supersedes=supersedes)


def _our_id(name: str) -> str:
    return name if is_id(name) else slug(name)
