"""The plain engine without its process, so that hundreds of searches take no time."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

from live_memory.explore import plain, ripgrep
from live_memory.explore.search import Search


class InProcess:
    """Stands where the child process would."""

    is_whole = True

    def __init__(self, task: plain.Task, root: Path, search: Search, starts: list[str] | None = None) -> None:
        starts = [search.start] if starts is None else starts
        self.request_json = plain.command(task, search, starts, ripgrep.left_out(root, search))[-1]
        self.root = root

    def __iter__(self) -> Iterator[bytes]:
        out = io.BytesIO()
        with contextlib.chdir(self.root):
            self.code, self.stderr = plain.answer(self.request_json, out)
        yield out.getvalue()

    def output(self) -> bytes:
        return b"".join(self)
