"""Read: a file's lines, numbered, a page at a time."""

from __future__ import annotations

from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore.arguments import Arguments
from live_memory.explore.base import ToolOutput
from live_memory.explore.jail import read_text, relative, shown
from live_memory.explore.nearby import existing
from live_memory.explore.paging import fitting
from live_memory.text.redaction import Redaction
from live_memory.window.messages import ToolSpec

DEFAULT_LINES = 2000
MAX_LINES = 5000
MAX_SHOWN_LINE_CHARS = 2000

SPEC = ToolSpec(
    name="Read",
    description=(
        "Read a text file of the workspace. Lines are numbered as in `12\\tcode`; at most 2000 from `offset` on. "
        "Binary files, images and files that hold secrets are not shown."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "Path relative to the workspace root, e.g. src/app.py"},
            "offset": {"type": "integer", "description": "First line to show, from 1 (default 1)"},
            "limit": {"type": "integer", "description": "How many lines to show (default 2000)"},
        },
        "required": ["file_path"],
    },
)


def run(root: Path, arguments: Arguments, redaction: Redaction) -> ToolOutput:
    real = existing(root, arguments.needed_text("file_path", "path", "filename"))
    first = max(1, arguments.number("offset", default=1, most=1 << 31))
    limit = (
        arguments.number("limit", "max_results", "head_limit", default=DEFAULT_LINES, most=MAX_LINES) or DEFAULT_LINES
    )
    name = relative(root, real)
    file = read_text(root, name)
    lines = text_lines(file.text)
    if not lines:
        return ToolOutput(f"({shown(name)} is empty.)", (file.stamp,))
    if first > len(lines):
        raise ToolRefusal(f"{shown(name)} has {len(lines)} lines; there is no line {first}.")
    page = redaction.clean_lines(lines, first - 1, first - 1 + limit)
    numbered = fitting(f"{number}\t{_cut(line)}" for number, line in enumerate(page, first))
    last = first + len(numbered) - 1
    if last < len(lines):
        numbered.append(f"(Lines {first}-{last} of {len(lines)}; go on with offset={last + 1}.)")
    return ToolOutput("\n".join([*([file.remark] if file.remark else []), *numbered]), (file.stamp,))


def text_lines(text: str) -> list[str]:
    """The lines of `text` as editors and ripgrep count them, without their ends."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _cut(line: str) -> str:
    if len(line) <= MAX_SHOWN_LINE_CHARS:
        return line
    return f"{line[:MAX_SHOWN_LINE_CHARS]}… (this line has {len(line)} characters)"
