"""The directory tree of a new window: made once, bounded in size and in time."""

from __future__ import annotations

import logging
from pathlib import Path

from live_memory.agent.equipment import Equipment
from live_memory.agent.seat import ModelSeat
from live_memory.errors import LiveMemoryError
from live_memory.text.tokens import truncate_to_tokens
from live_memory.window.budget import Budget

logger = logging.getLogger(__name__)

TREE_RATIO = 0.1  # of the window, at most
UNREADABLE = "(It could not be read; explore with Glob and find_paths.)"
TOO_SLOW = "(It took too long to make; explore with Glob and find_paths.)"


def tree_tokens(seat: ModelSeat, budget: Budget) -> int:
    """How much of a prompt the tree may take."""
    return min(seat.settings.tree_max_tokens, int(budget.max_tokens * TREE_RATIO))


async def directory_tree(equipment: Equipment, root: Path, max_tokens: int, timeout_s: float) -> str:
    """The tree of `root` as text; a remark in its place when it takes longer than `timeout_s`."""
    try:
        tree = await equipment.threads.run(timeout_s, equipment.explorers.directory_tree, root, max_tokens)
    except TimeoutError:
        logger.warning("no tree in time root=%s timeout_s=%.0f", root, timeout_s)
        return TOO_SLOW
    except (OSError, LiveMemoryError) as error:
        logger.warning("no tree root=%s error=%s", root, type(error).__name__)
        return UNREADABLE
    return truncate_to_tokens(tree, max_tokens)
