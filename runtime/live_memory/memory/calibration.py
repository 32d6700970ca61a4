"""How much of a prompt a note must cover here before it is shown unasked: found out from the notes of the store itself.

A note's title, asked against the other notes, is a prompt to which most of them have nothing to say; so is a title of
another repository. What they cover of it by chance is what the gate has to stay above.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from live_memory.clock import Clock
from live_memory.errors import StoreError
from live_memory.memory.finding import Finder
from live_memory.notes.gate import MIN_RATE, Gate, evidence_of, prior_coverage, prior_fused
from live_memory.notes.note import GLOBAL, Note, Status
from live_memory.notes.query import query_of
from live_memory.store.note_store import NoteStore, Sieve

logger = logging.getLogger(__name__)

MAX_OWN = 120  # titles asked
MAX_FOREIGN = 120
FOREIGN_SCOPES = 6
MIN_TITLES = 20  # fewer say nothing
GROWTH_RATIO = 0.125  # after which it is found out again
MIN_GROWTH = 8
# Notes of one repository are about related things: that a title finds another note is no error ten times out of a hundred.
OWN_RATES = 10.0
MAX_OWN_RATE = 0.5
MAX_COVERAGE = 0.6
MAX_FUSED = 1.2
REST_RATIO = 4.0  # of the time a title takes: a prompt comes through in between
TOP = 3
SUPERSEDED: tuple[Status, ...] = ("superseded",)
SIEVE = Sieve(but_kinds=("fact", "state"), but_statuses=SUPERSEDED)

Scopes = tuple[str, ...]
Measure = Callable[[Scopes, Note], float]


@dataclass(frozen=True, slots=True)
class Chance:
    """What notes cover of titles that are not theirs (or share with them by another measure), largest first, and the number
    of notes it was found out from."""

    own: tuple[float, ...]
    foreign: tuple[float, ...]
    notes: int

    def coverage(self, precision: float) -> float:
        """What a note must cover so that chance lets through no more than `precision` allows."""
        return min(MAX_COVERAGE, max(prior_coverage(precision), self._exceeded_at(precision)))

    def fused(self, precision: float) -> float:
        """The same of what words and meaning come to together."""
        return min(MAX_FUSED, max(prior_fused(precision), self._exceeded_at(precision)))

    def _exceeded_at(self, precision: float) -> float:
        rate = max(MIN_RATE, 1.0 - precision)
        own = _quantile(self.own, min(MAX_OWN_RATE, OWN_RATES * rate))
        return max(own, _quantile(self.foreign, rate))


NO_CHANCE = Chance((), (), 0)


class Calibration:
    """Thresholds by scopes. Finding one out is background work of the loop, a title at a time; until then it is the prior.
    `measure` is what the title of a note has in common with others by chance: what they cover of it, unless another is given."""

    def __init__(self, store: NoteStore, clock: Clock, measure: Measure | None = None) -> None:
        self._store = store
        self._clock = clock
        self._measure: Measure = measure or (lambda scopes, note: chance_of(Finder(store), scopes, note))
        self._found: dict[Scopes, Chance] = {}
        self._tasks: dict[Scopes, asyncio.Task[None]] = {}

    def coverage(self, scopes: Scopes, notes: int, precision: float) -> float:
        """The share of a prompt to cover in `scopes`, that hold `notes` notes by now."""
        return self.chance(scopes, notes).coverage(precision)

    def chance(self, scopes: Scopes, notes: int) -> Chance:
        """What is known of these scopes; it is found out anew where they have grown."""
        chance = self._found.get(scopes, NO_CHANCE)
        grown_by = abs(notes - chance.notes)
        if grown_by >= max(MIN_GROWTH, chance.notes * GROWTH_RATIO) and scopes not in self._tasks:
            self._begin(scopes, notes)
        return chance

    def forget(self) -> None:
        """Find everything out anew: the measure is another by now."""
        self._found.clear()

    async def settled(self) -> None:
        """Wait for what is being found out."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await self.settled()

    def _begin(self, scopes: Scopes, notes: int) -> None:
        task = asyncio.get_running_loop().create_task(self._find_out(scopes, notes))
        self._tasks[scopes] = task
        task.add_done_callback(lambda _: self._tasks.pop(scopes, None))

    async def _find_out(self, scopes: Scopes, notes: int) -> None:
        started_s = self._clock.monotonic_s()
        try:
            own = self._store.most_used(scopes, SIEVE, MAX_OWN)
            by_own = await self._chances(scopes, own)
            by_foreign = await self._chances(scopes, self._foreign(scopes))
        except StoreError:
            logger.exception("recall not calibrated scopes=%s", scopes)
            return
        self._found[scopes] = Chance(by_own, by_foreign, notes)
        took_s = self._clock.monotonic_s() - started_s
        logger.info("recall calibrated scopes=%s notes=%d took_s=%.2f", scopes, notes, took_s)

    def _foreign(self, scopes: Scopes) -> list[Note]:
        others = sorted(scope for scope in self._store.scopes() if scope not in scopes and scope != GLOBAL)
        each = MAX_FOREIGN // FOREIGN_SCOPES
        return [note for scope in others[:FOREIGN_SCOPES] for note in self._store.most_used((scope,), SIEVE, each)]

    async def _chances(self, scopes: Scopes, notes: Iterable[Note]) -> tuple[float, ...]:
        chances: list[float] = []
        for note in notes:
            started_s = self._clock.monotonic_s()
            chances.append(self._measure(scopes, note))
            await asyncio.sleep(REST_RATIO * (self._clock.monotonic_s() - started_s))
        return tuple(sorted(chances, reverse=True))


def chance_of(finder: Finder, scopes: Sequence[str], note: Note) -> float:
    """The most that other notes, those beside it excepted, cover of the title of `note` and would be shown for."""
    query = query_of(note.title)
    found = finder.find(scopes, query, SIEVE)
    beside = {note.id, *note.refs, *note.supersedes}
    others = [each for each in found.ranked if not _is_beside(each.note, note.id, beside)]
    shown = [evidence_of(query, each, found.vocabulary) for each in others[:TOP]]
    return max((each.coverage for each in shown if not Gate(0.0).why_shut(each)), default=0.0)


def _is_beside(other: Note, note_id: str, beside: set[str]) -> bool:
    return other.id in beside or note_id in (*other.refs, *other.supersedes)


def _quantile(largest_first: Sequence[float], rate: float) -> float:
    """The least value that no more than `rate` of these exceed; 0 of too few."""
    if len(largest_first) < MIN_TITLES:
        return 0.0
    return largest_first[min(len(largest_first) - 1, int(rate * len(largest_first)))]
