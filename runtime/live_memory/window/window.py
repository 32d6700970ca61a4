"""The context window: an append-only conversation about one tree. Pure: it never reads a file, a clock or the network.

A window is a value. A fork is the value itself, a commit appends to whatever window is current by then: so a fork
cannot alter its parent, and two questions answered at once both stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from live_memory.text.tokens import estimate_tokens
from live_memory.window.files import FileContext
from live_memory.window.messages import Text, Turn

TURN_OVERHEAD_TOKENS = 4  # role marks and separators around a message


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its answer; `id` grows with each one that is saved."""

    id: int
    question: str
    answer: str
    tokens: int = field(init=False)
    turns: tuple[Turn, Turn] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        turns = (Turn("user", (Text(self.question),)), Turn("assistant", (Text(self.answer),)))
        tokens = estimate_tokens(self.question) + estimate_tokens(self.answer) + 2 * TURN_OVERHEAD_TOKENS
        object.__setattr__(self, "turns", turns)
        object.__setattr__(self, "tokens", tokens)


@dataclass(frozen=True, slots=True)
class History:
    """Exchanges, oldest first, with their turns and their estimated size. Growing it by one costs the same at any length."""

    entries: tuple[Exchange, ...] = ()
    turns: tuple[Turn, ...] = field(default=(), repr=False)
    tokens: int = 0

    @classmethod
    def of(cls, entries: Iterable[Exchange]) -> History:
        kept = tuple(entries)
        turns = tuple(turn for entry in kept for turn in entry.turns)
        return cls(kept, turns, sum(entry.tokens for entry in kept))

    def with_entry(self, entry: Exchange) -> History:
        return History((*self.entries, entry), self.turns + entry.turns, self.tokens + entry.tokens)


NO_HISTORY = History()


@dataclass(frozen=True, slots=True)
class Window:
    """`tree` and `frozen` stand before the conversation and change only when a new window is begun. `left_out` counts
    the exchanges that the store still holds and that no prompt carries any more."""

    tree: str
    frozen: str = ""
    history: History = NO_HISTORY
    files: Mapping[str, FileContext] = field(default_factory=dict)
    left_out: int = 0

    @property
    def is_cold(self) -> bool:
        """Whether nothing has been learned yet."""
        return not self.history.entries and not self.files

    def with_exchange(self, exchange: Exchange, files: Iterable[FileContext] = ()) -> Window:
        """This window with `exchange` after everything it holds, and `files` as last seen."""
        seen = {file.path: file for file in files}
        merged = {**self.files, **seen} if seen else self.files
        return replace(self, history=self.history.with_entry(exchange), files=merged)

    def without_before(self, entry_id: int) -> Window:
        """This window without the entries older than `entry_id`, which counts them as left out."""
        kept = [entry for entry in self.history.entries if entry.id >= entry_id]
        gone = len(self.history.entries) - len(kept)
        return replace(self, history=History.of(kept), left_out=self.left_out + gone) if gone else self
