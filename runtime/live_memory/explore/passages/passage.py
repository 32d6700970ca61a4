"""A place in the code that speaks to a question, and how several of them read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines `line_start` to `line_end` (both counted, from 1) of `path` (relative to the root, with `/`), without secrets.

    `reason` says in words why it was picked; a higher `score` is a better match, comparable within one search only."""

    path: str
    line_start: int
    line_end: int
    text: str
    reason: str
    score: float


def render_passages(passages: Iterable[Passage]) -> str:
    """The passages for people and models: `path:start-end`, why, and the lines with their numbers."""
    return "\n\n".join(_rendered(passage) for passage in passages)


def _rendered(passage: Passage) -> str:
    lines = passage.text.split("\n")
    width = len(str(passage.line_end))
    numbered = [f"{number:>{width}}  {line}" for number, line in enumerate(lines, passage.line_start)]
    head = f"{passage.path}:{passage.line_start}-{passage.line_end} ({passage.reason})"
    return "\n".join([head, *numbered])
