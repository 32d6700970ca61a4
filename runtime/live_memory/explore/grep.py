"""Grep: the lines, files or counts that a regular expression matches.

Two passes, so that answers come in one order however the engine works: the first counts the matches of every file, the
second fetches the lines of the files on the page that is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore import ripgrep
from live_memory.explore.arguments import Arguments
from live_memory.explore.base import FileStamp, ToolOutput
from live_memory.explore.globbing import file_names, matcher, split_list
from live_memory.explore.jail import opened, read_text, relative, shown, size_in_words
from live_memory.explore.nearby import existing
from live_memory.explore.paging import MAX_ANSWER_CHARS, cut_around, page
from live_memory.explore.search import (
    MAX_SEARCHED_FILE_BYTES,
    Case,
    Counts,
    FileHits,
    PatternInvalid,
    PatternUnsupported,
    Search,
)
from live_memory.text.redaction import Redaction
from live_memory.window.messages import ToolSpec

DEFAULT_LINES = 100
DEFAULT_FILES = 200
MAX_LINES = 1000
_MODES = {
    "content": "content",
    "files_with_matches": "files_with_matches",
    "files": "files_with_matches",
    "count": "count",
}

SPEC = ToolSpec(
    name="Grep",
    description=(
        "Search file contents with a regular expression (ripgrep syntax, matched within one line, case ignored by default). "
        "Lines come as `path:line:text`. Files that git ignores are left out unless `path` names their folder."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The regular expression"},
            "path": {
                "type": "string",
                "description": "File or folder to search, relative to the workspace root (default: all)",
            },
            "glob": {
                "type": "string",
                "description": "Only files matching this glob, e.g. *.py or src/**/*.{ts,tsx}; !*.test.ts leaves out",
            },
            "output_mode": {
                "type": "string",
                "enum": ["content", "files_with_matches", "count"],
                "description": "Matching lines (default), paths only, or matching lines per file",
            },
            "-i": {"type": "boolean", "description": "Ignore case (default true)"},
            "head_limit": {
                "type": "integer",
                "description": "How many lines or files to show (default 100 lines, 200 files)",
            },
            "offset": {"type": "integer", "description": "How many lines or files to skip, for the next page"},
        },
        "required": ["pattern"],
    },
)


@dataclass(frozen=True, slots=True)
class _Request:
    search: Search
    asked_for: str
    is_wanted: Callable[[str], bool]
    mode: str
    offset: int
    limit: int
    redaction: Redaction


def run(root: Path, arguments: Arguments, redaction: Redaction) -> ToolOutput:
    request = _request(root, arguments, redaction)
    try:
        return _answer(root, request)
    except PatternUnsupported as error:
        raise ToolRefusal(f"Grep: {error}.") from error
    except PatternInvalid as error:
        pattern = request.search.pattern
        remark = f"({shown(pattern)} is no regular expression ({error}); searched for as plain text.)"
        literal = replace(request, search=replace(request.search, pattern=_escaped(pattern)))
        answer = _answer(root, literal)
        return ToolOutput(f"{answer.text}\n{remark}", answer.files)


def _request(root: Path, arguments: Arguments, redaction: Redaction) -> _Request:
    pattern = arguments.needed_text("pattern", "regex", "query")
    start = existing(root, arguments.text("path", "directory", default=".") or ".")
    globs = split_list(arguments.text("glob", "file_pattern", "include"))
    mode = arguments.choice("output_mode", "mode", choices=_MODES, default="content")
    case: Case = "ignore" if arguments.is_set("-i", "case_insensitive", default=True) else "sensitive"
    most = DEFAULT_LINES if mode == "content" else DEFAULT_FILES
    if not start.is_dir():
        _refuse_unsearchable(root, start)
    name = relative(root, start)
    names = tuple(n for glob in globs for n in file_names(glob)) if not any(g.startswith("!") for g in globs) else ()
    names = names if len(names) == len(globs) else ()
    return _Request(
        Search(pattern, case, name, names),
        pattern,
        _wanted(root, globs, name),
        mode,
        arguments.number("offset", default=0, most=1 << 31),
        arguments.number("head_limit", "max_results", "limit", default=most, most=MAX_LINES) or most,
        redaction,
    )


def _refuse_unsearchable(root: Path, file: Path) -> None:
    with opened(root, file) as (content, state):
        name = shown(relative(root, file))
        if state.st_size > MAX_SEARCHED_FILE_BYTES:
            raise ToolRefusal(f"{name} is {size_in_words(state.st_size)}, too large to search.")
        start = content.read(3)
        is_text = start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" not in start + content.read(
            MAX_SEARCHED_FILE_BYTES
        )
        if not is_text:
            raise ToolRefusal(f"{name} is a binary file of {size_in_words(state.st_size)}; it is not searched.")


def _wanted(root: Path, globs: list[str], start: str) -> Callable[[str], bool]:
    taken = [matcher(root, glob) for glob in globs if not glob.startswith("!")]
    left = [matcher(root, glob[1:]) for glob in globs if glob.startswith("!")]
    prefix = "" if start == "." else f"{start}/"

    def is_wanted(path: str) -> bool:
        names = {path, path.removeprefix(prefix)}
        return (not taken or any(m(n) for m in taken for n in names)) and not any(m(n) for m in left for n in names)

    return is_wanted


def _answer(root: Path, request: _Request) -> ToolOutput:
    counts = ripgrep.count(root, request.search)
    files = [(path, count) for path, count in counts.files if request.is_wanted(path)]
    if not files:
        return ToolOutput(_nothing(request, counts))
    total = sum(count for _, count in files)
    if request.mode == "content":
        return _content(root, request, files, _cut_short(counts))
    lines = [
        shown(path) if request.mode == "files_with_matches" else f"{shown(path)}: {count}" for path, count in files
    ]
    part = page(lines, offset=_checked_offset(request, len(lines)), limit=request.limit)
    more = f"; go on with offset={part.next_offset}" if part.next_offset else ""
    return ToolOutput(part.text(f"({total} matching lines in {len(files)} files{more}.){_cut_short(counts)}"))


def _content(root: Path, request: _Request, files: list[tuple[str, int]], cut: str) -> ToolOutput:
    total = sum(count for _, count in files)
    offset = _checked_offset(request, total)
    before, shown_files = 0, []
    for path, count in files:
        if before + count > offset and before < offset + request.limit:
            shown_files.append((path, before))
        before += count
    hits = ripgrep.find(root, request.search, "lines", files=[path for path, _ in shown_files])
    by_path = {found.path: found for found in hits.files}
    lines: list[str] = []
    stamps: list[FileStamp] = []
    length = 0
    for path, first in shown_files:
        if path not in by_path or length > MAX_ANSWER_CHARS:
            continue
        wanted = slice(max(0, offset - first), offset + request.limit - first)
        of_file, stamp = _lines_of(root, by_path[path], wanted, request.redaction)
        lines += of_file
        length += sum(map(len, of_file))
        stamps += [stamp] if stamp else []
    part = page(lines, offset=0, limit=request.limit)
    end = offset + len(part.lines)
    more = f"; go on with offset={end}" if end < total else ""
    where = "1 file" if len(files) == 1 else f"{len(files)} files"
    return ToolOutput(part.text(f"({_lines_in_words(total)} in {where}{more}.){cut}"), tuple(stamps))


def _lines_in_words(count: int) -> str:
    return "1 matching line" if count == 1 else f"{count} matching lines"


def _lines_of(root: Path, found: FileHits, wanted: slice, redaction: Redaction) -> tuple[list[str], FileStamp | None]:
    """A file's matching lines as shown, redacted in the light of the whole file, and the stamp of what was read."""
    hits = found.hits[wanted]
    try:
        file = read_text(root, found.path)
    except ToolRefusal:  # it vanished, or changed to something else, since it was searched
        return [], None
    whole = [line.removesuffix("\r") for line in file.text.split("\n")]
    lines = []
    for hit in hits:
        text = redaction.clean_lines(whole, hit.line - 1, hit.line)[0] if hit.line <= len(whole) else hit.text
        at = len(hit.text.encode("utf-8", "replace")[: max(0, hit.column - 1)].decode("utf-8", "ignore"))
        lines.append(f"{shown(found.path)}:{hit.line}:{cut_around(text, at)}")
    return lines, file.stamp


def _checked_offset(request: _Request, total: int) -> int:
    if request.offset >= total:
        raise ToolRefusal(f"Grep: there are {total} results, so there is nothing at offset {request.offset}.")
    return request.offset


def _nothing(request: _Request, counts: Counts) -> str:
    search = request.search
    where = "" if search.start == "." else f" in {shown(search.start)}"
    hints = [f"Nothing matches {shown(request.asked_for)}{where}."]
    if counts.files:
        hints.append(f"Files outside of the glob do match: {', '.join(shown(path) for path, _ in counts.files[:3])}.")
    if "\\|" in request.asked_for:
        hints.append("`\\|` is a literal bar here; write `|` for alternatives.")
    if search.case == "sensitive":
        hints.append("Upper and lower case had to agree.")
    return " ".join(hints) + _cut_short(counts)


def _cut_short(counts: Counts) -> str:
    return "" if counts.is_whole else " (The search was stopped at its limit: narrow it with `path` or `glob`.)"


def _escaped(text: str) -> str:
    return re.sub(r"([\\.+*?()|\[\]{}^$#&~-])", r"\\\1", text)
