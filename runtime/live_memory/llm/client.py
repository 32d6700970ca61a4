"""A provider's SDK as both adapters hold it: imported when first needed, and given a bounded time for each request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar

from live_memory.llm.choice import Choice
from live_memory.llm.failures import no_package, out_of_time

CONNECT_TIMEOUT_S = 10.0


class Closable(Protocol):
    """Any SDK's client."""

    async def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class LazyClient(Generic[C]):
    """The client that `make` makes for `choice`: once, in a thread, because importing an SDK takes a second or two."""

    def __init__(self, choice: Choice, make: Callable[[Choice], C]) -> None:
        self._choice = choice
        self._make = make
        self._starting = asyncio.Lock()
        self._client: C | None = None

    @property
    def is_started(self) -> bool:
        return self._client is not None

    async def started(self) -> C:
        """The client; ModelError where its package is missing."""
        async with self._starting:
            if self._client is None:
                try:
                    self._client = await asyncio.to_thread(self._make, self._choice)
                except ImportError as error:
                    raise no_package(self._choice) from error
            return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


@asynccontextmanager
async def in_time(choice: Choice, timeout_s: float) -> AsyncIterator[None]:
    """A request that may take `timeout_s` in all, the import included; Unavailable when it takes longer."""
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError as error:
        raise out_of_time(choice, timeout_s) from error
