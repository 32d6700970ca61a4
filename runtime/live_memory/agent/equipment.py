"""What every question works with."""

from __future__ import annotations

from dataclasses import dataclass, field

from live_memory.agent.cleaning import Tally
from live_memory.agent.explorers import Explorers, Threads, TreeFiles
from live_memory.agent.note_search import FindNotes, no_notes
from live_memory.clock import Clock


@dataclass(frozen=True, slots=True)
class Equipment:
    """The explorers, the threads they run in, the time, the files of the tree, where notes are found, and how many secrets
    were taken out of all that came in."""

    explorers: Explorers
    threads: Threads
    clock: Clock
    files: TreeFiles
    find_notes: FindNotes = no_notes
    tally: Tally = field(default_factory=Tally)
