"""The texts that the model is given, from the files in prompts/."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from live_memory.notes import ledger
from live_memory.notes.note import Fact
from live_memory.text.fencing import fenced
from live_memory.window.messages import ToolSpec
from live_memory.window.prompt import fixed_tokens
from live_memory.window.window import Window

PromptName: TypeAlias = Literal[
    "system", "hints", "passages", "finish", "look_first", "empty_reply", "summarize", "facts", "notes"
]
FOLDER = Path(__file__).with_name("prompts")
STALE_MARK = "(possibly out of date: its file has changed since)"


@cache
def prompt_text(name: PromptName) -> str:
    """The text of prompts/`name`.md."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def render_hints(timeout_s: float, max_answer_tokens: int, facts: Sequence[Fact], notes: str, passages: str) -> str:
    """What follows the question in its turn, and is not kept: time, length, facts and (fenced) notes that bear on it, and
    the passages of a cold question."""
    hints = [prompt_text("hints").format(seconds=max(1, round(timeout_s)), tokens=max_answer_tokens)]
    if facts:
        hints.append(prompt_text("facts").replace("{facts}", ledger.fenced(_marked(fact) for fact in facts)))
    if notes:
        hints.append(prompt_text("notes").replace("{notes}", notes))
    if passages:
        hints.append(prompt_text("passages").replace("{passages}", fenced("passages", passages)))
    return "\n\n".join(hints)


def _marked(fact: Fact) -> Fact:
    return replace(fact, text=f"{fact.text} {STALE_MARK}") if fact.is_stale else fact


def unfrozen_tokens(window: Window, tools: tuple[ToolSpec, ...]) -> int:
    """The estimated size of what stands before the frozen block: tools, instructions, tree."""
    return fixed_tokens(prompt_text("system"), Window(window.tree), tools)
