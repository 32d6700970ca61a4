"""What every question works with."""

from __future__ import annotations

from dataclasses import dataclass

from live_memory.agent.explorers import Explorers, Threads, TreeFiles
from live_memory.clock import Clock


@dataclass(frozen=True, slots=True)
class Equipment:
    """The explorers, the threads they run in, the time, and the files of the tree."""

    explorers: Explorers
    threads: Threads
    clock: Clock
    files: TreeFiles
