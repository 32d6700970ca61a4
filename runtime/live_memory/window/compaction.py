"""What leaves a window that has grown too large, and the window without it. Pure.

In one batch from the threshold down to the floor: each compaction costs the provider's cache, so it has to be rare.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from live_memory.text.tokens import estimate_tokens
from live_memory.window.budget import Budget
from live_memory.window.deltas import pending_tokens, settle
from live_memory.window.files import FileContext
from live_memory.window.frozen import (
    MANIFEST_HEADING,
    OBSERVED_HEADING,
    PREFACE,
    PRELOADED_HEADING,
    held_text,
    manifest_line,
)
from live_memory.window.window import TURN_OVERHEAD_TOKENS, Exchange, History, Window

BLOCK_TOKENS = sum(
    estimate_tokens(t + "\n\n") for t in (PREFACE, PRELOADED_HEADING, OBSERVED_HEADING, MANIFEST_HEADING)
)
LEDGER_RATIO = 0.25  # of the floor, at most, however small the window
ALL_TOKENS = sys.maxsize
HARD_RATIO = 0.95  # of the largest prompt: above it the oldest exchanges go, with facts or without


@dataclass(frozen=True, slots=True)
class Room:
    """What a prompt may take, and what it takes besides the window: tools, instructions, tree, the question at hand.
    `ledger_max_tokens` is the room that is kept for facts."""

    budget: Budget
    fixed_tokens: int
    ledger_max_tokens: int = 0

    @property
    def ledger_tokens(self) -> int:
        return min(self.ledger_max_tokens, int(self.budget.floor_tokens * LEDGER_RATIO))

    @property
    def floor_tokens(self) -> int:
        """What is left below the floor for files and exchanges."""
        return self.budget.floor_tokens - self.fixed_tokens - self.ledger_tokens - BLOCK_TOKENS


@dataclass(frozen=True, slots=True)
class Dropped:
    """What leaves, each the least recently used or the oldest first: the texts of these files (they stay named), the names
    of these paths, these exchanges."""

    texts: tuple[FileContext, ...] = ()
    names: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()


def plan_compaction(window: Window, room: Room) -> Dropped | None:
    """What has to leave so that the window fits below the floor; None while it is not above the threshold. Where dropping
    the deltas is enough, because the frozen block will say what they said, nothing has to."""
    if prompt_tokens(window, room) <= room.budget.threshold_tokens:
        return None
    return beyond_floor(window, room)


def is_over(window: Window, room: Room) -> bool:
    """Whether the window is so large that something has to leave, whatever it costs."""
    return prompt_tokens(window, room) > room.budget.max_tokens * HARD_RATIO


def prompt_tokens(window: Window, room: Room) -> int:
    """The estimated size of the next prompt, with what was observed since the last."""
    frozen_tokens = estimate_tokens(window.frozen) + TURN_OVERHEAD_TOKENS if window.frozen else 0
    tokens = room.fixed_tokens + frozen_tokens + window.history.tokens
    at_most = tokens + pending_tokens(window)
    if not window.pending or at_most <= room.budget.threshold_tokens:
        return at_most
    due = settle(window, ALL_TOKENS).deltas  # diffs are smaller than the texts they are of
    return tokens + sum(delta.tokens for delta in due)


def room_for_news(window: Window, room: Room) -> int:
    """How many tokens of what is pending may be told before something has to leave."""
    return max(0, int(room.budget.max_tokens * HARD_RATIO) - prompt_tokens(replace(window, pending={}), room))


def beyond_floor(window: Window, room: Room) -> Dropped:
    """What does not fit below the floor once the frozen block is made anew: texts first, since they can be read again,
    then names, which can be found again, and exchanges, which cannot, at last."""
    files = absorbed(window).refrozen().files.values()
    excess = -room.floor_tokens
    excess += sum(_file_tokens(file) for file in files) + sum(entry.tokens for entry in window.history.exchanges)
    texts, names, exchanges = [], [], []
    for file in sorted(files, key=_last_use):
        if excess <= 0:
            break
        if file.content is not None:
            excess -= _file_tokens(file) - _name_tokens(file)
            texts.append(file)
    for file in sorted(files, key=_last_use):
        if excess <= 0:
            break
        excess -= _name_tokens(file)
        names.append(file.path)
    for exchange in window.history.exchanges:
        if excess <= 0:
            break
        excess -= exchange.tokens
        exchanges.append(exchange)
    return Dropped(tuple(texts), tuple(names), tuple(exchanges))


def compacted(window: Window, dropped: Dropped, ledger: str) -> Window:
    """`window`, which may have grown since the plan, without what is dropped, its block frozen anew with `ledger`. A file
    that has another text by now keeps it."""
    versions = {file.path: file.sha256 for file in dropped.texts}
    gone = set(dropped.names)
    whole = absorbed(window)
    files = {
        path: _without_text(file) if versions.get(path) == file.sha256 else file
        for path, file in whole.files.items()
        if path not in gone or (file.content is not None and versions.get(path) != file.sha256)
    }
    return replace(_without_exchanges(whole, {entry.id for entry in dropped.exchanges}), files=files).refrozen(ledger)


def absorbed(window: Window) -> Window:
    """`window` holding what was observed since the last question, without a word of it in the history: only for a window
    whose block is about to be made anew."""
    return window.with_deltas((), settle(window, ALL_TOKENS).files) if window.pending else window


def _without_exchanges(window: Window, ids: Collection[int]) -> Window:
    kept: Iterable[Exchange] = [entry for entry in window.history.exchanges if entry.id not in ids]
    history = History.of(kept)
    gone = len(window.history.exchanges) - len(history.entries)
    return replace(window, history=history, left_out=window.left_out + gone)


def _without_text(file: FileContext) -> FileContext:
    return replace(file, content=None)


def _last_use(file: FileContext) -> tuple[bool, float, str]:
    """Reference files that the settings name go after all others."""
    return (file.origin == "preload", max(file.used_at_s, file.read_at_s), file.path)


def _file_tokens(file: FileContext) -> int:
    if file.content is None:
        return _name_tokens(file)
    return estimate_tokens(held_text(file) + "\n")


def _name_tokens(file: FileContext) -> int:
    return estimate_tokens(manifest_line(file) + "\n")
