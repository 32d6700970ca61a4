"""What is remembered of a workspace's compactions: whether one is under way, and when the next may distil."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

LONG_AGO_S = float("-inf")


@dataclass(slots=True)
class CompactionState:
    """`ended` is set when the compaction under way is over, None while there is none. Instants are monotonic, but for
    `last_at_s` (Unix seconds, 0: none yet)."""

    count: int = 0
    last_at_s: float = 0.0
    ended: asyncio.Event | None = None
    distilled_at_s: float = LONG_AGO_S
    retry_at_s: float = LONG_AGO_S
