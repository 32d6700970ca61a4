"""What is done about secrets in the text of one workspace: they are taken out and counted, or left in where its owner said so.
A value that is handed along to wherever text comes in; the patterns are in `secrets`. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from live_memory.text.secrets import cleaned, cleaned_lines

Mode: TypeAlias = Literal["on", "off"]


def uncounted(_count: int) -> None:
    """For whoever keeps no count."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """The decision of one workspace; `count` is told how many secrets were taken out, in any thread."""

    mode: Mode = "on"
    count: Callable[[int], None] = uncounted

    def clean(self, text: str) -> str:
        """`text` as it may be kept and sent; as many lines as before."""
        if self.mode == "off":
            return text
        result = cleaned(text)
        self.count(result.count)
        return result.text

    def clean_lines(self, lines: Sequence[str], start: int, end: int) -> list[str]:
        """`lines[start:end]` likewise, in the light of what stands before them."""
        shown = list(lines[start:end])
        if self.mode == "off" or not shown:
            return shown
        result = cleaned_lines(lines, start, end)
        self.count(result.count)
        return result.text.split("\n")
