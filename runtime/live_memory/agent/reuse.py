"""Questions asked again: the answer of before, while no file that it rests on has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from live_memory.agent.answers import Citation
from live_memory.explore.base import FileStamp
from live_memory.text.tokens import estimate_tokens
from live_memory.window.files import FileContext
from live_memory.window.window import Exchange, Window

REMARK = "[Asked before: this is the answer of then, and no file it rests on has changed since.]"
# What these tools bring rests on more than files: the answer to the same question may be another one a moment later.
FLEETING_TOOLS = frozenset(["get_changed_files", "git_search"])


def answer_of_before(window: Window, question: str, max_answer_tokens: int) -> Exchange | None:
    """The latest exchange of this question (case and space folded) whose files are what they were, as `window` knows
    them; None where there is none, or its answer is longer than wished."""
    wanted = folded(question)
    for entry in reversed(window.history.entries):
        if isinstance(entry, Exchange) and entry.sources and folded(entry.question) == wanted:
            is_short_enough = estimate_tokens(entry.answer) <= max_answer_tokens
            return entry if is_short_enough and _is_current(window, entry) else None
    return None


@lru_cache(maxsize=65536)  # every question is compared with all that a window holds
def folded(question: str) -> str:
    return " ".join(question.casefold().split())


def sources_of(
    citations: Iterable[Citation], read: Iterable[FileStamp], tools: Iterable[str]
) -> tuple[tuple[str, str], ...]:
    """The files that an answer rests on: those cited and those read, as (path, SHA-256), by path. None at all where that is
    not the whole of it, or the answer was out of date when it was given."""
    cited = tuple(citations)
    if FLEETING_TOOLS.intersection(tools) or any(citation.state == "STALE" for citation in cited):
        return ()
    stamps = {stamp.path: stamp.sha256 for stamp in read}
    stamps |= {citation.stamp.path: citation.stamp.sha256 for citation in cited if citation.stamp}
    return tuple(sorted(stamps.items()))


def files_of(
    citations: Iterable[Citation], read: Iterable[FileStamp], known: Mapping[str, FileContext], at_s: float
) -> tuple[FileContext, ...]:
    """The files that an answer rests on, as the window knows them from now on. To cite a file that is `known` uses it; only
    to read it makes another version known."""
    files: dict[str, FileContext] = {}
    for citation in citations:
        if citation.stamp is not None:
            held = known.get(citation.stamp.path)
            files[citation.stamp.path] = replace(held, used_at_s=at_s) if held else _as_read(citation.stamp, at_s)
    files |= {stamp.path: _as_read(stamp, at_s) for stamp in read}
    return tuple(file for path, file in files.items() if path.isascii() or _is_text(path))


def _as_read(stamp: FileStamp, at_s: float) -> FileContext:
    return FileContext(stamp.path, stamp.sha256, stamp.size_bytes, stamp.mtime_ns, at_s, used_at_s=at_s)


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_current(window: Window, exchange: Exchange) -> bool:
    for path, sha256 in exchange.sources:
        file = window.files.get(path)
        if file is None or file.state != "fresh" or file.sha256 != sha256 or path in window.pending:
            return False
    return True
