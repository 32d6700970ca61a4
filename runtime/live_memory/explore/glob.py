"""Glob: the files whose path matches, by path."""

from __future__ import annotations

from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore import ripgrep
from live_memory.explore.arguments import Arguments
from live_memory.explore.base import ToolOutput
from live_memory.explore.globbing import file_names, matcher
from live_memory.explore.jail import relative, shown
from live_memory.explore.nearby import existing
from live_memory.explore.paging import page
from live_memory.explore.search import Search
from live_memory.window.messages import ToolSpec

DEFAULT_FILES = 200
MAX_FILES_SHOWN = 2000

SPEC = ToolSpec(
    name="Glob",
    description=(
        "Find files by path: `**/*.ts`, `src/**/test_*.py`, `*.{yml,yaml}`. A pattern without `/` matches file names in "
        "every folder. Files that git ignores are left out unless `path` names their folder."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The glob"},
            "path": {
                "type": "string",
                "description": "Folder to look in, relative to the workspace root (default: all)",
            },
            "limit": {"type": "integer", "description": "How many files to list (default 200)"},
            "offset": {"type": "integer", "description": "How many files to skip, for the next page"},
        },
        "required": ["pattern"],
    },
)


def run(root: Path, arguments: Arguments) -> ToolOutput:
    pattern = arguments.needed_text("pattern", "file_pattern", "glob", "regex")
    start = relative(root, existing(root, arguments.text("path", "directory", default=".") or "."))
    offset = arguments.number("offset", default=0, most=1 << 31)
    limit = arguments.number("limit", "max_results", "head_limit", default=DEFAULT_FILES, most=MAX_FILES_SHOWN)
    matches = matcher(root, pattern)
    listing = ripgrep.list_files(root, Search("", start=start, names=file_names(pattern)))
    prefix = "" if start == "." else f"{start}/"
    found = [path for path in listing.paths if matches(path.removeprefix(prefix)) or matches(path)]
    cut = "" if listing.is_whole else " (The folder is too large to list whole; name a smaller one in `path`.)"
    if not found:
        return ToolOutput(f"No file matches {shown(pattern)}{_in(start)}.{cut}{_other_case(root, start, pattern)}")
    if offset >= len(found):
        raise ToolRefusal(f"Glob: {len(found)} files match, so there is nothing at offset {offset}.")
    part = page([shown(path) for path in found], offset=offset, limit=limit or DEFAULT_FILES)
    more = f"({len(found)} files match; go on with offset={part.next_offset}.)" if part.next_offset else ""
    return ToolOutput(part.text((more + cut).strip()))


def _in(start: str) -> str:
    return "" if start == "." else f" in {shown(start)}"


def _other_case(root: Path, start: str, pattern: str) -> str:
    matches = matcher(root, pattern.lower())
    listing = ripgrep.list_files(root, Search("", start=start))
    alike = [path for path in listing.paths if matches(path.lower())][:3]
    if alike:
        return f" With other upper and lower case there is {', '.join(shown(path) for path in alike)}."
    return " Ignored files are found only when `path` names their folder."
