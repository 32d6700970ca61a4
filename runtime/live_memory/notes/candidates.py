"""What an index says: about the notes that it found for a question, and about the words of all of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from live_memory.notes.note import Note

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that an index found: how often each searched term stands in its title, description and body, and which of
    them follow each other there."""

    note: Note
    counts: Mapping[str, tuple[int, int, int]]
    length_terms: int
    pairs: frozenset[Pair] = frozenset()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the notes of some scopes hold: how many notes and terms there are, how many notes hold a term (0 for none), and
    by a beginning the terms that begin so, the commonest first, with how many notes hold them."""

    notes: int
    length_terms: int
    frequencies: Mapping[str, int]
    relatives: Mapping[str, Mapping[str, int]]
