"""The texts that the model is given, from the files in prompts/."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

PromptName: TypeAlias = Literal[
    "system", "hints", "passages", "finish", "look_first", "empty_reply", "summarize", "facts"
]
FOLDER = Path(__file__).with_name("prompts")
FENCE_END = "</passages>"


@cache
def prompt_text(name: PromptName) -> str:
    """The text of prompts/`name`.md."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def render_hints(timeout_s: float, max_answer_tokens: int, passages: str) -> str:
    """What follows the question in its turn, and is not kept: time, length, and the passages of a cold question."""
    hints = prompt_text("hints").format(seconds=max(1, round(timeout_s)), tokens=max_answer_tokens)
    if not passages:
        return hints
    fenced = passages.replace(FENCE_END, "<\\/passages>")
    return hints + "\n\n" + prompt_text("passages").format(passages=fenced)
