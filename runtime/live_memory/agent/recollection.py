"""The facts that a question is given beside what stands in the window: found by search, and checked against the tree."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from live_memory.agent.equipment import Equipment
from live_memory.agent.explorers import FileSight
from live_memory.agent.workspace import Workspace
from live_memory.errors import StoreError, ToolRefusal
from live_memory.notes import ledger
from live_memory.notes.note import Fact
from live_memory.text.tokens import estimate_tokens
from live_memory.window.window import Window

logger = logging.getLogger(__name__)

MAX_FACTS = 8  # of a question
CANDIDATES = 24  # those that stand in the ledger are not told twice
FACTS_RATIO = 1 / 32  # of the window that they may take
CHECK_TIMEOUT_S = 1.0


async def recollected(
    workspace: Workspace, equipment: Equipment, question: str, window_tokens: int
) -> tuple[Fact, ...]:
    """The facts that bear on `question` and that no prompt carries yet, best first, stale ones marked as such."""
    window = workspace.window
    if window is None:
        return ()
    try:
        found = workspace.notes.search(workspace.key, question, CANDIDATES)
        facts = _fitting(ledger.missing(window.ledger, found), window_tokens)
        workspace.notes.count_use(workspace.key, facts)
        return await _checked(facts, window, workspace, equipment)
    except StoreError:
        logger.exception("no facts root=%s", workspace.root)
        return ()


def _fitting(facts: Iterable[Fact], window_tokens: int) -> list[Fact]:
    chosen: list[Fact] = []
    room_tokens = int(window_tokens * FACTS_RATIO)
    for fact in facts:
        room_tokens -= estimate_tokens(fact.text)
        if room_tokens < 0 or len(chosen) == MAX_FACTS:
            break
        chosen.append(fact)
    return chosen


async def recheck(workspace: Workspace, equipment: Equipment) -> None:
    """Demote the facts of the ledger whose files have changed while no process looked."""
    window = workspace.known_window()
    if not window.ledger:
        return
    facts = workspace.notes.facts(workspace.key)
    beside = {fact.id for fact in ledger.missing(window.ledger, facts)}
    await _looked_after([fact for fact in facts if fact.id not in beside], window, workspace, equipment)


async def _checked(
    facts: Iterable[Fact], window: Window, workspace: Workspace, equipment: Equipment
) -> tuple[Fact, ...]:
    """The facts as the tree has it now."""
    kept = tuple(facts)
    hashes = await _looked_after(kept, window, workspace, equipment)
    return tuple(_as_of(fact, hashes) for fact in kept)


async def _looked_after(
    facts: Iterable[Fact], window: Window, workspace: Workspace, equipment: Equipment
) -> Mapping[str, str | None]:
    """What the files of `facts` hold now, as far as the window does not hold them (those are checked before every question);
    facts that rest on something else are demoted. Nothing when the file system does not answer in time."""
    foreign = sorted({path for fact in facts for path in fact.sources if path not in window.files})
    if not foreign:
        return {}
    try:
        is_there, look_at = partial(workspace.freshness.is_there, window), equipment.explorers.look_at
        hashes = await equipment.threads.run(CHECK_TIMEOUT_S, _hashes, workspace.root, foreign, is_there, look_at)
    except TimeoutError:
        logger.warning("facts not checked in time root=%s", workspace.root)
        return {}
    for path, sha256 in hashes.items():
        workspace.doubt(path, sha256)
    return hashes


def _as_of(fact: Fact, hashes: Mapping[str, str | None]) -> Fact:
    changed = {path for path, sha256 in fact.sources.items() if path in hashes and hashes[path] != sha256}
    return replace(fact, changed=frozenset(changed | {path for path in fact.changed if path not in hashes}))


def _hashes(
    root: Path, paths: Iterable[str], is_there: Callable[[], bool], look_at: Callable[[Path, str], FileSight]
) -> dict[str, str | None]:
    """The SHA-256 of what the files hold now, None where there is none that can be read; nothing where the tree cannot be
    seen. Blocking."""
    hashes: dict[str, str | None] = {}
    if not is_there():
        return hashes
    for path in paths:
        try:
            hashes[path] = look_at(root, path).stamp.sha256
        except (ToolRefusal, OSError):
            hashes[path] = None
    return hashes
