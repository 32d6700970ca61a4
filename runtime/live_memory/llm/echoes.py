"""What a provider wants back word for word in the same question's next round: signed thoughts, hidden reasoning.

A conversation keeps neutral blocks only, so an adapter keeps these beside the id of the tool call they came with.
They are forgotten oldest first; a history never holds tool calls of an earlier question, so few live at a time.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

MAX_ECHOES = 1024

T = TypeVar("T")


class Echoes(Generic[T]):
    """A bounded map from a tool call's id to what belongs with it."""

    def __init__(self, max_echoes: int = MAX_ECHOES) -> None:
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._max_echoes = max_echoes

    def keep(self, call_id: str, value: T) -> None:
        self._kept[call_id] = value
        while len(self._kept) > self._max_echoes:
            self._kept.popitem(last=False)

    def of(self, call_id: str) -> T | None:
        return self._kept.get(call_id)
