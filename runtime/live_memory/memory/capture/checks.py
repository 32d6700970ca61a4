"""What a proposed note must stand up to before it is kept: its words were said, by somebody who may say so. Pure.

A model reads tool output beside the speech, and tool output may be anybody's: a rule that stands in a file is not a rule of
the user's, however it came into the proposal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from live_memory.memory.capture.proposal import Candidate, is_captured
from live_memory.memory.turns import Speaker, Turn
from live_memory.text.directives import is_directive
from live_memory.text.terms import terms
from live_memory.text.tokens import WIDE

MIN_EVIDENCE_CHARS = 8
MIN_WIDE_EVIDENCE_CHARS = 3  # a Chinese clause says as much
MIN_PLANTED_TERMS = 3
PLANTED_RATIO = 0.6  # of an order's words that a note shares: then it is that order
OWNED_RATIO = 0.3  # of an order's words that the user's quote shares: then it is the user's own
_ORDER = re.compile(
    r"\b(?:always|never|must|remember|note that|from now on|rule|ignore|prefer|do not|don't)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.!?。！？;\n]+\s*")
_SIGNS = str.maketrans("“”„‟«»‘’‚‛`´–—‐‑", "\"\"\"\"\"\"''''''----")
_ELLIPSIS = re.compile(r"^(?:…|\.\.\.)|(?:…|\.\.\.)$")
_QUOTED = "\"'"


@dataclass(frozen=True)
class Spoken:
    """What was said in the part that a model was shown."""

    turns: Sequence[Turn]

    @cached_property
    def folded(self) -> tuple[tuple[Speaker, str], ...]:
        return tuple((turn.speaker, folded(turn.text)) for turn in self.turns)

    @cached_property
    def orders(self) -> tuple[frozenset[str], ...]:
        """The terms of each sentence of tool output that tells its reader what to do."""
        sentences = (each for turn in self.turns if turn.speaker == "tool" for each in _SENTENCE.split(turn.text))
        ordering = (each for each in sentences if _ORDER.search(each) or is_directive(each))
        found = (frozenset(terms(each)) for each in ordering)
        return tuple(each for each in found if len(each) >= MIN_PLANTED_TERMS)

    def voices(self, quote: str) -> tuple[Speaker, ...]:
        """Who said it, in the order in which they did; the folded quote counts wherever it stands within one turn."""
        return tuple(dict.fromkeys(speaker for speaker, text in self.folded if quote in text))


def folded(text: str) -> str:
    """`text` as quotes are compared: case, spaces, kinds of quotation marks and of width do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_SIGNS).casefold().split())


def quote_of(candidate: Candidate) -> str:
    """The words of a candidate's evidence, folded, without the marks that a model puts around a quote."""
    return folded(_ELLIPSIS.sub("", folded(candidate.evidence)).strip(_QUOTED))


def objection(candidate: Candidate, spoken: Spoken) -> str:
    """Why the candidate is not kept, in words; empty where nothing speaks against it."""
    return next(_objections(candidate, spoken), "")


def is_among(candidate: Candidate, sayings: Iterable[str]) -> bool:
    """Whether the candidate's evidence is one of these folded sayings, or a part of one, or holds one."""
    quote = quote_of(candidate)
    return bool(quote) and any(quote in each or each in quote for each in sayings)


def _objections(candidate: Candidate, spoken: Spoken) -> Iterator[str]:
    if not is_captured(candidate.kind):
        yield "of no kind that is kept"
    if not candidate.title or not candidate.body:
        yield "without a title or a text"
    quote = quote_of(candidate)
    if len(quote) < (MIN_WIDE_EVIDENCE_CHARS if WIDE.search(quote) else MIN_EVIDENCE_CHARS):
        yield "without evidence"
    voices = spoken.voices(quote)
    if not voices:
        yield "nobody said so"
    elif voices[0] == "tool":
        yield "it stands in tool output"
    is_users = "user" in voices
    if candidate.kind == "preference" and not is_users:
        yield "the user did not say so"
    if not is_users and any(map(is_directive, _sentences(candidate))):
        yield "it tells an assistant what to do"
    if _is_planted(candidate, quote if is_users else "", spoken.orders):
        yield "it repeats an order in tool output"


def _is_planted(candidate: Candidate, users_quote: str, orders: Iterable[frozenset[str]]) -> bool:
    said = frozenset(terms(f"{candidate.title}\n{candidate.body}"))
    users = frozenset(terms(users_quote))
    return any(
        len(order & said) >= PLANTED_RATIO * len(order) and len(order & users) < OWNED_RATIO * len(order)
        for order in orders
    )


def _sentences(candidate: Candidate) -> tuple[str, ...]:
    return (candidate.title, *_SENTENCE.split(candidate.body))
