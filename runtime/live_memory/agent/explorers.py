"""What the agent may do to a tree, and the threads in which it does it: all of it reads, all of it blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from live_memory.explore.base import FileSignature, FileStamp, SeenText, Standing, ToolOutput
from live_memory.text.redaction import Redaction
from live_memory.window.messages import ToolSpec

THREADS = 16  # explorers at work at once, over all questions; the others wait

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True, slots=True)
class FileSight:
    """A text file as it is now: the stamp of its bytes, and how many lines it has."""

    stamp: FileStamp
    lines: int


@dataclass(frozen=True, slots=True)
class Explorers:
    """The explorers as functions of a canonical root. `run_tool` (name, arguments as JSON) and `look_at` (path) raise
    ToolRefusal; `find_passages` gives the best places for a question as text, empty when there are none. What shows the
    text of files does so as the Redaction it is given leaves it."""

    specs: tuple[ToolSpec, ...]
    run_tool: Callable[[Path, str, str, Redaction], ToolOutput]
    directory_tree: Callable[[Path, int], str]
    find_passages: Callable[[Path, str, Redaction], str]
    look_at: Callable[[Path, str], FileSight]


@dataclass(frozen=True, slots=True)
class TreeFiles:
    """The files of a tree, for what the window holds of them; paths as `locate` gives them, below a canonical root.

    `locate`, `read` and `stamp` (with the most bytes that they take) raise ToolRefusal; `signature` is None where no file is;
    `prepare` makes of a text from elsewhere what `read` would have given, ToolRefusal for none that is kept; `matching`
    gives the files that globs name, those of the first glob first. `is_gone` is not so where the disk does not tell, and
    `standing` is whether the tree can be seen at all. Where `is_case_blind`, all spellings of a name are one file.
    """

    locate: Callable[[Path, str], str]
    read: Callable[[Path, str, int], SeenText]
    stamp: Callable[[Path, str, int], FileStamp]
    prepare: Callable[[str, str, int], SeenText]
    signature: Callable[[Path, str], FileSignature | None]
    is_ignored: Callable[[Path, str], bool]
    matching: Callable[[Path, Sequence[str]], Iterable[str]]
    is_gone: Callable[[Path, str], bool]
    standing: Callable[[Path], Standing]
    is_case_blind: Callable[[Path], bool]


class Threads:
    """A bounded pool. A call that nobody waits for any more runs on to its own bound and is forgotten."""

    def __init__(self, count: int = THREADS) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="explore")

    async def run(self, timeout_s: float, call: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """What `call` returns; TimeoutError after `timeout_s`, waiting for a free thread included."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(max(0.0, timeout_s)):
            return await loop.run_in_executor(self._pool, call, *arguments)

    def begin(self, call: Callable[[*Arguments], Result], *arguments: *Arguments) -> asyncio.Future[Result]:
        """What `call` will return, for whoever waits for it later, or not at all."""
        return asyncio.get_running_loop().run_in_executor(self._pool, call, *arguments)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
