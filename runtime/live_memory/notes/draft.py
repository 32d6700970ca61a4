"""A note as somebody wishes to have it kept: checked for shape, not yet given an id, an age or a neighbour. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from live_memory.notes.note import Kind, Origin, Priority, Status

HERE = "repo"


@dataclass(frozen=True, slots=True)
class Draft:
    """`id` names the note to update, or the one to make; empty makes one from the title. What is empty keeps what an updated
    note has (its title and body too); of a new one, `kind` is then project, `priority` goes by the kind. `status` None keeps,
    empty is none. `scope` empty is the repository's, or that of the note which
    `id` names, wherever it is; HERE is the repository's alone, else GLOBAL. `files` are paths relative to the root that it rests on,
    beside those that its words name."""

    title: str
    body: str
    id: str = ""
    kind: Kind | Literal[""] = ""
    description: str = ""
    refs: tuple[str, ...] = ()
    status: Status | None = None
    supersedes: tuple[str, ...] = ()
    priority: Priority | str = ""
    scope: str = ""
    origin: Origin = "claude"
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
