"""What older `.agd` files say in prose only, lifted to where it can be asked for: citations to refs, dates to stamps,
marks of what is done or to do to the status. Prose itself is never touched. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from live_memory.notes import refs as citations
from live_memory.notes.codecs import stamps
from live_memory.notes.note import Note, Status

# At the very beginning of a description only: "what was done" in the middle of a sentence says nothing of the note.
# A word that begins other sentences too ("open source …") is a mark where it shouts, or where a sign or a date follows.
_ENDED = r"\b(?=\s*(?:[:.,;!)\]\u2013\u2014-]|\d|$))"


def _mark(sure: str, likely: str) -> re.Pattern[str]:
    shouted = likely.upper().replace("\\S", "\\s")
    return re.compile(rf"\W*(?:(?i:{sure})\b|(?:{shouted})\b|(?i:{likely}){_ENDED})")


_MARKS: tuple[tuple[Status, re.Pattern[str]], ...] = (
    ("done", _mark(r"fatt[oa]|completat[oa]|risolt[oa]|chius[oa]|done", "completed|finished|fixed|resolved|closed")),
    ("open", _mark(r"da\s+fare|in\s+corso|in\s+sospeso|to-?do|wip", r"apert[oa]|open|in\s+progress|pending")),
    ("superseded", _mark(r"superat[oa]|sostituit[oa]|superseded", "obsolet[oae]|replaced|outdated|deprecated")),
)
MAX_PROSE_CHARS = 100_000  # of a body, in which citations are looked for
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s|\n")


@dataclass(frozen=True, slots=True)
class Lore:
    """What the document knows beyond one block: the ids in it, those that some block supersedes; and what time it is."""

    known: frozenset[str]
    superseded: frozenset[str]
    now_s: float


def lifted(note: Note, lore: Lore) -> Note:
    """`note` with what its prose and its neighbours say: only known ids become refs, only days that have come a stamp."""
    described = note.description or note.title
    cited = (
        each
        for each in citations.lifted(f"{described}\n{note.body[:MAX_PROSE_CHARS]}")
        if each in lore.known and each != note.id
    )
    refs = dict.fromkeys([*note.refs, *cited])
    day_s = stamps.day_in(described, lore.now_s) or stamps.day_in(note.body, lore.now_s) or 0.0
    is_replaced = note.id in lore.superseded and note.status in ("", "open")
    return replace(
        note,
        refs=tuple(refs),
        status="superseded" if is_replaced else note.status or status(described),
        created_at_s=note.created_at_s or day_s,
        updated_at_s=note.updated_at_s or note.created_at_s or day_s,
    )


def status(described: str) -> Status:
    """The state that a description begins with, empty where it names none."""
    for word, pattern in _MARKS:
        if pattern.match(described):
            return word
    return ""


def title(described: str, body: str, name: str, max_chars: int) -> str:
    """A title for a block: its description, the beginning of a long one; else the first words of its body, else its id."""
    lines = (described or body).strip().splitlines()
    first = " ".join(lines[0].split()) if lines else name
    if len(first) <= max_chars:
        return first
    sentence = _SENTENCE_END.split(first, maxsplit=1)[0].rstrip(" :;")
    if len(sentence) <= max_chars:
        return sentence
    return first[:max_chars].rpartition(" ")[0] or first[:max_chars]
