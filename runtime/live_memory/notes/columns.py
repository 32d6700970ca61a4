"""What of a note an index holds: the terms of its title, its description and its body. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from live_memory.notes.note import Fact, Note
from live_memory.text.terms import terms


@dataclass(frozen=True, slots=True)
class Columns:
    """Terms in order, repeats kept."""

    title: tuple[str, ...]
    description: tuple[str, ...]
    body: tuple[str, ...]

    def cut(self, max_body_terms: int) -> tuple[list[str], list[str], list[str]]:
        """The columns, the body no longer than that."""
        return list(self.title), list(self.description), list(self.body[:max_body_terms])


def columns_of(note: Note) -> Columns:
    """An id that somebody chose may say what the title does not: its words count as the title's. So do symbols as the body's."""
    title = terms(note.title)
    if note.kind not in ("fact", "session"):  # whose ids are made, not chosen
        title += [term for term in terms(note.id.replace("-", " ").replace("_", " ")) if term not in title]
    return Columns(
        tuple(title), tuple(terms(note.description)), tuple(terms(note.body) + terms(" ".join(note.symbols)))
    )


def columns_of_fact(fact: Fact) -> Columns:
    return Columns((), (), tuple(terms(fact.text)))
