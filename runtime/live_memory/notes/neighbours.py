"""Which of many texts may say the same: those that share rare words. Pure; far fewer pairs than all with all.

No pair that shares enough of what few others say is missed; of what very many say, each is compared with those most like it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeVar

RAREST = 8  # terms of a text by which its neighbours are looked for
MAX_SHARED = 48  # texts that share a term which still tells something
MIN_SHARED = 2  # rare terms, where a text has as many
NEXT = 3  # of the texts in the order of their rarest terms

Name = TypeVar("Name")


def neighbours(texts: Mapping[Name, frozenset[str]]) -> Iterator[tuple[Name, tuple[Name, ...]]]:
    """Each text with those behind it that may be like it: every pair comes once. A text may come before with none, so that
    whoever asks can do something else meanwhile."""
    frequency: Counter[str] = Counter()
    for name, terms in texts.items():
        frequency.update(terms)
        yield name, ()
    names = list(texts)
    ranked: list[list[str]] = []
    rarest: list[str] = []
    postings: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        ranked.append(sorted(texts[name], key=lambda term: (frequency[term], term)))
        for term in ranked[-1]:
            if 1 < frequency[term] <= MAX_SHARED:
                postings.setdefault(term, []).append(number)
        rarest.append(" ".join(ranked[-1][:RAREST]))
        yield name, ()
    order = sorted(range(len(names)), key=rarest.__getitem__)
    place = {number: at for at, number in enumerate(order)}
    for number, name in enumerate(names):
        rare = [term for term in ranked[number] if term in postings][:RAREST]
        shared = Counter(other for term in rare for other in postings[term] if other > number)
        enough = min(MIN_SHARED, len(rare))
        near = {other for other, count in shared.items() if count >= enough}
        at = place[number]
        # Where two rank next to each other both find the pair; it is told by the first.
        near.update(order[at + 1 : at + 1 + NEXT], order[max(0, at - NEXT) : at])
        yield name, tuple(names[other] for other in sorted(near) if other > number)
