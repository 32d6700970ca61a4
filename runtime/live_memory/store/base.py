"""The store port: windows and accounts that outlive the process. An exchange is appended, never rewritten.

All calls are short and synchronous, and come from one thread at a time. They raise StoreError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

from live_memory.llm.base import Purpose, Usage
from live_memory.notes.note import Fact
from live_memory.store.dream_log import DreamLog
from live_memory.store.note_store import NoteStore
from live_memory.store.notes import Notes
from live_memory.store.transcript_queue import TranscriptQueue
from live_memory.window.files import FileContext, Observation
from live_memory.window.window import Delta, Exchange, Window

NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Account:
    """What one question, or all requests of some days, took. `unpriced` counts the questions without a known price,
    which `cost_usd` therefore leaves out; `saved_usd` is how much more the same would have cost without any cache."""

    questions: int = 0
    requests: int = 0
    usage: Usage = NO_USAGE
    cost_usd: float = 0.0
    unpriced: int = 0
    saved_usd: float = 0.0

    def __add__(self, other: Account) -> Account:
        return Account(
            self.questions + other.questions,
            self.requests + other.requests,
            self.usage + other.usage,
            self.cost_usd + other.cost_usd,
            self.unpriced + other.unpriced,
            self.saved_usd + other.saved_usd,
        )


@dataclass(frozen=True, slots=True)
class Answered:
    """What an answered question leaves behind. `exchange` is None where nothing of it enters the window."""

    account: Account
    at_s: float
    exchange: Exchange | None = None
    files: tuple[FileContext, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedWindow:
    """A window as it was saved, and when its tree was made (Unix seconds)."""

    window: Window
    tree_at_s: float


@dataclass(frozen=True, slots=True)
class Harvest:
    """What is kept of what leaves a window: facts, and which exchanges they carry (an exchange may have held none)."""

    facts: tuple[Fact, ...] = ()
    exchange_ids: tuple[int, ...] = ()


NO_HARVEST = Harvest()


def utc_day(at_s: float) -> str:
    """The day of an instant (Unix seconds), `YYYY-MM-DD`."""
    return datetime.fromtimestamp(at_s, UTC).date().isoformat()


def first_id(window: Window, last_id: int) -> int:
    """The id of the oldest entry that prompts carry; one past `last_id`, the newest saved, where they carry none."""
    entries = window.history.entries
    return entries[0].id if entries else last_id + 1


class Store(Protocol):
    """Windows by root (a canonical path as text), accounts by root, UTC day (`YYYY-MM-DD`) and purpose."""

    @property
    def notice(self) -> str:
        """What the operator should know about the database; empty when all is well."""
        ...

    @property
    def notes(self) -> Notes:
        """The facts, kept in the same place."""
        ...

    @property
    def note_store(self) -> NoteStore:
        """All notes, the facts among them, kept in the same place."""
        ...

    @property
    def transcripts(self) -> TranscriptQueue:
        """The sessions' transcripts that wait to be distilled, kept in the same place."""
        ...

    @property
    def dreams(self) -> DreamLog:
        """The runs that tidied the notes, kept in the same place."""
        ...

    def load(self, root: str) -> SavedWindow | None:
        """The window of `root` with the entries its prompt carries; None when there is none. `tree_at_s` is 0 where only
        observations were saved so far."""
        ...

    def begin(self, root: str, window: Window, at_s: float) -> None:
        """Keep the tree, the frozen block, the ledger and the files of `window` for `root`; entries stay as they are saved."""
        ...

    def refreeze(
        self, root: str, window: Window, tree_at_s: float | None = None, harvest: Harvest = NO_HARVEST
    ) -> None:
        """Save all that `window` is, once its frozen block was made anew, and `harvest` with it, or nothing: exchanges
        older than its first stay saved but no prompt carries them, deltas go. `tree_at_s` None: the tree is as old as it
        was."""
        ...

    def owed(self, root: str, limit: int) -> tuple[Exchange, ...]:
        """The oldest exchanges that neither prompts carry nor facts."""
        ...

    def observe(self, root: str, seen: Mapping[str, Observation | None]) -> None:
        """Keep what is pending of these paths; None: nothing is any more."""
        ...

    def forget_unasked(self, count: int) -> None:
        """Forget the windows that nothing but observations was ever saved of, but for the `count` seen last."""
        ...

    def append_deltas(
        self, root: str, deltas: Sequence[Delta], files: Iterable[FileContext], at_s: float
    ) -> tuple[Delta, ...]:
        """Save `deltas` and `files`, after which nothing is pending; the deltas come back with their ids."""
        ...

    def record(self, root: str, answered: Answered) -> Exchange | None:
        """Save all of `answered`, or nothing, and return its exchange with its id. Its account is a question's."""
        ...

    def charge(self, root: str, purpose: Purpose, account: Account, at_s: float) -> None:
        """Enter what was spent for another purpose than a question."""
        ...

    def clear(self, root: str) -> None:
        """Forget the window of `root` and its facts; accounts stay."""
        ...

    def account(self, root: str = "", day: str = "", purpose: Purpose | Literal[""] = "") -> Account:
        """The sum over the days of `root`; empty names mean all of them."""
        ...

    def size_bytes(self) -> int:
        """What the store takes on disk."""
        ...

    def close(self) -> None: ...
