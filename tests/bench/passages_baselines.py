"""What the passages benchmark compares with: counting words by ripgrep, and BM25 over chunks of forty lines in FTS5."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from pathlib import Path

from live_memory.explore import ripgrep
from live_memory.explore.child import Bounds, Child
from live_memory.explore.search import Search
from live_memory.text.languages import STOP_WORDS, language_of
from live_memory.text.terms import fold, terms

CHUNK_LINES = 40
MAX_FILE_BYTES = 1 << 20
LIMIT = 5


def question_words(question: str) -> list[str]:
    """The question's words of three letters and more, its language's stop words left out."""
    words = re.findall(r"[\w$]{3,}", fold(question))
    stop = STOP_WORDS[language_of(words)] | STOP_WORDS["en"]
    return [word for word in dict.fromkeys(words) if word not in stop]


def by_counts(root: Path, question: str) -> list[tuple[str, int, int]]:
    """The files in which ripgrep counts most of the question's words; the place of the lines is unknown."""
    words = question_words(question)
    if not words:
        return []
    argv = [
        str(ripgrep.find_ripgrep()),
        "--no-config",
        "--ignore-case",
        "--count-matches",
        "--null",
        "--hidden",
        "--glob=!.git",
    ]
    argv += [f"--max-filesize={MAX_FILE_BYTES}", *(f"-e{re.escape(word)}" for word in words), "--", "."]
    counts: Counter[str] = Counter()
    for line in Child(argv, root, Bounds(60, 64 << 20)).output().split(b"\n"):
        path, nul, number = line.partition(b"\0")
        if nul:
            counts[path.decode("utf-8", "replace").removeprefix("./")] = int(number)
    return [(path, 1, 1) for path, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:LIMIT]]


class ChunkIndex:
    """Every text file of a tree in chunks of forty lines, identifiers split, in a table of FTS5 at `file`: built when it is
    not there, and always before the clock runs."""

    def __init__(self, root: Path, file: Path) -> None:
        if not file.exists():
            _build(root, file)
        self.database = sqlite3.connect(file)

    def best(self, question: str) -> list[tuple[str, int, int]]:
        """The best chunks as (path, first line, last line)."""
        words = {term for word in question_words(question) for term in terms(word)}
        words |= {term for term in terms(question) if not term.isalpha()}
        query = " OR ".join('"' + word.replace('"', "") + '"' for word in sorted(words))
        if not query:
            return []
        rows = self.database.execute(
            "SELECT path, line FROM chunk WHERE chunk MATCH ? ORDER BY bm25(chunk), path, line LIMIT ?", (query, LIMIT)
        )
        return [(path, line, line + CHUNK_LINES - 1) for path, line in rows]


def _build(root: Path, file: Path) -> None:
    partial = file.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    database = sqlite3.connect(partial)
    with database:
        database.execute("CREATE VIRTUAL TABLE chunk USING fts5(path UNINDEXED, line UNINDEXED, terms)")
        for path in ripgrep.list_files(root, Search("")).paths:
            database.executemany("INSERT INTO chunk VALUES (?, ?, ?)", _chunks(root, path))
    database.close()
    partial.rename(file)


def _chunks(root: Path, path: str) -> list[tuple[str, int, str]]:
    try:
        content = (root / path).read_bytes()
    except OSError:
        return []
    if b"\0" in content or len(content) > MAX_FILE_BYTES:
        return []
    lines = content.decode("utf-8", "replace").split("\n")
    return [
        (path, start + 1, " ".join(terms(path) + terms("\n".join(lines[start : start + CHUNK_LINES]))))
        for start in range(0, len(lines), CHUNK_LINES)
    ]
