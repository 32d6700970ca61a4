"""The entrance for notes that leave, come, or change their repository; names a place by its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from live_memory.clock import Clock
from live_memory.errors import QuestionError
from live_memory.memory.merging import Merging, Union
from live_memory.memory.place import Places
from live_memory.memory.transfer import Extent, Mode, Page, Parcel, Receipt, Transfer
from live_memory.notes.note import GLOBAL
from live_memory.settings import Settings
from live_memory.store.note_store import Key, NoteStore

ID_BEGINNINGS = ("git:", "commit:", "path:")


@dataclass(frozen=True, slots=True)
class Merged:
    """The notes of `source` are those of `target` now."""

    source: str
    target: str
    union: Union


class Porter:
    """Owned by one event loop."""

    def __init__(self, places: Places, store: NoteStore, clock: Clock, settings: Callable[[], Settings]) -> None:
        self._places = places
        self._store = store
        self._transfer = Transfer(store, clock, settings)
        self._merging = Merging(store, clock)

    async def export(self, cwd: str, extent: Extent, after: Key | None) -> Page:
        """The next notes of an export; from the first one on where `after` is None."""
        return await self._transfer.export(await self._places.of(cwd), extent, after)

    async def take(self, cwd: str, parcel: Parcel) -> Receipt:
        """Keep some notes of an import."""
        return await self._transfer.take(await self._places.of(cwd), parcel)

    async def merge(self, source: str, target: str, mode: Mode) -> Merged:
        """Bring the notes of one identity to another; each is a repo id or a folder, which may be gone. QuestionError where
        nobody knows it."""
        from_id, to_id = await self._identity(source), await self._identity(target)
        if to_id != GLOBAL and to_id not in self._store.scopes() and not self._store.trees(to_id):
            raise QuestionError(
                "no-notes",
                f"No repository is known as {to_id}: name a folder of the one that is to have the notes.",
                status=404,
            )
        return Merged(from_id, to_id, await self._merging.merge(from_id, to_id, mode))

    async def _identity(self, word: str) -> str:
        if word == GLOBAL or word.startswith(ID_BEGINNINGS):
            return word
        if _is_there(word):
            return (await self._places.of(word)).repo_id
        known = self._store.repo_of(word) or f"path:{word}"
        if known not in self._store.scopes():
            raise QuestionError(
                "no-notes",
                f"There is no folder {word}, and no notes of one are kept: name it as it was called then, or its repo id.",
                status=404,
            )
        return known


def _is_there(folder: str) -> bool:
    """Whether a folder still exists: one look, which is quick."""
    return Path(folder).is_dir()
