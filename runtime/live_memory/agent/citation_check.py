"""Whether the places that an answer names exist, and are as they were when they were read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath

from live_memory.agent.answers import Citation, CitationState
from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import FileSight
from live_memory.errors import ToolRefusal
from live_memory.text.citations import Reference, find_references

logger = logging.getLogger(__name__)

CHECK_TIMEOUT_S = 2.0
MAX_FILES = 40  # of one answer; a file is read whole to be checked


async def citations_of(text: str, root: Path, known: Mapping[str, str], equipment: Equipment) -> tuple[Citation, ...]:
    """As `check_citations`, in a thread; all UNVERIFIED when the file system does not answer in time."""
    references = find_references(text)
    if not references:
        return ()
    look_at = equipment.explorers.look_at
    try:
        return await equipment.threads.run(CHECK_TIMEOUT_S, check_citations, text, root, known, look_at)
    except TimeoutError:
        logger.warning("citations not checked in time root=%s", root)
        return tuple(Citation(r.paths[-1], r.line_start, r.line_end, "UNVERIFIED") for r in references)


def check_citations(
    text: str, root: Path, known: Mapping[str, str], look_at: Callable[[Path, str], FileSight]
) -> tuple[Citation, ...]:
    """The citations of `text`, each checked against the tree as it is now. `known` maps the paths of the files that
    were read to the SHA-256 of what was read. Blocking."""
    checker = _Checker(root, known, look_at)
    citations = (checker.check(reference) for reference in find_references(text))
    return tuple(dict.fromkeys(citations))


class _Checker:
    def __init__(self, root: Path, known: Mapping[str, str], look_at: Callable[[Path, str], FileSight]) -> None:
        self._root = root
        self._known = known
        self._look_at = look_at
        self._sights: dict[str, FileSight | None] = {}

    def check(self, reference: Reference) -> Citation:
        for path in self._readings(reference.paths):
            if (sight := self._sight(path)) is not None:
                state = self._state(reference, sight)
                return Citation(sight.stamp.path, reference.line_start, reference.line_end, state, sight.stamp)
        return Citation(reference.paths[-1], reference.line_start, reference.line_end, "UNVERIFIED")

    def _state(self, reference: Reference, sight: FileSight) -> CitationState:
        if self._known.get(sight.stamp.path, sight.stamp.sha256) != sight.stamp.sha256:
            return "STALE"
        return "FRESH" if 1 <= reference.line_start <= reference.line_end <= sight.lines else "UNVERIFIED"

    def _readings(self, paths: Iterable[str]) -> Iterable[str]:
        """The files that a written path can mean: as it stands, and the only file read that ends in it."""
        for path in paths:
            yield path
            tail = "/" + path.removeprefix("./")
            ending = [known for known in self._known if ("/" + known).endswith(tail)]
            if len(ending) == 1:
                yield ending[0]

    def _sight(self, path: str) -> FileSight | None:
        key = str(PurePosixPath(path))
        if key not in self._sights:
            self._sights[key] = self._looked_up(path) if len(self._sights) < MAX_FILES else None
        return self._sights[key]

    def _looked_up(self, path: str) -> FileSight | None:
        try:
            return self._look_at(self._root, path)
        except (ToolRefusal, OSError):
            return None
