"""A note: one thing worth keeping, in words, with the files it rests on. Pure.

So far there is one kind, the fact: a sentence about the code that was distilled from a window.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from live_memory.text.terms import fold

FACT_ID_CHARS = 16


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


def fact_id(line: str) -> str:
    """`fact-` and a digest of the words; case, spaces and a final full stop do not count."""
    words = " ".join(fold(line).split()).rstrip(". ")
    return "fact-" + hashlib.sha256(words.encode("utf-8", "backslashreplace")).hexdigest()[:FACT_ID_CHARS]
