"""The model's part of a dream: it judges what has changed and what is one, and each of its words is checked before it counts.

A quote has to stand in the file that was shown; what tells (numbers, names, identifiers) may come from nowhere else; of two
notes nothing that tells may get lost. Whatever fails that is refused, and the notes stay as they are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from live_memory.agent.background import Background, NoModelNow
from live_memory.agent.seat import Scribe
from live_memory.errors import ModelError
from live_memory.memory.asking import Asking, Manner, TooMuch
from live_memory.memory.capture.checks import MIN_EVIDENCE_CHARS, folded
from live_memory.memory.dream import advice
from live_memory.memory.dream.advice import Merger, Review
from live_memory.memory.dream.facts import Doubted, retire, verify
from live_memory.memory.dream.redundancy import citations, unite
from live_memory.memory.dream.tree_texts import Sight
from live_memory.memory.dream.workbook import Edit, Workbook
from live_memory.notes.duplicates import TURNING, said
from live_memory.notes.note import Note, fact_id
from live_memory.notes.overlap import united
from live_memory.text.directives import is_directive
from live_memory.text.terms import fold
from live_memory.text.tokens import truncate_to_tokens
from live_memory.window.messages import Prompt

logger = logging.getLogger(__name__)

FILE_MAX_TOKENS = 12_000
STATEMENTS_EACH = 20
PAIRS_EACH = 8
MIN_RATIO = 0.3  # of the length of both notes that a merged one has at least

Shape = TypeVar("Shape")


@dataclass(slots=True)
class Counsel:
    """Asks up to `max_requests` times within the background's share of the budget. What it may not ask is left for later,
    and the report says why."""

    book: Workbook
    background: Background
    model: str
    max_requests: int

    async def ask(self, doubted: Sequence[Doubted], pairs: Sequence[tuple[Note, Note]]) -> None:
        """Have the doubted notes reviewed, and the pairs judged."""
        if not doubted and not pairs:
            return
        try:
            async with self.background.lent(self.model) as scribe:
                for path, some in _by_file(doubted):
                    await self._review(scribe, path, some)
                for start in range(0, len(pairs), PAIRS_EACH):
                    await self._judge(scribe, pairs[start : start + PAIRS_EACH])
        except NoModelNow as error:
            self.book.report.why["model"] = str(error)
        except ModelError as error:
            logger.warning("dream not advised error=%s", type(error).__name__)
            self.book.report.why["model"] = f"the model failed: {error}"

    async def _review(self, scribe: Scribe, path: str, doubted: Sequence[Doubted]) -> None:
        sight = doubted[0].files[path]
        room_tokens = min(FILE_MAX_TOKENS, scribe.max_prompt_tokens // 2)
        shown = truncate_to_tokens(sight.text, room_tokens)
        prompt = advice.review_prompt(path, shown, [each.note for each in doubted])
        manner = self._manner(advice.REVIEW_SCHEMA)
        reviews = await self._reply(scribe, manner, prompt, advice.parse_reviews)
        by_id = {each.note.id: each for each in doubted}
        for review in reviews or ():
            each = by_id.pop(review.id, None)
            if each is not None and review.verdict != "unsure":
                self._apply(review, each, path, shown)

    def _apply(self, review: Review, doubted: Doubted, path: str, shown: str) -> None:
        note = doubted.note
        objection = _objection(review, note, shown)
        if objection:
            self.book.report.add("refused", note.id, why=objection)
            return
        why = f"{path}: {review.evidence}"
        if review.verdict == "holds" and len(doubted.files) == 1:
            verify(self.book, note, doubted.files, why)
        elif review.verdict == "changed":
            self._reword(review, note, doubted.files, why)
        elif review.verdict == "gone" and note.kind == "fact":
            retire(self.book, note, why)

    def _reword(self, review: Review, note: Note, files: Mapping[str, Sight], why: str) -> None:
        now_s = self.book.clock.wall_s()
        sources = {path: sight.sha256 for path, sight in files.items() if sight.sha256}
        new = replace(note, body=review.text, sources=sources, updated_at_s=now_s, verified_at_s=now_s)
        if note.kind != "fact":
            if self.book.write([Edit("update", note, new, why)]):
                self.book.report.add("reworded", note.id, why=why)
            return
        line = " ".join(review.text.split())
        new = replace(new, id=fact_id(line), body=line)
        taken = next(iter(self.book.store.get([(new.scope, new.id)])), None)
        edits = [Edit("update", taken, new, why)]  # said already: verified, not doubled
        if taken is None or taken.id != note.id:
            edits = (
                [Edit("forget", note, None, why), *edits]
                if taken
                else [Edit("forget", note, None, why), Edit("create", None, new, why)]
            )
        if self.book.write(edits):
            self.book.report.add("rewritten", note.id, new.id, why=why)

    async def _judge(self, scribe: Scribe, pairs: Sequence[tuple[Note, Note]]) -> None:
        prompt = advice.merge_prompt(pairs)
        mergers = await self._reply(scribe, self._manner(advice.MERGE_SCHEMA), prompt, advice.parse_mergers)
        for merger in mergers or ():
            if 1 <= merger.pair <= len(pairs):
                one, other = pairs[merger.pair - 1]
                self._unite(one, other, merger)

    def _unite(self, one: Note, other: Note, merger: Merger) -> None:
        book = self.book
        if book.get((one.scope, one.id)) != one or book.get((other.scope, other.id)) != other:
            return  # changed since it was shown
        if lost := _lost((one, other), merger):
            book.report.add("refused", one.id, other.id, why=lost)
            return
        larger, smaller = (one, other) if len(one.body) >= len(other.body) else (other, one)
        whole = united(larger, smaller, book.clock.wall_s())
        whole = replace(whole, title=merger.title or whole.title, body=merger.body)
        unite(book, larger, whole, smaller, citations(book))

    async def _reply(
        self, scribe: Scribe, manner: Manner, prompt: Prompt, parse: Callable[[str], Shape]
    ) -> Shape | None:
        """The parsed reply; None where it has no room or no request is left. NoModelNow, ModelError."""
        if self.max_requests <= 0:
            self.book.report.why["model"] = "as many requests as one dream may make (dream_max_requests)"
            return None
        await self.background.check()
        self.max_requests -= 1
        asking = Asking(scribe, self.book.clock, manner)
        try:
            return await asking.ask(prompt, parse)
        except TooMuch:
            return None
        finally:
            self.background.charge(str(self.book.place.root), "dream", asking.account, self.book.clock)

    def _manner(self, schema: Mapping[str, object]) -> Manner:
        return Manner("dream", f"dream {self.book.place.repo_id}", schema, advice.prompt_text("repair"))


def _by_file(doubted: Iterable[Doubted]) -> Iterator[tuple[str, Sequence[Doubted]]]:
    """The doubted notes by the first of their files, a prompt's worth each."""
    by_path: dict[str, list[Doubted]] = {}
    for each in doubted:
        changed = [path for path, sight in each.files.items() if sight.sha256 != each.note.sources.get(path)]
        by_path.setdefault(min(changed or each.files), []).append(each)
    for path, some in sorted(by_path.items()):
        for start in range(0, len(some), STATEMENTS_EACH):
            yield path, some[start : start + STATEMENTS_EACH]


