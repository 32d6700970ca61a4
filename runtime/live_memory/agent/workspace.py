"""One workspace: its window, who may work on it, and what is committed to it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import replace
from pathlib import Path

from live_memory.agent.admission import Admission, PrefixGate
from live_memory.clock import Clock
from live_memory.errors import StoreError
from live_memory.settings import Settings
from live_memory.store.base import Answered, Store
from live_memory.text.tokens import estimate_tokens
from live_memory.window.budget import Budget, first_entry_to_keep
from live_memory.window.window import Window

logger = logging.getLogger(__name__)

TREE_MAX_AGE_S = 86400.0  # by then every provider has dropped the prefix, and a new tree costs nothing more
TREE_SLACK_RATIO = 1.25  # how far a kept tree may be above what it may take, before it is made anew


class Workspace:
    """The memory of one root. Every change to the window is one synchronous step: fork, work, then commit."""

    def __init__(self, root: Path, store: Store, clock: Clock, settings: Settings) -> None:
        self.root = root
        self.key = str(root)
        self.cache_key = hashlib.sha256(self.key.encode("utf-8", "backslashreplace")).hexdigest()[:32]
        self.window: Window | None = None
        self.generation = 0  # grows when the window is forgotten: what was asked of the old one stays out of the new
        self.gate = PrefixGate(clock)
        self.loading = asyncio.Lock()
        self.used_at_s = clock.monotonic_s()
        self._store = store
        self._clock = clock
        self._limits = (0, 0)
        self.admission = Admission(1, 0)
        self.limit(settings)

    @property
    def is_idle(self) -> bool:
        return not self.admission.running and not self.admission.waiting and not self.loading.locked()

    def limit(self, settings: Settings) -> None:
        """Take over the limits in `settings`; questions under way end under the old ones."""
        parallel = 1 if settings.concurrency == "serial" else settings.max_parallel_queries
        limits = (parallel, settings.max_queued_questions)
        if limits != self._limits:
            self._limits = limits
            self.admission = Admission(*limits)

    def saved_window(self, tree_max_tokens: int) -> Window | None:
        """The window as the store has it; None when there is none, or its tree is too old or too large to go on with."""
        saved = self._store.load(self.key)
        if saved is None or self._clock.wall_s() - saved.tree_at_s > TREE_MAX_AGE_S:
            return None
        if estimate_tokens(saved.window.tree) > tree_max_tokens * TREE_SLACK_RATIO:
            return None
        return saved.window

    def begin(self, tree: str) -> Window:
        """Give the window a new tree and render its frozen block anew; what it has learned so far stays."""
        saved, now_s = self._store.load(self.key), self._clock.wall_s()
        if saved is None:
            window = Window(tree)
            self._store.begin(self.key, window, now_s)
        else:
            window = replace(saved.window, tree=tree).refrozen()
            self._store.refreeze(self.key, window, now_s)
        self.gate.cool()
        return window

    def make_room(self, budget: Budget, fixed_tokens: int) -> None:
        """Leave the oldest exchanges out of the prompt, in one batch down to the floor, once the threshold is passed."""
        if self.window is None:
            return
        first = first_entry_to_keep(self.window, budget, fixed_tokens)
        if first is not None:
            self.leave_out_before(first)

    def leave_out_before(self, entry_id: int) -> None:
        """Prompts carry no entry older than `entry_id` from now on; the store keeps them."""
        if self.window is None:
            return
        shorter = self.window.without_before(entry_id)
        if shorter is self.window:
            return
        try:
            self._store.refreeze(self.key, shorter)
        except StoreError:  # after a restart the prompt is longer again, and is cut again
            logger.exception("what was left out is not saved root=%s", self.root)
        logger.info("left out root=%s exchanges=%d", self.root, shorter.left_out - self.window.left_out)
        self.window = shorter
        self.gate.cool()

    def commit(self, answered: Answered, generation: int) -> None:
        """Save what an answered question leaves behind, and append it to the window as it is by now. StoreError saves
        and appends nothing. A window forgotten since the fork gets nothing but the account."""
        if generation != self.generation or self.window is None:
            answered = replace(answered, exchange=None, files=())
        exchange = self._store.record(self.key, answered)
        if exchange is not None and self.window is not None:
            self.window = self.window.with_exchange(exchange, answered.files)

    def forget(self) -> None:
        """Drop the window, here and in the store."""
        self._store.clear(self.key)
        self.window = None
        self.generation += 1
        self.gate.cool()
