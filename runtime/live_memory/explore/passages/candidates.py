"""Which files hold a question's words, and where: one pass of the search engine over the tree.

The engine's output is cut up by file and kept as it is: most files are only ever counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from live_memory.explore.ripgrep import printed_matches
from live_memory.explore.search import PatternInvalid, PatternUnsupported, Search

MAX_LINES_PER_FILE = 1000
MAX_FILE_BYTES = 1 << 20
_BINARY_NOTICES = (b"binary file matches", b"WARNING: stopped searching binary file")


def find_candidates(root: Path, pattern: str, skipped: Sequence[str], timeout_s: float) -> Mapping[str, bytes]:
    """Path → its matches, a `line:column:match` per line, of every file in which `pattern` matches; when the time runs
    out, of those found so far. Secret files may be among them. Empty where the engine cannot take the pattern."""
    search = Search(
        pattern,
        case="sensitive",
        skipped=tuple(skipped),
        max_per_file=MAX_LINES_PER_FILE,
        max_file_bytes=MAX_FILE_BYTES,
        timeout_s=timeout_s,
    )
    try:
        printed = printed_matches(root, search)
    except (PatternInvalid, PatternUnsupported, OSError):
        return {}
    blocks: dict[str, bytes] = {}
    for chunk in printed.split(b"\n\n"):
        raw_path, nul, block = chunk.partition(b"\0")
        if not nul or any(notice in block for notice in _BINARY_NOTICES):
            continue
        path = raw_path.strip(b"\n").removeprefix(b"./").decode("utf-8", "replace")
        if "\ufffd" not in path:
            blocks[path] = block
    return blocks
