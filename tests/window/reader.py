"""What somebody knows of the files who has read a prompt and nothing else: the window is held to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from live_memory.window.messages import Prompt, Text

FILE = re.compile(r'<file path="([^"]*)">\n(.*?)\n</file>( \(changed since\))?', re.DOTALL)
DIFF = re.compile(r'<diff path="([^"]*)">\n(.*?)\n</diff>', re.DOTALL)
NOTICES: tuple[tuple[str, Literal["stale", "gone", "fresh"]], ...] = (
    (r"before you rely on them: (.*)\.", "stale"),
    (r"before you cite them\): (.*)\.", "gone"),
    (r"again as you saw them: (.*)\.", "fresh"),
)


@dataclass
class Reader:
    """The lines of each file whose text was told, and how far they can be relied on."""

    lines: dict[str, list[str]] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, prompt: Prompt) -> Reader:
        reader = cls()
        for text in prompt.system[1:]:
            reader.take(text)
        for turn in prompt.turns[: prompt.prefix_turns]:
            for block in turn.blocks:
                if isinstance(block, Text) and block.text.startswith("[Observation]"):
                    reader.take(block.text)
        return reader

    def take(self, text: str) -> None:
        for path, numbered, _remark in FILE.findall(text):
            lines = numbered.split("\n") if numbered else []
            assert [line.partition("\t")[0] for line in lines] == [str(n) for n in range(1, len(lines) + 1)]
            self.lines[path] = [read_back("file", line.partition("\t")[2]) for line in lines]
            self.states[path] = "fresh"
        for path, hunks in DIFF.findall(text):
            self.lines[path] = patched(self.lines[path], read_back("diff", hunks))
            self.states[path] = "fresh"
        for pattern, state in NOTICES:
            for listed in re.findall(pattern, text):
                self.states.update(dict.fromkeys(listed.split(", "), state))


def read_back(tag: str, text: str) -> str:
    """What stood in a fence before its tags were defused."""
    return re.sub(rf"<\\(?=\\*/?{tag}\b)", "<", text)


def patched(source: list[str], hunks: str) -> list[str]:
    """The lines of `source` after a unified diff; it is an error for the diff to be one of something else."""
    result: list[str] = []
    at, left = 0, 0
    for line in hunks.split("\n"):
        head = re.fullmatch(r"@@ -(\d+),(\d+) \+\d+,(\d+) @@", line) if left == 0 else None
        if head:
            start = int(head[1]) - 1
            result += source[at:start]
            at, left = start, int(head[2]) + int(head[3])
        elif line.startswith("+"):
            result.append(line[1:])
            left -= 1
        else:
            assert source[at] == line[1:]
            is_kept = line.startswith(" ")
            result += [source[at]] if is_kept else []
            at, left = at + 1, left - (2 if is_kept else 1)
    return result + source[at:]
