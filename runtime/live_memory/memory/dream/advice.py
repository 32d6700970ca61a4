"""What a model is asked for while a dream tidies, and the shapes of its replies. Pure but for reading the prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from live_memory.memory.asking import BadShape, closed, object_in, one_prompt
from live_memory.notes.note import Note
from live_memory.notes.rendering import whole_text
from live_memory.text.fencing import fenced
from live_memory.text.secrets import redact
from live_memory.window.messages import Prompt

FOLDER = Path(__file__).with_name("prompts")
PromptName: TypeAlias = Literal["review", "review_shape", "merge", "merge_shape", "repair"]
Verdict: TypeAlias = Literal["holds", "changed", "gone", "unsure"]
MAX_TEXT_CHARS = 8_000
MAX_TITLE_CHARS = 160
MAX_EVIDENCE_CHARS = 600
_TEXT = {"type": "string"}
REVIEW_SCHEMA: Mapping[str, object] = closed(
    {
        "reviews": {
            "type": "array",
            "items": closed(
                {
                    "id": _TEXT,
                    "verdict": {"type": "string", "enum": list(get_args(Verdict))},
                    "text": _TEXT,
                    "evidence": _TEXT,
                }
            ),
        }
    }
)
MERGE_SCHEMA: Mapping[str, object] = closed(
    {"merges": {"type": "array", "items": closed({"pair": {"type": "integer"}, "title": _TEXT, "body": _TEXT})}}
)


@dataclass(frozen=True, slots=True)
class Review:
    """What a model says of a statement; nothing of it is checked yet but its shape."""

    id: str
    verdict: Verdict
    text: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Merger:
    """The pair of that number (from 1) as one note."""

    pair: int
    title: str
    body: str


@cache
def prompt_text(name: PromptName) -> str:
    """The text of prompts/`name`.md."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def review_prompt(path: str, text: str, notes: Sequence[Note]) -> Prompt:
    """The file, and the statements that rest on it."""
    stated = "\n".join(fenced("statement", note.body, id=note.id) for note in notes)
    instructions = f"{prompt_text('review')}\n\n{prompt_text('review_shape')}"
    return one_prompt(instructions, (fenced("file", text, path=path), f"The statements:\n\n{stated}"))


def merge_prompt(pairs: Sequence[tuple[Note, Note]]) -> Prompt:
    """The pairs, numbered from 1."""
    shown = (
        f"Pair {number}:\n" + "\n".join(fenced("note", whole_text(note)) for note in pair)
        for number, pair in enumerate(pairs, 1)
    )
    return one_prompt(f"{prompt_text('merge')}\n\n{prompt_text('merge_shape')}", ["\n\n".join(shown)])


def parse_reviews(text: str) -> tuple[Review, ...]:
    """The reviews in a reply; what is none is passed over. BadShape where there is no list of them."""
    return tuple(
        Review(
            _line(each.get("id")),
            cast(Verdict, each["verdict"]),
            _text(each.get("text"))[:MAX_TEXT_CHARS].strip(),
            _text(each.get("evidence"))[:MAX_EVIDENCE_CHARS].strip(),
        )
        for each in _objects(text, "reviews")
        if each.get("verdict") in get_args(Verdict)
    )


def parse_mergers(text: str) -> tuple[Merger, ...]:
    """The mergers in a reply, as above."""
    return tuple(
        Merger(pair, _line(each.get("title"))[:MAX_TITLE_CHARS], _text(each.get("body"))[:MAX_TEXT_CHARS].strip())
        for each in _objects(text, "merges")
        if isinstance(pair := each.get("pair"), int)
    )


def _objects(text: str, name: str) -> list[Mapping[str, object]]:
    listed = object_in(text).get(name)
    if not isinstance(listed, list):
        raise BadShape(f"it has no list named {name}")
    return [each for each in listed if isinstance(each, dict)]


def _line(value: object) -> str:
    return " ".join(_text(value).split())


def _text(value: object) -> str:
    return redact(value) if isinstance(value, str) else ""
