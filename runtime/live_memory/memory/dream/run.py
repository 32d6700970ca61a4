"""One dream from beginning to end: orient, gather, consolidate, health check, prune.

A phase that fails ends the run; what was written by then is whole, note by note, and the next run goes on from there.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from live_memory.agent.background import Background, NoModelNow
from live_memory.memory.dream import concepts, dead_references, disputes, facts, pruning, redundancy
from live_memory.memory.dream.collector import no_collection
from live_memory.memory.dream.counsel import Counsel
from live_memory.memory.dream.dead_references import Eyes
from live_memory.memory.dream.facts import Doubted
from live_memory.memory.dream.tree_texts import TreeTexts
from live_memory.memory.dream.workbook import MAX_CHANGES, Workbook
from live_memory.notes.note import Kind, Note
from live_memory.settings import Settings
from live_memory.store.notes import Notes

logger = logging.getLogger(__name__)

DERIVED: frozenset[Kind] = frozenset({"root-cause", "reference", "project"})  # what was found out; the rest was decided
MAX_REVIEWED = 100  # notes, the longest unverified first
LOOKED_AT = 400


@dataclass(frozen=True, slots=True)
class Means:
    """What a dream works with beside the notes."""

    facts: Notes
    eyes: Eyes
    texts: TreeTexts
    background: Background


@dataclass(frozen=True, slots=True)
class Dream:
    """A run over one place; `since_s` is when the one before it ended."""

    book: Workbook
    means: Means
    settings: Settings
    since_s: float

    async def run(self) -> None:
        """Do all there is to do; what was done stands in the book's report. StoreError."""
        book = self.book
        with no_collection():
            await book.read()
            pairs = await self._consolidate()
            doubted = await self._look_at_code()
        await self._advise(doubted, pairs)  # a model takes minutes: the collector may work meanwhile
        with no_collection():
            await concepts.index(book)
            book.report.phase = "prune"
            await pruning.prune(book, self.settings.log_keep_days)
            await book.release()
        if book.is_full:
            book.report.why["the rest"] = f"a dream makes {MAX_CHANGES:,} changes at most; the next one goes on"

    async def _consolidate(self) -> list[tuple[Note, Note]]:
        """Contradictions and redundancy; the pairs that somebody should look at."""
        book = self.book
        book.report.phase = "consolidate"
        await disputes.settle(book)
        await disputes.dispute(book)
        pairs = await redundancy.merge(book, self.settings.note_max_bytes, self.since_s)
        await book.forget_sayings()
        return pairs

    async def _look_at_code(self) -> list[Doubted]:
        """What the notes rest on; the facts that code alone does not settle."""
        book, means = self.book, self.means
        book.report.phase = "health check"
        if not await means.texts.is_there(book.place.root):
            book.report.why["code"] = "the tree cannot be seen, so nothing was looked for in it"
            return []
        await dead_references.check(book, means.eyes)
        return await facts.check(book, means.facts, means.texts, means.eyes)

    async def _advise(self, doubted: list[Doubted], pairs: list[tuple[Note, Note]]) -> None:
        """Let a model judge what the code alone does not tell."""
        book, why = self.book, self.book.report.why
        if book.is_full:
            why["model"] = "the run is full"
        elif book.mode == "dry-run":
            why["model"] = "a dry run asks no model"
        elif not self.settings.dream_max_requests:
            why["model"] = "dream_max_requests is 0"
        else:
            try:
                await self.means.background.check()
            except NoModelNow as error:
                why["model"] = str(error)
        left = len(doubted)
        if "model" not in why:
            reviewed = [*doubted, *await self._stale_notes()]
            counsel = Counsel(book, self.means.background, self.settings.dream_model, self.settings.dream_max_requests)
            await counsel.ask(reviewed, pairs)
            left -= book.report.counts["rewritten"] + book.report.counts["retired"]
        if left > 0:
            why["facts"] = (
                f"{left} demoted facts are left as they were, because nothing here can tell whether they hold"
            )

    async def _stale_notes(self) -> list[Doubted]:
        """The notes that were found out from files which have changed since."""
        book, root = self.book, self.book.place.root
        found = [note for note in book.alive() if note.kind in DERIVED and note.sources and note.scope != "global"]
        stale: list[Doubted] = []
        for note in sorted(found, key=lambda note: note.verified_at_s)[:LOOKED_AT]:
            await book.breathe()
            seen = await self.means.texts.look(root, note.sources)
            files = {path: sight for path, sight in seen.items() if sight.sha256}
            if any(sight.sha256 != note.sources[path] for path, sight in files.items()):
                stale.append(Doubted(note, files))
        return stale[:MAX_REVIEWED]
