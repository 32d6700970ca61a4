"""Notes whose code is gone: what they name is looked for in the tree, and where most of it is gone they expire by their
priority. What could not be looked for counts as being there."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from live_memory.agent.explorers import Threads
from live_memory.explore.presence import NOTHING, Presence
from live_memory.memory.dream.workbook import Edit, Workbook
from live_memory.notes.lifecycle import DAY_S
from live_memory.notes.note import Kind, Note
from live_memory.notes.references import References, parts, references

DEAD_RATIO = 0.5
GRACE_DAYS = 7
LOOK_S = 30.0  # for all names in one tree, and again for all paths
SLACK_S = 5.0
MAX_TREES = 3  # other trees of the repository, which may hold another branch
UNCHECKED: frozenset[Kind] = frozenset({"fact", "session", "state", "concept"})
Look: TypeAlias = Callable[[Path, Collection[str], float], Presence]


@dataclass(frozen=True, slots=True)
class Eyes:
    """How a tree is asked for names and for paths; both block."""

    threads: Threads
    names_in: Look
    paths_in: Look

    async def absent(self, look: Look, trees: list[Path], wanted: frozenset[str]) -> frozenset[str]:
        """Those of `wanted` that are surely in the first tree not, and not found in the others either."""
        missing = (await self._looked(look, trees[0], wanted)).absent if wanted else frozenset()
        for tree in trees[1:]:
            missing -= (await self._looked(look, tree, missing)).found if missing else frozenset()
        return missing

    async def _looked(self, look: Look, tree: Path, wanted: frozenset[str]) -> Presence:
        try:
            return await self.threads.run(LOOK_S + SLACK_S, look, tree, wanted, LOOK_S)
        except (TimeoutError, OSError):
            return NOTHING


async def check(book: Workbook, eyes: Eyes) -> None:
    """Grade the repository's notes by what of their code is left."""
    named: dict[str, References] = {}
    for note in book.alive():
        await book.breathe()
        if note.scope == book.place.repo_id and note.kind not in UNCHECKED and len(found := references(note)):
            named[note.id] = found
    others = [Path(root) for root in book.store.trees(book.place.repo_id) if Path(root) != book.place.root]
    trees = [book.place.root, *others[:MAX_TREES]]
    words: set[str] = set()
    paths: set[str] = set()
    for found in named.values():
        await book.breathe()
        words.update(word for name in found.names for word in words_of(name))
        paths.update(found.paths)
    gone_words = await eyes.absent(eyes.names_in, trees, frozenset(words))
    gone_paths = await eyes.absent(eyes.paths_in, trees, frozenset(paths))
    for note_id, found in named.items():
        await book.breathe()
        graded = book.get((book.place.repo_id, note_id))
        dead = [name for name in found.names if any(word in gone_words for word in words_of(name))]
        dead += [path for path in found.paths if path in gone_paths]
        if graded is not None and len(dead) > DEAD_RATIO * len(found):
            _grade(book, graded, dead)


def _grade(book: Workbook, note: Note, dead: list[str]) -> None:
    why = "gone from the code: " + ", ".join(dead)
    if note.priority == "P0":
        book.report.add("doubtful", note.id, why=why)
        return
    now_s = book.clock.wall_s()
    until_s = now_s + GRACE_DAYS * DAY_S if note.priority == "P1" else now_s
    if note.expires_at_s is not None and note.expires_at_s <= until_s:
        return
    if book.write([Edit("expire", note, replace(note, expires_at_s=until_s), why)]):
        book.report.add("given grace" if note.priority == "P1" else "given up", note.id, why=why)


def words_of(name: str) -> tuple[str, ...]:
    """What has to stand in the code for a name to be there; nothing where an engine could not look for it."""
    words = tuple(part.strip("$") for part in parts(name))
    return words if all(word.replace("_", "a").isalnum() for word in words) else ()
