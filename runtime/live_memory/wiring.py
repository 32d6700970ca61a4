"""The only place where ports meet adapters."""

from __future__ import annotations

from pathlib import Path

from live_memory import settings
from live_memory.agent.desk import QuestionDesk
from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import Explorers, FileSight, Threads, TreeFiles
from live_memory.agent.seat import Models
from live_memory.clock import Clock
from live_memory.explore import held_files
from live_memory.explore.jail import read_text
from live_memory.explore.passages import find_passages, render_passages
from live_memory.explore.spelling import ignores_case
from live_memory.explore.toolbox import TOOL_SPECS, run_tool
from live_memory.explore.tree import directory_tree
from live_memory.explore.walk import is_ignored
from live_memory.llm.choice import Choice, choose, connect
from live_memory.settings import Configuration
from live_memory.store.sqlite import SqliteStore
from live_memory.text.redaction import Redaction

DATABASE_FILE = "live-memory.db"


def assemble(
    data_dir: Path, configuration: Configuration, *, clock: Clock, model_absence: str | None = None
) -> QuestionDesk:
    """The desk over the database in `data_dir`; `model_absence` says why no model can be used at all, where that is so.

    StoreError when the database cannot be used.
    """
    return QuestionDesk(
        configuration,
        lambda: settings.load(data_dir),
        Models(_chosen, connect, model_absence),
        SqliteStore(data_dir / DATABASE_FILE),
        Equipment(explorers(), Threads(), clock, tree_files()),
    )


def explorers() -> Explorers:
    """The explorers of the explore package, as the agent knows them."""
    return Explorers(TOOL_SPECS, run_tool, directory_tree, _found_passages, _looked_at)


def tree_files() -> TreeFiles:
    """The files of a tree as the explore package reads them."""
    return TreeFiles(
        held_files.locate,
        held_files.read,
        held_files.stamp,
        held_files.prepare,
        held_files.signature,
        is_ignored,
        held_files.matching,
        held_files.is_gone,
        held_files.standing,
        ignores_case,
    )


def _chosen(configuration: Configuration, now_s: float) -> Choice:
    return choose(configuration, now_s=now_s)


def _found_passages(root: Path, question: str, redaction: Redaction) -> str:
    return redaction.clean(render_passages(find_passages(root, question, redaction=redaction)))


def _looked_at(root: Path, path: str) -> FileSight:
    file = read_text(root, path)
    return FileSight(file.stamp, file.text.count("\n") + 1)
