"""The only place where ports meet adapters."""

from __future__ import annotations

from pathlib import Path

from live_memory import settings
from live_memory.agent.desk import Explorers, QuestionDesk
from live_memory.clock import Clock
from live_memory.settings import Configuration


def assemble(
    data_dir: Path, configuration: Configuration, *, clock: Clock, model_absence: str | None = None
) -> QuestionDesk:
    """The desk over the database in `data_dir`; `model_absence` says why no model can be used at all, where that is so."""
    return QuestionDesk(configuration, Explorers(_found_passages), clock, lambda: settings.load(data_dir))


def _found_passages(root: Path, question: str) -> str:
    from live_memory.explore.passages import find_passages, render_passages

    return render_passages(find_passages(root, question))
