"""Where somebody works: the tree, whose files are read, and the repository, whose notes are shared by all its trees."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from live_memory.agent.explorers import Threads
from live_memory.clock import Clock
from live_memory.errors import StoreError, ToolRefusal
from live_memory.notes.note import GLOBAL
from live_memory.store.note_store import Change, NoteStore

logger = logging.getLogger(__name__)

KNOWN_S = 60.0  # how long a tree is taken for the repository that it was found to be
IDENTITY_TIMEOUT_S = 10.0
MAX_TREES_ASKED = 16


@dataclass(frozen=True, slots=True)
class Place:
    """A canonical root and the id of its repository."""

    root: Path
    repo_id: str

    @property
    def scopes(self) -> tuple[str, str]:
        """Whose notes are seen here."""
        return (self.repo_id, GLOBAL)


@dataclass(frozen=True, slots=True)
class Identities:
    """What a tree is: its repository's id, and whether another id is its as well. Both block, and raise ToolRefusal where
    git does not tell."""

    repo_id: Callable[[Path], str]
    bears: Callable[[Path, str], bool]


class Places:
    """Places by folder. `locate` gives the canonical root of one, or raises QuestionError."""

    def __init__(
        self,
        locate: Callable[[str], Awaitable[Path]],
        identities: Identities,
        threads: Threads,
        store: NoteStore,
        clock: Clock,
    ) -> None:
        self._locate = locate
        self._identities = identities
        self._threads = threads
        self._store = store
        self._clock = clock
        self._known: dict[Path, tuple[Place, float]] = {}

    async def of(self, cwd: str) -> Place:
        """The place that the folder `cwd` belongs to. Notes follow a tree that has got another id, unless a tree that is
        still there keeps the old one."""
        root = await self._locate(cwd)
        place, until_s = self._known.get(root, (None, 0.0))
        if place is None or self._clock.monotonic_s() >= until_s:
            place = Place(root, await self._repo_id(root))
            self._known[root] = (place, self._clock.monotonic_s() + KNOWN_S)
        return place

    async def _repo_id(self, root: Path) -> str:
        before = self._store.repo_of(str(root))
        try:
            repo_id = await self._threads.run(IDENTITY_TIMEOUT_S, self._identities.repo_id, root)
            if (
                before
                and before != repo_id
                and await self._threads.run(IDENTITY_TIMEOUT_S, self._is_left, root, before)
            ):
                self._move(before, repo_id)
        except (ToolRefusal, TimeoutError):
            return before or f"path:{root}"  # git is slow or gone for now: what was known holds
        except StoreError:
            return before  # somebody writes there just now, or nobody can: next time
        try:
            self._store.know_tree(str(root), repo_id, self._clock.wall_s())
        except StoreError as error:  # no reason not to read
            logger.info("tree not noted root=%s reason=%s", root, error)
        return repo_id

    def _is_left(self, root: Path, before: str) -> bool:
        """Whether the notes of `before` are this tree's, and no other tree's. Another repository that was put into the
        folder of one that was removed bears nothing of its id."""
        if not self._identities.bears(root, before):
            return False
        others = [Path(tree) for tree in self._store.trees(before) if tree != str(root)]
        there = [tree for tree in others if tree.is_dir()][:MAX_TREES_ASKED]
        return all(self._identities.repo_id(tree) != before for tree in there)

    def _move(self, before: str, repo_id: str) -> None:
        now_s = self._clock.wall_s()
        batch = f"move {before} {repo_id} {now_s:.0f}"
        taken = {note.id for note in self._store.notes([repo_id])}
        changes = []
        for note in self._store.notes([before]):
            name, number = note.id, 1
            while name in taken:
                number += 1
                name = f"{note.id}-{number}"
            taken.add(name)
            moved = replace(note, scope=repo_id, id=name)
            reason = f"the repository is known as {repo_id} now"
            changes.append(Change("move", note, moved, now_s, "live-memory", reason, batch))
        self._store.apply(changes)
        logger.info("moved notes=%d from=%s to=%s", len(changes), before, repo_id)
