"""What the streamed replies of both protocols have in common: they grow piece by piece, within a measure, to their end.

No SDK is imported here: the pieces are read by the names of the protocols.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, Callable
from typing import Any, TypeAlias

from live_memory.llm.choice import Choice
from live_memory.llm.failures import MalformedReply, broken_off, nonsense
from live_memory.llm.meter import Meter

Json: TypeAlias = dict[str, Any]


class StreamedReply(ABC):
    """A streamed reply as it grows; once it `is_full`, no more of it need be read."""

    def __init__(self, max_output_tokens: int) -> None:
        self._meter = Meter(max_output_tokens)
        self.has_started = False

    async def read(self, pieces: AsyncIterable[object], on_text: Callable[[str], None]) -> None:
        """Take in what the stream brings, to its end or until that is enough; `on_text` gets the prose."""
        async for piece in pieces:
            if prose := self.grow(piece):
                on_text(prose)
            if self.is_full:
                break

    def grow(self, piece: object) -> str:
        """Take one piece in; the prose that it brought. MalformedReply when it is none of the protocol's."""
        try:
            return self._grown(piece)
        except (AttributeError, LookupError, TypeError) as error:
            raise MalformedReply from error

    @property
    def is_full(self) -> bool:
        return self._meter.is_full

    @property
    @abstractmethod
    def has_ended(self) -> bool:
        """Whether all of it has come, or as much as is wanted."""

    def require_whole(self, choice: Choice) -> None:
        """BadReply where nothing of the protocol has come, Unavailable where it broke off before its end."""
        if not self.has_started:
            raise nonsense(choice)
        if not self.has_ended:
            raise broken_off(choice)

    @abstractmethod
    def _grown(self, piece: Any) -> str:
        """The prose in `piece`; AttributeError, LookupError or TypeError where it is none of the protocol's."""
