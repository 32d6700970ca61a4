"""A note: one thing worth keeping, in words, with the files it rests on. Pure.

A fact is a note of one sentence that was distilled from a window; windows know it by its slimmer face, `Fact`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from live_memory.text.terms import fold

Kind: TypeAlias = Literal[
    "fact", "decision", "root-cause", "preference", "project", "reference", "session", "state", "concept"
]
Status: TypeAlias = Literal["", "open", "done", "superseded", "disputed"]  # empty: knowledge, nothing to be done
Priority: TypeAlias = Literal["P0", "P1", "P2"]
# Who wrote it.
Origin: TypeAlias = Literal["user", "claude", "capture", "dream", "import", "compaction"]

GLOBAL = "global"  # the scope of what holds in every repository
FACT_ID_CHARS = 16


@dataclass(frozen=True, slots=True)
class Note:
    """`scope` is a repo id or GLOBAL, the root for a fact; `id` is unique in it. Instants are Unix seconds, `expires_at_s`
    None never. `sources` maps the files it rests on, relative to the root, to the SHA-256 of what they held when it was
    verified; `refs` and `supersedes` name other notes by id."""

    scope: str
    id: str
    kind: Kind
    title: str
    body: str
    description: str = ""
    status: Status = ""
    priority: Priority = "P1"
    origin: Origin = "user"
    created_at_s: float = 0.0
    updated_at_s: float = 0.0
    verified_at_s: float = 0.0
    used_at_s: float = 0.0
    use_count: int = 0
    expires_at_s: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    symbols: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()

    def is_expired(self, now_s: float) -> bool:
        return self.expires_at_s is not None and self.expires_at_s <= now_s


@dataclass(frozen=True, slots=True)
class Fact:
    """One sentence on one line. `sources` maps the files it rests on to the SHA-256 of what they held then; `changed`
    names those among them that hold something else by now. `use_count` counts the questions it was found for."""

    id: str
    text: str
    sources: Mapping[str, str] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    created_at_s: float = 0.0
    verified_at_s: float = 0.0
    use_count: int = 0

    @property
    def is_stale(self) -> bool:
        """Whether it is demoted: a file that it rests on has changed or is gone."""
        return bool(self.changed)


def new_fact(text: str, sources: Mapping[str, str], at_s: float) -> Fact:
    """A fact that holds as of `at_s`. The same words always get the same id: said again, a fact is verified, not doubled."""
    line = " ".join(text.split())
    return Fact(fact_id(line), line, dict(sources), created_at_s=at_s, verified_at_s=at_s)


def fact_as_note(root: str, fact: Fact) -> Note:
    """The fact as what it is: a note without a title, in the scope of the root that it was learned in."""
    return Note(
        root,
        fact.id,
        "fact",
        "",
        fact.text,
        origin="compaction",
        created_at_s=fact.created_at_s,
        updated_at_s=fact.verified_at_s,
        verified_at_s=fact.verified_at_s,
        use_count=fact.use_count,
        sources=dict(fact.sources),
    )


def fact_id(line: str) -> str:
    """`fact-` and a digest of the words; case, spaces and a final full stop do not count."""
    words = " ".join(fold(line).split()).rstrip(". ")
    return "fact-" + hashlib.sha256(words.encode("utf-8", "backslashreplace")).hexdigest()[:FACT_ID_CHARS]
