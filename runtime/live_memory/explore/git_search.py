"""git_search: the history, for the why: commits by message and path, with their files or their diffs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore import git
from live_memory.explore.arguments import Arguments
from live_memory.explore.base import ToolOutput
from live_memory.explore.child import Bounds
from live_memory.explore.jail import relative, resolve, shown
from live_memory.explore.paging import MAX_ANSWER_CHARS, cut_around, fitting
from live_memory.explore.secret_files import SECRET_NAMES, is_secret_file
from live_memory.text.redaction import Redaction
from live_memory.window.messages import ToolSpec

DEFAULT_COMMITS = 20
DEFAULT_DIFFS = 5
MAX_COMMITS = 100
MAX_BODY_LINES = 30
MAX_FILES_NAMED = 20
MAX_DIFF_LINES = 300
MAX_DIFF_CHARS = 25_000
BOUNDS = Bounds(timeout_s=20, max_bytes=4 << 20)
TOO_LONG = "git needed too long to search the history; name a file or folder in `path`."
_COMMIT, _FIELD, _END = "\x1e", "\x1f", "\x1d"
_FORMAT = "--format=%x1e%h%x1f%ad%x1f%an%x1f%B%x1d"

SPEC = ToolSpec(
    name="git_search",
    description=(
        "Search the commit history, newest first: why and when something changed. By words of the message, by path, "
        "optionally with diffs."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "Regular expression over commit messages, case ignored (default: all)",
            },
            "path": {
                "type": "string",
                "description": "Only commits that touch this file or folder; a file is followed through renames",
            },
            "patch": {"type": "boolean", "description": "Show the diffs (default false: the names of the files)"},
            "limit": {"type": "integer", "description": "How many commits (default 20, with diffs 5)"},
            "offset": {"type": "integer", "description": "How many commits to skip, for the next page"},
        },
    },
)


@dataclass(frozen=True, slots=True)
class _Request:
    query: str
    path: str
    content: str
    limit: int
    offset: int


def run(root: Path, arguments: Arguments, redaction: Redaction) -> ToolOutput:
    path = arguments.text("path", "file_path", "directory").strip()
    has_diffs = arguments.is_set("patch", "diff", "show_diff", "-p", "p", default=False)
    default = DEFAULT_DIFFS if has_diffs else DEFAULT_COMMITS
    request = _Request(
        arguments.text("query", "pattern", "regex", "grep"),
        relative(root, resolve(root, path)) if path else ".",
        "--patch" if has_diffs else "--name-status",
        arguments.number("limit", "max_results", "head_limit", "max_count", default=default, most=MAX_COMMITS)
        or default,
        arguments.number("offset", "skip", default=0, most=1 << 31),
    )
    if has_diffs and is_secret_file(request.path):
        raise ToolRefusal(f"{shown(request.path)} may hold secrets by its name, so its changes are not shown.")
    printed, is_whole = _log(root, request)
    # Before anything is cut: half a secret is known by nobody.
    printed = redaction.clean(printed)
    commits = [commit for commit in printed.split(_COMMIT)[1:] if _END in commit]
    shown_commits = commits[: request.limit]
    if not shown_commits:
        return ToolOutput(_nothing(request) if is_whole else TOO_LONG)
    text, count = _rendered(shown_commits)
    is_last = count == len(commits) and is_whole
    more = "" if is_last else f"\n(More commits: go on with offset={request.offset + count}.)"
    stopped = "" if is_whole or not more else " (git was stopped at its limit; a `path` makes it quicker.)"
    return ToolOutput(text + more + stopped)


def _log(root: Path, request: _Request) -> tuple[str, bool]:
    command = ["log", _FORMAT, "--date=short", "--encoding=UTF-8", "--no-decorate", "--no-show-signature", "--no-color"]
    command += ["--no-ext-diff", "--no-textconv", request.content]
    command += [f"--max-count={request.limit + 1}", f"--skip={request.offset}"]
    if request.query.strip():
        command += ["--regexp-ignore-case", "--extended-regexp", f"--grep={request.query}"]
    is_file = request.path != "." and not (root / request.path).is_dir()
    scope = [f":(literal){request.path}"]
    if request.content == "--patch" and not is_file:
        scope += [f":(exclude,icase,glob)**/{name}" for name in SECRET_NAMES]
    command += [*(["--follow"] if is_file else []), "--", *scope]
    printed, child = git.output(root, command, BOUNDS)
    return printed.decode("utf-8", "replace"), child.is_whole


def _rendered(commits: list[str]) -> tuple[str, int]:
    """The commits as text, and how many of them fitted."""
    texts: list[str] = []
    length = 0
    for commit in commits:
        text = "\n".join(_commit_lines(commit))
        if texts and length + len(text) > MAX_ANSWER_CHARS:
            break
        texts.append(text)
        length += len(text)
    return "\n\n".join(texts), len(texts)


def _commit_lines(commit: str) -> Iterator[str]:
    head, _, rest = commit.partition(_END)
    short_hash, date, author, message = [*head.split(_FIELD, 3), "", "", ""][:4]
    yield f"commit {short_hash} {date} {shown(author)}"
    body = message.strip().split("\n")
    yield from (f"    {cut_around(line.rstrip(), 0)}".rstrip() for line in body[:MAX_BODY_LINES])
    if len(body) > MAX_BODY_LINES:
        yield f"    … ({len(body) - MAX_BODY_LINES} more lines of message)"
    changes = rest.strip("\n").split("\n") if rest.strip() else []
    if not changes or changes[0].startswith("diff --"):
        diff = fitting([cut_around(line, 0) for line in changes[:MAX_DIFF_LINES]], MAX_DIFF_CHARS)
        yield from diff
        if len(changes) > len(diff):
            yield f"… ({len(changes) - len(diff)} more lines of diff; name a file in `path` to see them)"
        return
    yield "  " + ", ".join(line.replace("\t", " ", 1).replace("\t", " -> ") for line in changes[:MAX_FILES_NAMED])
    if len(changes) > MAX_FILES_NAMED:
        yield f"  … and {len(changes) - MAX_FILES_NAMED} more files"


def _nothing(request: _Request) -> str:
    about = f" whose message matches {shown(request.query)}" if request.query else ""
    where = f" that touches {shown(request.path)}" if request.path != "." else ""
    later = f" after the first {request.offset}" if request.offset else ""
    return f"There is no commit{about}{where}{later}."
