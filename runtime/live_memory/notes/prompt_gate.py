"""Whether a prompt is one that notes are looked for at all. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from live_memory.notes.query import Query

MIN_LINES = 4  # fewer are no listing
INDENTS = ("  ", "\t")


@dataclass(frozen=True, slots=True)
class PromptGate:
    """The limits on a prompt: its words that carry meaning, its length, and the share of its lines that are indented."""

    min_words: int
    max_chars: int
    max_code_ratio: float

    def why_shut(self, prompt: str, query: Query) -> str:
        """Why the prompt is left alone, in a word or two for the log; empty when it is not."""
        if len(prompt) > self.max_chars:
            return "long"
        if _code_ratio(prompt) > self.max_code_ratio:
            return "code"
        return "few words" if query.words < self.min_words else ""


def _code_ratio(prompt: str) -> float:
    lines = [line for line in prompt.splitlines() if line.strip()]
    if len(lines) < MIN_LINES:
        return 0.0
    return sum(line.startswith(INDENTS) for line in lines) / len(lines)
