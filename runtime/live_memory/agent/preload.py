"""Reference documents that a window knows from its beginning: the files of the setting preload_globs. Blocking; run in a
thread."""

from __future__ import annotations

import logging
from pathlib import Path

from live_memory.agent.explorers import TreeFiles
from live_memory.agent.sightings import observed
from live_memory.errors import ToolRefusal
from live_memory.explore.globbing import split_list
from live_memory.settings import Settings
from live_memory.text.tokens import estimate_tokens
from live_memory.window.files import Observation

logger = logging.getLogger(__name__)


def preloaded(
    files: TreeFiles, root: Path, settings: Settings, max_tokens: int, at_s: float
) -> tuple[Observation, ...]:
    """The documents in the order of the globs, as many as fit `preload_max_total_bytes` and `max_tokens`: more of them
    would only be compacted away by the first question."""
    globs = split_list(settings.preload_globs)
    if not globs:
        return ()
    left_bytes, left_tokens, left_out = settings.preload_max_total_bytes, max_tokens, 0
    taken: list[Observation] = []
    for path in files.matching(root, globs):
        try:
            seen = files.read(root, files.locate(root, path), settings.passive_max_file_bytes)
        except ToolRefusal:
            continue
        tokens = estimate_tokens(seen.text)
        if seen.stamp.size_bytes > left_bytes or tokens > left_tokens:
            left_out += 1
            continue
        left_bytes -= seen.stamp.size_bytes
        left_tokens -= tokens
        taken.append(observed(seen, at_s, "preload"))
    if left_out:
        logger.warning("preload cut root=%s taken=%d left_out=%d max_tokens=%d", root, len(taken), left_out, max_tokens)
    return tuple(taken)