def _objection(review: Review, note: Note, shown: str) -> str:
    """Why a review does not count; empty where it does."""
    quote = folded(review.evidence).strip("\"'")
    if len(quote) < MIN_EVIDENCE_CHARS or quote not in folded(shown):
        return "its evidence does not stand in the file"
    if review.verdict != "changed":
        return ""
    if not review.text:
        return "it says not what is true instead"
    if is_directive(review.text) and not is_directive(note.body):
        return "it tells an assistant what to do"
    heard = fold(f"{shown}\n{note.title}\n{note.body}")
    unheard = [each for each in _telling(review.text) - TURNING if each not in heard]
    return f"it names what the file does not: {', '.join(sorted(unheard))}" if unheard else ""


def _lost(pair: tuple[Note, Note], merger: Merger) -> str:
    """What a merged note leaves out or makes up; empty where it is whole."""
    one, other = pair
    old, new = _telling(f"{one.body}\n{other.body}"), _telling(f"{merger.title}\n{merger.body}")
    if old - new:
        return f"the merged note leaves out {', '.join(sorted(old - new))}"
    made_up = new - _telling(f"{one.title}\n{one.body}\n{other.title}\n{other.body}")
    if made_up:
        return f"the merged note makes up {', '.join(sorted(made_up))}"
    if len(merger.body) < MIN_RATIO * (len(one.body) + len(other.body)):
        return "the merged note is much shorter than both"
    return ""


def _telling(text: str) -> frozenset[str]:
    return frozenset().union(*(sentence.telling for sentence in said(text)))
