"""How much two notes say alike, and the one note that says all that both do. Pure.

Nothing that only one of the two says is lost: a sentence is left out only where the other note has all of its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from live_memory.notes.contradictions import GENERIC, Stance, between, differ
from live_memory.notes.duplicates import NEAR, Sentence, said, size_terms
from live_memory.notes.note import Kind, Note
from live_memory.notes.sentences import sentences
from live_memory.notes.slugs import is_id
from live_memory.text.languages import STOP_WORDS
from live_memory.text.terms import terms

REDUNDANT = 0.7
FAR = 0.4  # of all words: who shares fewer says nothing alike
MIN_LIKENESS = 0.75  # of a sentence that says a little more than its like
MAX_SENTENCES = 200
_PARAGRAPH = re.compile(r"\n\s*\n")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_APART: frozenset[Kind] = frozenset({"fact", "session", "state", "concept"})  # known by their ids, or made anew


class Saying(Stance):
    """A note taken apart, its body into sentences once that is asked for."""

    @cached_property
    def sentences(self) -> Sequence[Sentence]:
        return said(self.note.body)

    @property
    def size(self) -> int:
        return size_terms(self.sentences)


def likeness(one: Saying, other: Saying) -> float:
    """How much of one note two are, from 0 to 1: above REDUNDANT they are better one. 0 for notes of two kinds, two states or
    two subjects, and for two that contradict each other."""
    if not may_be_one(one.note, other.note):
        return 0.0
    if len(one.words & other.words) < FAR * min(len(one.words), len(other.words)) or differ(one, other):
        return 0.0
    alike = overlap(one, other)
    return 0.0 if alike and between(one, other) else alike


def may_be_one(one: Note, other: Note) -> bool:
    """Whether nothing but their words keeps two notes apart."""
    if one.scope != other.scope or one.kind in _APART or other.kind in _APART:
        return False
    if one.kind != other.kind and "preference" in (one.kind, other.kind):
        return False
    if "superseded" in (one.status, other.status) or "disputed" in (one.status, other.status):
        return False
    return one.status == other.status or not (one.status and other.status)


def overlap(one: Saying, other: Saying) -> float:
    """The share of what both say of all that either says (Jaccard over sentences, the long ones weigh more), from 0 to 1."""
    mine, theirs = one.sentences, list(other.sentences)
    apart = _apart(one, other)
    if not mine or not theirs or max(len(mine), len(theirs)) > MAX_SENTENCES:
        return 0.0
    total, both = size_terms(mine) + size_terms(theirs), 0
    for each in mine:
        likeness, best = max(
            ((_likeness(each, their, apart), their) for their in theirs), key=lambda pair: pair[0], default=(0.0, None)
        )
        if best is not None and likeness:
            theirs.remove(best)
            both += len(each.terms) + len(best.terms)
    return (both / 2) / (total - both / 2) if total else 0.0


def united(larger: Note, smaller: Note, now_s: float) -> Note:
    """`larger` with all that only `smaller` says, its edges, its sources, and the longer of their lives."""
    body = "\n\n".join([larger.body.rstrip(), *_added(larger, smaller)])
    description = larger.description or smaller.description
    newest_first = sorted((larger, smaller), key=lambda note: -note.verified_at_s)
    never = larger.expires_at_s is None or smaller.expires_at_s is None
    return replace(
        larger,
        kind="decision" if "decision" in (larger.kind, smaller.kind) else larger.kind,
        body=body,
        description=description,
        status=larger.status or smaller.status,
        priority=min(larger.priority, smaller.priority),  # P0 outlives P2
        created_at_s=min(larger.created_at_s, smaller.created_at_s),
        updated_at_s=now_s,
        verified_at_s=min(larger.verified_at_s, smaller.verified_at_s),
        used_at_s=max(larger.used_at_s, smaller.used_at_s),
        use_count=larger.use_count + smaller.use_count,
        expires_at_s=None if never else max(larger.expires_at_s or 0.0, smaller.expires_at_s or 0.0),
        sources={**newest_first[1].sources, **newest_first[0].sources},
        symbols=tuple(dict.fromkeys((*larger.symbols, *smaller.symbols))),
        refs=_edges(larger, smaller, (*larger.refs, *smaller.refs)),
        supersedes=_edges(larger, smaller, (*larger.supersedes, smaller.id, *smaller.supersedes), keep=smaller.id),
    )


def redirected(note: Note, gone: str, to: str) -> Note:
    """`note` with its edges to the note that is gone led to the one that took it in."""

    def led(ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(to if each == gone else each for each in ids if to != note.id or each != gone))

    return replace(note, refs=led(note.refs), supersedes=led(note.supersedes))


def _apart(one: Stance, other: Stance) -> frozenset[str]:
    """The words by which the titles tell two subjects apart; none where only one of them says more."""
    left, right = one.title - other.title - GENERIC, other.title - one.title - GENERIC
    return left | right if left and right else frozenset()


def _likeness(one: Sentence, other: Sentence, apart: frozenset[str]) -> float:
    """As sentences are alike; one that says the same and more counts from MIN_LIKENESS on, else from NEAR. Where they differ
    in what tells their notes' subjects apart, they are about two things."""
    alike = one.likeness(other)
    if not alike or apart & (one.terms ^ other.terms):
        return 0.0
    least = MIN_LIKENESS if one.terms <= other.terms or other.terms <= one.terms else NEAR
    return alike if alike >= least else 0.0


@dataclass(frozen=True)
class _Written:
    """A text's sentences, each with its terms in their order: who calls whom is told by nothing else."""

    text: str

    @cached_property
    def parts(self) -> Sequence[tuple[Sentence, Sequence[str]]]:
        made = ((said(each), terms(each)) for each in sentences(self.text))
        return [(found[0], order) for found, order in made if found]

    def holds(self, text: str) -> bool:
        """Whether each sentence of `text` stands in one of these, with all its words in their order and nothing that tells
        otherwise."""
        return all(
            any(
                asked.telling == mine.telling and asked.terms <= mine.terms and _is_within(order, own)
                for mine, own in self.parts
            )
            for asked, order in _Written(text).parts
        )


def _is_within(order: Sequence[str], other: Sequence[str]) -> bool:
    rest = iter(other)
    return all(term in rest for term in order if term not in STOP_WORDS["en"])


def _added(larger: Note, smaller: Note) -> Iterator[str]:
    """The parts of the smaller note that the larger one does not hold, each as it is written."""
    held = _Written(f"{larger.title}\n{larger.description}\n{larger.body}")
    heads = [smaller.title] + [smaller.description] * bool(larger.description)
    both = _Written(f"{held.text}\n{smaller.body}")
    yield from (head if head.endswith((".", "!", "?")) else f"{head}." for head in heads if not both.holds(head))
    if _FENCE.search(smaller.body):  # code is kept or left out as a whole
        if smaller.body.strip() not in larger.body:
            yield smaller.body.strip()
        return
    for paragraph in _PARAGRAPH.split(smaller.body):
        new = [each for each in sentences(paragraph) if not held.holds(each)]
        if new:
            is_list = "\n" in paragraph.strip()
            yield "\n".join(f"- {each}" for each in new) if is_list else " ".join(new)


def _edges(larger: Note, smaller: Note, ids: tuple[str, ...], keep: str = "") -> tuple[str, ...]:
    own = {larger.id, smaller.id} - {keep}
    return tuple(dict.fromkeys(each for each in ids if each not in own and is_id(each)))
