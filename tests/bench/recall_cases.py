"""The project's own set for recall: notes of eight invented projects in three languages, prompts with known answers, and
prompts to which no note has an answer.

Written by hand, by the authors of the ranking: figures on the half that was not tuned on say how rules compare more than
how a user will fare. Prompts `named` use words of the note, `told` describe the matter in others.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from live_memory.notes.note import GLOBAL, Note

FOLDER = Path(__file__).with_name("recall_data")
AT_S = 1_800_000_000.0
MAX_NAMES = 60
_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][A-Za-z0-9.]+\b")


@dataclass(frozen=True, slots=True)
class Case:
    """A prompt in a project; `answers` are the ids of the notes that it needs, none for a dead end. `kind` is named or told;
    foreign, names, generic, elsewhere or near for a dead end."""

    kind: str
    project: str
    text: str
    language: str = ""
    answers: tuple[str, ...] = ()


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@cache
def all_notes() -> tuple[Note, ...]:
    """Every note, its project as its scope; what holds everywhere is global."""
    return tuple(_note(row) for row in _rows("notes.jsonl"))


def _note(row: dict[str, Any]) -> Note:
    scope = GLOBAL if row["project"] == "globals" else str(row["project"])
    refs = tuple(row.get("refs", ()))
    return Note(scope, row["id"], row["kind"], row["title"], row["body"], refs=refs, updated_at_s=AT_S)


def notes_of(project: str) -> tuple[Note, ...]:
    return tuple(note for note in all_notes() if note.scope == project)


def projects(half: str = "") -> tuple[str, ...]:
    """The projects whose questions are of that half, or all."""
    return tuple(dict.fromkeys(str(row["project"]) for row in _rows("queries.jsonl") if half in ("", row["half"])))


@cache
def cases(half: str) -> tuple[Case, ...]:
    """All prompts of a half: its questions, the same asked of the other projects as they are and with names swapped, and
    the prompts that are about no project."""
    return (*_questions(half), *_foreign(half), *_dead_ends(half))


def _questions(half: str) -> Iterator[Case]:
    for row in _rows("queries.jsonl"):
        if row["half"] == half:
            answers = tuple(row["answers"])
            yield Case(str(row["style"]), str(row["project"]), str(row["text"]), str(row["language"]), answers)


def _foreign(half: str) -> Iterator[Case]:
    rng = random.Random(5)
    for asked in _questions(half):
        for project in projects(half):
            if project != asked.project:
                yield Case("foreign", project, asked.text, asked.language)
                yield Case("names", project, _with_names_of(project, asked.text, rng), asked.language)


def _dead_ends(half: str) -> Iterator[Case]:
    for row in _rows("dead_ends.jsonl"):
        if row["half"] == half:
            for project in [str(row["project"])] if "project" in row else projects(half):
                yield Case(str(row["kind"]), project, str(row["text"]), str(row.get("language", "")))


def _with_names_of(project: str, text: str, rng: random.Random) -> str:
    """`text` with its names replaced by names that stand in the project's notes; with two of them where it has none."""
    names = _names(project)
    swapped, count = _NAME.subn(lambda _: rng.choice(names), text)
    return swapped if count else f"{text.rstrip('?')} for {rng.choice(names)} and {rng.choice(names)}"


@cache
def _names(project: str) -> tuple[str, ...]:
    counts: Counter[str] = Counter()
    for note in notes_of(project):
        for text in (note.title, note.body):
            counts.update(_NAME.findall(text))
    return tuple(name for name, _ in counts.most_common(MAX_NAMES))
