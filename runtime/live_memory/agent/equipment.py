"""What every question works with."""

from __future__ import annotations

from dataclasses import dataclass

from live_memory.agent.explorers import Explorers, Threads
from live_memory.clock import Clock


@dataclass(frozen=True, slots=True)
class Equipment:
    """The explorers, the threads they run in, and the time."""

    explorers: Explorers
    threads: Threads
    clock: Clock
