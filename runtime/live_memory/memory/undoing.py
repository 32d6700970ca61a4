"""Which changes of the log are in force, and what takes them back: an undo is itself a change, and names the one it undid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from live_memory.store.note_store import Change

BatchOf: TypeAlias = Callable[[str], Sequence[Change]]  # the changes of a batch by its name, the newest first

_UNDONE = re.compile(r"undo of (\d+)")


def undone(newest_first: Iterable[Change]) -> frozenset[int]:
    """The numbers of the changes that were taken back, and not made again by an undo of the undo."""
    numbers: set[int] = set()
    for change in newest_first:
        match = _UNDONE.fullmatch(change.reason) if change.action == "undo" else None
        if match and change.number not in numbers:
            numbers.add(int(match[1]))
    return frozenset(numbers)


def batch_in_force(batch_of: BatchOf, batch: str) -> tuple[Change, ...]:
    """The changes of a batch that were not taken back, the newest first."""
    changes, name = batch_of(batch), undo_of(batch)
    undos: list[Change] = []
    while found := batch_of(name):  # an undo, an undo of it, and so on
        undos, name = [*found, *undos], undo_of(name)
    gone = undone(sorted(undos, key=lambda change: -change.number))
    return tuple(change for change in changes if change.number not in gone)


def newest_in_force(newest_first: Sequence[Change], batch_of: BatchOf) -> tuple[Change, ...]:
    """The change that an undo without a name means, with all of its batch, which may have written elsewhere too; none
    where nothing is left."""
    gone, passed = undone(newest_first), {""}
    for change in newest_first:
        if change.action == "undo" or change.number in gone:
            continue
        if not change.batch:
            return (change,)
        if change.batch not in passed and (found := batch_in_force(batch_of, change.batch)):
            return found
        passed.add(change.batch)
    return ()


def reversal(newest_first: Iterable[Change], now_s: float, actor: str) -> tuple[Change, ...]:
    """The changes that take these back, the newest first."""
    return tuple(
        Change("undo", change.after, change.before, now_s, actor, f"undo of {change.number}", undo_of(change.batch))
        for change in newest_first
    )


def undo_of(batch: str) -> str:
    """The name of the batch that takes a batch back."""
    return f"undo {batch}" if batch else ""
