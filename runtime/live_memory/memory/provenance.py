"""What became of the files that notes rest on: whether they hold what they held when the notes were written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from live_memory.agent.explorers import FileSight, Threads
from live_memory.errors import ToolRefusal
from live_memory.memory.place import Place
from live_memory.notes.note import GLOBAL, Note

WAIT_S = 1.0
FRESH, STALE, GONE, UNKNOWN = "FRESH", "STALE", "GONE", ""


class Provenance:
    """The states of notes. `look_at` (root, path) reads a file or raises ToolRefusal; `is_gone` is not so where the disk
    does not tell."""

    def __init__(
        self, threads: Threads, look_at: Callable[[Path, str], FileSight], is_gone: Callable[[Path, str], bool]
    ) -> None:
        self._threads = threads
        self._look_at = look_at
        self._is_gone = is_gone

    async def states(self, notes: Sequence[Note], place: Place, within_s: float = WAIT_S) -> Mapping[str, str]:
        """Id → FRESH, STALE where a file has changed, GONE where one is no more, or empty: of a note that rests on no file,
        and where it could not be told in `within_s`."""
        states = {note.id: UNKNOWN for note in notes}
        resting = [note for note in notes if note.sources and note.scope != GLOBAL]
        if resting:
            found: dict[str, str] = {}
            with suppress(TimeoutError):  # what was found by then is told
                await self._threads.run(within_s, self._look, resting, place.root, found)
            states.update(dict(found))
        return states

    def _look(self, notes: Iterable[Note], root: Path, found: dict[str, str]) -> None:
        seen: dict[tuple[Path, str], str | None] = {}
        for note in notes:
            tree = Path(note.scope) if note.kind == "fact" else root
            for path in note.sources:
                if (tree, path) not in seen:
                    seen[tree, path] = self._sha256(tree, path)
            found[note.id] = _state(note.sources, {path: seen[tree, path] for path in note.sources})

    def _sha256(self, tree: Path, path: str) -> str | None:
        """What the file holds; None where it is gone, empty where that cannot be told."""
        try:
            return self._look_at(tree, path).stamp.sha256
        except ToolRefusal:
            return None if self._is_gone(tree, path) else ""


def _state(sources: Mapping[str, str], now: Mapping[str, str | None]) -> str:
    if any(sha256 is None for sha256 in now.values()):
        return GONE
    if any(sha256 and sha256 != sources[path] for path, sha256 in now.items()):
        return STALE
    return FRESH if all(now.values()) else UNKNOWN
