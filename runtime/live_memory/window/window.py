"""The context window: an append-only conversation about one tree. Pure: it never reads a file, a clock or the network.

A window is a value. A fork is the value itself, a commit appends to whatever window is current by then: so a fork
cannot alter its parent, and two questions answered at once both stay. What stands before the conversation is rendered
by `refrozen` alone; between two of these every change of a file is an entry of the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from live_memory.text.tokens import size_of
from live_memory.window.files import FileContext, Observation
from live_memory.window.frozen import frozen_block
from live_memory.window.messages import Text, Turn

TURN_OVERHEAD_TOKENS = 4  # role marks and separators around a message
DELTA_REPLY = "Noted."  # roles take turns at every provider


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its answer; `id` grows with each entry that is saved. `sources` are the files that the answer
    rests on, as (path, SHA-256); empty where it does not rest on files alone, so that it is not given again."""

    id: int
    question: str
    answer: str
    sources: tuple[tuple[str, str], ...] = ()
    tokens: int = field(init=False)
    wide_tokens: int = field(init=False, repr=False)  # of these, those of Chinese, Japanese and Korean text
    turns: tuple[Turn, Turn] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _set_turns(self, self.question, self.answer)


@dataclass(frozen=True, slots=True)
class Delta:
    """What became of one file since the question before, or which files are stale or gone: `text` as it is sent."""

    id: int
    text: str
    paths: tuple[str, ...]
    tokens: int = field(init=False)
    wide_tokens: int = field(init=False, repr=False)  # of these, those of Chinese, Japanese and Korean text
    turns: tuple[Turn, Turn] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _set_turns(self, self.text, DELTA_REPLY)


Entry: TypeAlias = Exchange | Delta


def _set_turns(entry: Entry, said: str, replied: str) -> None:
    size = size_of(said) + size_of(replied)
    object.__setattr__(entry, "turns", (Turn("user", (Text(said),)), Turn("assistant", (Text(replied),))))
    object.__setattr__(entry, "tokens", size.tokens + 2 * TURN_OVERHEAD_TOKENS)
    object.__setattr__(entry, "wide_tokens", size.wide_tokens)


@dataclass(frozen=True, slots=True)
class History:
    """Entries, oldest first, with their turns and their estimated size. Growing it by one costs the same at any length."""

    entries: tuple[Entry, ...] = ()
    turns: tuple[Turn, ...] = field(default=(), repr=False)
    tokens: int = 0
    wide_tokens: int = 0

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> History:
        kept = tuple(entries)
        turns = tuple(turn for entry in kept for turn in entry.turns)
        return cls(kept, turns, sum(entry.tokens for entry in kept), sum(entry.wide_tokens for entry in kept))

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Exchange))

    def with_entry(self, entry: Entry) -> History:
        return History(
            (*self.entries, entry),
            self.turns + entry.turns,
            self.tokens + entry.tokens,
            self.wide_tokens + entry.wide_tokens,
        )


NO_HISTORY = History()


@dataclass(frozen=True, slots=True)
class Window:
    """`tree` and `frozen` stand before the conversation. `ledger` (its text with its headings) and `files` are what is
    known by now; `frozen` is what they were when it was rendered. `pending` is what was seen since the last question.
    `left_out` counts the exchanges that the store still holds and that no prompt carries any more."""

    tree: str
    frozen: str = ""
    history: History = NO_HISTORY
    files: Mapping[str, FileContext] = field(default_factory=dict)
    left_out: int = 0
    ledger: str = ""
    pending: Mapping[str, Observation] = field(default_factory=dict)

    @property
    def is_cold(self) -> bool:
        """Whether nothing has been learned yet."""
        return not (self.history.entries or self.files or self.ledger)

    def with_exchange(self, exchange: Exchange, files: Iterable[FileContext] = ()) -> Window:
        """This window with `exchange` after everything it holds, and `files` as last read."""
        return replace(self.with_read(files), history=self.history.with_entry(exchange))

    def with_read(self, files: Iterable[FileContext]) -> Window:
        """This window after its model read `files`. Content that prompts carry stays what it is: only a delta changes it."""
        read = {file.path: _read_again(self.files.get(file.path), file) for file in files}
        return replace(self, files={**self.files, **read}) if read else self

    def with_observation(self, seen: Observation) -> Window:
        """This window with `seen` waiting for the next question, collapsed with what waits already; itself when it
        learns nothing."""
        held, waiting = self.files.get(seen.path), self.pending.get(seen.path)
        if seen.says_what_is_known(held):
            if waiting is None:
                return self
            return replace(self, pending={path: each for path, each in self.pending.items() if path != seen.path})
        if waiting is not None:
            if (waiting.state, waiting.text, waiting.sha256) == (seen.state, seen.text, seen.sha256):
                return self
            seen = replace(seen, changes=waiting.changes + seen.changes)
        return replace(self, pending={**self.pending, seen.path: seen})

    def with_deltas(self, deltas: Iterable[Delta], files: Iterable[FileContext]) -> Window:
        """This window with `deltas` at its end, after which it holds `files`; nothing is pending any more."""
        history = self.history
        for delta in deltas:
            history = history.with_entry(delta)
        held = {file.path: file for file in files}
        return replace(self, history=history, files={**self.files, **held} if held else self.files, pending={})

    def refrozen(self, ledger: str | None = None) -> Window:
        """This window with its frozen block made anew from the files it holds by now and from `ledger` (None: the one it
        has). Its deltas go, since the block says what they said; so do the files that are no longer there, and the text of
        stale ones."""
        facts = self.ledger if ledger is None else ledger
        files = {path: _for_freezing(file) for path, file in self.files.items() if file.state != "deleted"}
        return replace(
            self,
            frozen=frozen_block(facts, files.values()),
            history=History.of(self.history.exchanges),
            files=files,
            ledger=facts,
        )

    def without_before(self, entry_id: int) -> Window:
        """This window without the entries older than `entry_id`; exchanges count as left out. Where a delta is among them,
        the text of its files goes too, and the frozen block is made anew."""
        gone = [entry for entry in self.history.entries if entry.id < entry_id]
        if not gone:
            return self
        kept = History.of(entry for entry in self.history.entries if entry.id >= entry_id)
        exchanges = sum(isinstance(entry, Exchange) for entry in gone)
        shorter = replace(self, history=kept, left_out=self.left_out + exchanges)
        shed = {path for entry in gone if isinstance(entry, Delta) for path in entry.paths}
        if not shed:
            return shorter
        files = {path: replace(file, content=None) if path in shed else file for path, file in self.files.items()}
        return replace(shorter, files=files).refrozen()


def _read_again(held: FileContext | None, read: FileContext) -> FileContext:
    if held is None or held.content is None:
        return read
    return replace(held, used_at_s=max(held.used_at_s, read.used_at_s, read.read_at_s))


def _for_freezing(file: FileContext) -> FileContext:
    return replace(file, content=None) if file.state == "stale" and file.content is not None else file
