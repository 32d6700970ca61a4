"""The ledger: the facts that stand in the frozen block. Pure.

What it has no room for is not lost: it stays in the store, and is found by search when a question needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from live_memory.notes.note import Fact
from live_memory.text import fencing
from live_memory.text.tokens import estimate_tokens

HEADING = "## Accumulated knowledge (durable facts, distilled from what this conversation held before)"
STALE_HEADING = (
    "## \u26a0 Possibly out of date (the files these facts came from have changed since: check before you rely on them)"
)
TAG = "facts"
FRAME_TOKENS = sum(estimate_tokens(f"{heading}\n{fencing.fenced(TAG, '')}\n") for heading in (HEADING, STALE_HEADING))


def select(facts: Iterable[Fact], max_tokens: int) -> tuple[Fact, ...]:
    """The best facts that fit `max_tokens` rendered, in the order they were learned.

    Fresh ones first, then those that questions needed most often, then as many files as possible: the newest fact of
    each before the second newest of any.
    """
    room_tokens = max_tokens - FRAME_TOKENS
    chosen: list[Fact] = []
    for fact in _best_first(facts):
        tokens = estimate_tokens(_line(fact))
        if tokens <= room_tokens:
            room_tokens -= tokens
            chosen.append(fact)
    return tuple(sorted(chosen, key=lambda fact: (fact.created_at_s, fact.id)))


def render(facts: Sequence[Fact]) -> str:
    """The facts under their headings, those that are demoted under the warning; empty when there are none."""
    fresh = [fact for fact in facts if not fact.is_stale]
    stale = [fact for fact in facts if fact.is_stale]
    return "\n\n".join([*[_section(HEADING, fresh)] * bool(fresh), *[_section(STALE_HEADING, stale)] * bool(stale)])


def missing(rendered: str, facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Those of `facts` that do not stand in a rendered ledger, under whatever heading."""
    lines = frozenset(rendered.split("\n"))
    return tuple(fact for fact in facts if _line(fact) not in lines)


def doubtful(rendered: str, stale: Iterable[Fact]) -> tuple[Fact, ...]:
    """Those of the `stale` facts that a rendered ledger still shows as if they held."""
    lines = frozenset(rendered.partition(STALE_HEADING)[0].split("\n"))
    return tuple(fact for fact in stale if _line(fact) in lines)


def fenced(facts: Iterable[Fact]) -> str:
    """The facts as lines between tags, without a heading."""
    return fencing.fenced(TAG, "\n".join(f"- {fact.text}" for fact in facts))


def _section(heading: str, facts: Sequence[Fact]) -> str:
    return f"{heading}\n{fenced(facts)}"


def _line(fact: Fact) -> str:
    """The fact as it stands in a rendered ledger."""
    return fencing.defused(TAG, f"- {fact.text}")


def _best_first(facts: Iterable[Fact]) -> list[Fact]:
    ranks: dict[str, int] = {}
    seen: Counter[str] = Counter()
    newest_first = sorted(facts, key=lambda fact: (-fact.verified_at_s, fact.id))
    for fact in newest_first:
        source = min(fact.sources, default="")
        ranks[fact.id] = seen[source]
        seen[source] += 1
    return sorted(newest_first, key=lambda fact: (fact.is_stale, -fact.use_count, ranks[fact.id]))
