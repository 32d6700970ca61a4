"""One workspace: its window, who may work on it, and what is committed to it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from live_memory.agent.admission import Admission, PrefixGate
from live_memory.agent.cleaning import Tally, cleaned_files, is_marked, marked_tree, redaction_mode
from live_memory.agent.compaction_state import CompactionState
from live_memory.agent.equipment import Equipment
from live_memory.agent.freshness import Freshness
from live_memory.agent.late_checks import LateChecks
from live_memory.llm.base import Purpose
from live_memory.notes import ledger
from live_memory.settings import Settings
from live_memory.store.base import Account, Answered, Harvest, Store
from live_memory.store.notes import Notes
from live_memory.text.calibration import Size
from live_memory.text.redaction import Redaction
from live_memory.text.tokens import estimate_tokens
from live_memory.window.deltas import changed_paths, pending_tokens, settle, with_room
from live_memory.window.files import Observation
from live_memory.window.window import Delta, Exchange, Window

logger = logging.getLogger(__name__)

TREE_MAX_AGE_S = 86400.0  # by then every provider has dropped the prefix, and a new tree costs nothing more
PENDING_MAX_TOKENS = 500_000  # of the texts that wait for a question, which may never come
MAX_UNASKED = 64  # roots whose files were seen and that nobody ever asked about
DEPARTED = 256  # files that went before any question, remembered for where they were moved to
TREE_SLACK_RATIO = 1.25  # how far a kept tree may be above what it may take, before it is made anew
DOUBT = "[Observation] Some of the knowledge above may be out of date, because files it came from have changed since:"


class Workspace:
    """The memory of one root. Every change to the window is one synchronous step: fork, work, then commit."""

    def __init__(self, root: Path, store: Store, equipment: Equipment, settings: Settings) -> None:
        self.root = root
        self.key = str(root)
        self.cache_key = hashlib.sha256(self.key.encode("utf-8", "backslashreplace")).hexdigest()[:32]
        self.window: Window | None = None
        self.generation = 0  # grows when the window is forgotten: what was asked of the old one stays out of the new
        self._clock = equipment.clock
        self.gate = PrefixGate(self._clock)
        self.scripts = Size(0)  # of the newest prompt that a provider counted
        self.loading = asyncio.Lock()
        self.tally = Tally(equipment.tally)
        self.redaction = Redaction(redaction_mode(root, settings), self.tally.add)
        self.freshness = Freshness(cleaned_files(equipment.files, lambda: self.redaction), root, equipment.clock)
        self.checks = LateChecks(self)
        self.departed: dict[str, str] = {}  # versions of files that went before any question, with their paths
        self.compaction = CompactionState()
        self._unready: Window | None = None
        self.used_at_s = self._clock.monotonic_s()
        self._store = store
        self._is_doubt_due = True  # the ledger may show facts as certain that are not any more
        self._limits = (0, 0)
        self.admission = Admission(1, 0)
        self.limit(settings)

    @property
    def notes(self) -> Notes:
        return self._store.notes

    @property
    def is_idle(self) -> bool:
        is_at_work = self.loading.locked() or self.compaction.ended is not None or self.checks.is_at_work
        return not self.admission.running and not self.admission.waiting and not is_at_work

    @property
    def known(self) -> Window | None:
        """The window as far as it is in memory."""
        return self.window if self.window is not None else self._unready

    def limit(self, settings: Settings) -> None:
        """Take over the limits in `settings`; questions under way end under the old ones."""
        parallel = 1 if settings.concurrency == "serial" else settings.max_parallel_queries
        limits = (parallel, settings.max_queued_questions)
        if limits != self._limits:
            self._limits = limits
            self.admission = Admission(*limits)

    def redact(self, settings: Settings) -> None:
        """Take over from `settings` whether secrets are taken out. A window that holds some is forgotten once they are; what is
        under way ends under the old rule, and is not kept."""
        mode = redaction_mode(self.root, settings)
        if mode == self.redaction.mode:
            return
        self.redaction = replace(self.redaction, mode=mode)
        if mode == "on":
            self.forget()
            logger.warning("redaction on root=%s: window forgotten", self.root)
        else:
            logger.warning("REDACTION OFF root=%s (redaction_off_roots)", self.root)
            if self.window is not None:
                self.begin(self.window.tree, (), max_tokens=0)

    def saved_window(self, tree_max_tokens: int) -> Window | None:
        """The window as the store has it; None when there is none, or its tree is too old or too large to go on with."""
        saved = self._store.load(self.key)
        self._unready = saved.window if saved else None
        is_off = self.redaction.mode == "off"
        if is_off:
            logger.warning("REDACTION OFF root=%s (redaction_off_roots)", self.root)
        if saved is not None and is_marked(saved.window.tree) != is_off:
            if not is_off:  # redaction was turned on again while no server looked
                self.forget()
                logger.warning("redaction on root=%s: window forgotten", self.root)
            return None
        if saved is None or self._clock.wall_s() - saved.tree_at_s > TREE_MAX_AGE_S:
            return None
        if estimate_tokens(saved.window.tree) > tree_max_tokens * TREE_SLACK_RATIO:
            return None
        return saved.window

    def known_window(self) -> Window:
        """The window as far as there is one: in memory, else as saved, else an empty one."""
        if self.window is not None:
            return self.window
        if self._unready is None:
            saved = self._store.load(self.key)
            self._unready = saved.window if saved else Window("")
        return self._unready

    def begin(self, tree: str, seen: Iterable[Observation], max_tokens: int) -> None:
        """Give the window a new tree, and render its frozen block anew with what is known and `seen` by now, as long as
        the new texts take at most `max_tokens`."""
        before = window = self.known_window()
        for each in seen:
            window = window.with_observation(each)
        self._demote(before, window)
        if pending_tokens(window) <= max_tokens:  # else they stay pending, for the compaction that is due
            window = window.with_deltas((), settle(window, max_tokens).files)
        tree = marked_tree(tree, self.redaction.mode)
        window = replace(window, tree=tree).refrozen(self._ledger_as_of_now(window))
        self._store.refreeze(self.key, window, self._clock.wall_s())
        self.window, self._unready = window, None
        self.gate.cool("new tree")

    def observe(self, seen: Iterable[Observation], based_on: Window | None = None) -> tuple[str, ...]:
        """Keep for the next question what `seen` says that the window does not know, and return the files of which that is
        so. What became known of a file after the window was `based_on` counts for more."""
        before = now = self.known_window()
        for each in seen:
            if based_on is None or _is_same_file(each.path, before, based_on):
                now = now.with_observation(each)
        if now is before:
            return ()
        now = with_room(now, PENDING_MAX_TOKENS)
        changed = changed_paths(before, now)
        self._store.observe(self.key, {path: now.pending.get(path) for path in changed})
        if not (before.tree or before.files or before.pending):
            self._store.forget_unasked(MAX_UNASKED)
        self._note_departed(before, now, changed)
        self._demote(before, now)
        if self.window is None:
            self._unready = now
        else:
            self.window = now
        return changed

    def _note_departed(self, before: Window, now: Window, changed: Iterable[str]) -> None:
        """Remember the newest files that went untold, for they may have been moved."""
        gone = (before.pending[path] for path in changed if path in before.pending and path not in now.pending)
        self.departed |= {seen.sha256: seen.path for seen in gone if seen.path not in now.files and seen.sha256}
        self.departed = dict(list(self.departed.items())[-DEPARTED:])

    def settle(self, max_tokens: int) -> None:
        """Tell the window what is pending, within `max_tokens`: from now on it is part of the conversation."""
        if self.window is None or not (self.window.pending or self._is_doubt_due):
            return
        due, doubt = settle(self.window, max_tokens), self._doubt(self.window)
        self._is_doubt_due = False
        if due.deltas or due.files or doubt:
            told = (*due.deltas, *doubt)
            deltas = self._store.append_deltas(self.key, told, due.files, self._clock.wall_s())
            self.window = self.window.with_deltas(deltas, due.files)

    def _doubt(self, window: Window) -> tuple[Delta, ...]:
        """A word about the facts in the frozen block whose files have changed, as far as it was not said before."""
        stale = ledger.doubtful(window.ledger, self.notes.stale(self.key))
        said = "\n".join(entry.text for entry in window.history.entries if isinstance(entry, Delta))
        new = ledger.missing(said, stale)
        return (Delta(0, f"{DOUBT}\n{ledger.fenced(new)}", ()),) if new else ()

    def _ledger_as_of_now(self, window: Window) -> str:
        """The facts that the window carries, those that are demoted by now under their warning."""
        known = self.notes.facts(self.key) if window.ledger else ()
        beside = {fact.id for fact in ledger.missing(window.ledger, known)}
        return ledger.render([fact for fact in known if fact.id not in beside])

    def _demote(self, before: Window, now: Window) -> None:
        """Tell the notes which files are no longer, or again, what their facts rest on."""
        for path in changed_paths(before, now):
            known = now.pending.get(path) or now.files.get(path)
            sha256 = None if known is None or known.state == "deleted" else known.sha256
            self.doubt(path, sha256)

    def doubt(self, path: str, sha256_now: str | None) -> None:
        """Demote the facts that rest on another version of the file at `path` (None: there is none any more)."""
        if self.notes.demote(self.key, path, sha256_now):
            self._is_doubt_due = True

    def refreeze(self, window: Window, harvest: Harvest) -> None:
        """Go on with `window`, whose frozen block was made anew, and keep what came of what it dropped. StoreError changes
        nothing."""
        self._store.refreeze(self.key, window, harvest=harvest)
        self.window = window
        self._is_doubt_due = False
        self.gate.cool("compaction")

    def owed(self, limit: int) -> tuple[Exchange, ...]:
        """The oldest exchanges that had to leave without facts."""
        return self._store.owed(self.key, limit)

    def charge(self, purpose: Purpose, account: Account) -> None:
        """Enter what was spent for another purpose than a question."""
        self._store.charge(self.key, purpose, account, self._clock.wall_s())

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
        self.window = self._unready = None
        self.generation += 1
        self.gate.cool("reset")


def _is_same_file(path: str, one: Window, other: Window) -> bool:
    return one.files.get(path) is other.files.get(path) and one.pending.get(path) is other.pending.get(path)
