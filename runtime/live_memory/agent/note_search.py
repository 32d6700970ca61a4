"""The notes for one question, other than facts: searched once, in the hints of a model and beside passages.

They come through a port, because the notes are kept above the agent; without one there are none.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from live_memory.errors import LiveMemoryError
from live_memory.notes.note import Note
from live_memory.notes.rendering import cut, shown_as_data, table_line, whole_text
from live_memory.text.tokens import estimate_tokens, truncate_to_tokens

logger = logging.getLogger(__name__)

MAX_NOTES = 3
SEARCH_TIMEOUT_S = 1.0
MAX_TOKENS = 1200  # as much as recall gives to a prompt
WINDOW_RATIO = 1 / 64  # of a small window
EXCERPT_CHARS = 300


@dataclass(frozen=True, slots=True)
class NoteSight:
    """A note and the state of the files that it rests on: FRESH, STALE, GONE, empty where it names none."""

    note: Note
    state: str


FindNotes: TypeAlias = Callable[[Path, str, int], Awaitable[Sequence[NoteSight]]]


async def no_notes(_root: Path, _question: str, _limit: int) -> Sequence[NoteSight]:
    """For a desk without a library."""
    return ()


class NoteSearch:
    """The notes of one question; nothing that goes wrong with them keeps it from an answer."""

    def __init__(self, find: FindNotes, root: Path, question: str) -> None:
        self._find = find
        self._root = root
        self._question = question
        self._found: Sequence[NoteSight] | None = None

    async def for_model(self, window_tokens: int) -> str:
        """The notes whole, fenced, as far as they have room in a window of this size; empty without any."""
        room_tokens = min(MAX_TOKENS, int(window_tokens * WINDOW_RATIO))
        texts: list[str] = []
        for sight in await self._sights():
            text = truncate_to_tokens(whole_text(sight.note, sight.state), room_tokens)
            if not text:
                break
            room_tokens -= estimate_tokens(text)
            texts.append(text)
        return shown_as_data("\n\n".join(texts)) if texts else ""

    async def for_reader(self) -> str:
        """A line for each note with the beginning of what it says, fenced: a model may be who reads the answer. Empty without
        any."""
        lines = [
            f"{table_line(sight.note, sight.state)}\n  {cut(' '.join(sight.note.body.split()), EXCERPT_CHARS)}"
            for sight in await self._sights()
        ]
        return shown_as_data("\n".join(lines)) if lines else ""

    async def _sights(self) -> Sequence[NoteSight]:
        if self._found is None:
            try:
                async with asyncio.timeout(SEARCH_TIMEOUT_S):
                    self._found = await self._find(self._root, self._question, MAX_NOTES)
            except (TimeoutError, OSError, LiveMemoryError) as error:
                logger.info("no notes root=%s reason=%s", self._root, type(error).__name__)
                self._found = ()
        return self._found
