"""A process that dreams over a store and kills itself at a given write: `python dying_dream.py DATABASE TREE WRITE AMID|AFTER`.

Started by a test; a WRITE of 0 lets it live, and it prints the report.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "runtime")]

from support.dreamt_notes import dreams_over  # noqa: E402  # found only now

from live_memory.agent.explorers import Threads  # noqa: E402
from live_memory.store.note_store import Change, NoteStore  # noqa: E402
from live_memory.store.sqlite import SqliteStore  # noqa: E402


class Dying:
    """A store that ends its process amid the transaction of one write, or right behind its commit."""

    def __init__(self, store: NoteStore, write: int, occasion: str) -> None:
        self._store = store
        self._left = write
        self._occasion = occasion

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        self._left -= 1
        if self._left:
            return self._store.apply(changes)
        if self._occasion == "AMID":
            return self._store.apply(_dying_after_the_first(changes))
        made = self._store.apply(changes)
        _die()
        return made


def _dying_after_the_first(changes: Iterable[Change]) -> Iterable[Change]:
    for number, change in enumerate(changes):
        yield change
        if number:
            break
    _die()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(database: str, tree: str, write: str, occasion: str) -> None:
    store, threads = SqliteStore(Path(database)), Threads(2)
    if int(write):
        store._note_store = Dying(store.note_store, int(write), occasion)  # type: ignore[assignment]
    answer = await dreams_over(store, Path(tree), threads).dream(tree, "force")
    print(json.dumps(answer))
    threads.close()
    store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
