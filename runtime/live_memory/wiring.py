"""The only place where ports meet adapters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from live_memory.agent.background import Background
from live_memory.agent.desk import QuestionDesk
from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import Explorers, FileSight, Threads, TreeFiles
from live_memory.agent.note_search import NoteSight
from live_memory.agent.seat import Models
from live_memory.clock import Clock
from live_memory.configuration import Configuration, load
from live_memory.embed.choice import embedder_of
from live_memory.embed.extra import SemanticExtra
from live_memory.explore import held_files, presence, repo_identity
from live_memory.explore.jail import read_text
from live_memory.explore.passages import find_passages, render_passages
from live_memory.explore.spelling import ignores_case
from live_memory.explore.toolbox import TOOL_SPECS, run_tool
from live_memory.explore.tree import directory_tree
from live_memory.explore.walk import is_ignored
from live_memory.llm.choice import Choice, choose, connect
from live_memory.memory.capture.distiller import Bench
from live_memory.memory.capture.keeping import Keeping
from live_memory.memory.capture.runner import Capture
from live_memory.memory.dream.dead_references import Eyes
from live_memory.memory.dream.run import Means
from live_memory.memory.dream.runner import DreamBench, Dreams
from live_memory.memory.dream.tree_texts import TreeTexts
from live_memory.memory.library import Library, Shelf
from live_memory.memory.meaning import THREADS, Meaning, Source
from live_memory.memory.notebook import Notebook
from live_memory.memory.place import Identities, Places
from live_memory.memory.porter import Porter
from live_memory.memory.provenance import Provenance
from live_memory.memory.recall import Recall
from live_memory.memory.search import Search
from live_memory.settings import Settings
from live_memory.store.base import Store
from live_memory.store.note_store import NoteStore
from live_memory.store.sqlite import SqliteStore
from live_memory.text.redaction import Redaction

DATABASE_FILE = "live-memory.db"


class Assembly(NamedTuple):
    """What a server serves, all of it over one database."""

    desk: QuestionDesk
    library: Library
    capture: Capture
    dreams: Dreams


def assemble(
    data_dir: Path, configuration: Configuration, *, clock: Clock, model_absence: str | None = None
) -> Assembly:
    """All that is kept in the database in `data_dir`; `model_absence` says why no model can be used at all, where that is so.

    StoreError when the database cannot be used.
    """
    store, threads = SqliteStore(data_dir / DATABASE_FILE), Threads()

    async def find_notes(root: Path, question: str, limit: int) -> Sequence[NoteSight]:
        return await library.bearing_on(root, question, limit)

    desk = QuestionDesk(
        configuration,
        lambda: load(data_dir),
        Models(_chosen, connect, model_absence),
        store,
        Equipment(explorers(), threads, clock, tree_files(), find_notes),
    )
    notes = store.note_store
    packages = SemanticExtra(data_dir)
    source = Source(lambda values: embedder_of(values, packages), store.note_vectors, Threads(THREADS))
    meaning = Meaning(source, lambda: desk.settings, clock)
    library = library_over(notes, desk.root, lambda: desk.settings, threads, clock, meaning)
    keeping = Keeping(library.notebook, notes, clock)
    bench = Bench(store.transcripts, keeping, desk.background, threads, clock)
    dreams = Dreams(DreamBench(store, means(store, threads, desk.background), clock), library.places)
    return Assembly(desk, library, Capture(bench, library.places), dreams)


def means(store: Store, threads: Threads, background: Background) -> Means:
    """What a dream looks at the code with."""
    eyes = Eyes(threads, presence.names_in, presence.paths_in)
    texts = TreeTexts(threads, held_files.read, held_files.is_gone, held_files.standing)
    return Means(store.notes, eyes, texts, background)


def library_over(  # noqa: PLR0913, PLR0917  # one parameter a part: this is where they meet
    notes: NoteStore,
    locate: Callable[[str], Awaitable[Path]],
    in_force: Callable[[], Settings],
    threads: Threads,
    clock: Clock,
    meaning: Meaning | None = None,
) -> Library:
    """The library over a store; `locate` gives the root of a folder, `in_force` the settings."""
    provenance = Provenance(threads, _looked_at, held_files.is_gone)
    places = Places(locate, Identities(repo_identity.repo_id, repo_identity.bears), threads, notes, clock)
    return Library(
        places,
        Notebook(notes, clock, in_force, threads, _looked_at),
        Search(notes, clock, in_force, meaning),
        Recall(notes, provenance, clock, in_force, meaning),
        Shelf(notes, in_force, clock, provenance.states),
        Porter(places, notes, clock, in_force),
        meaning,
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
