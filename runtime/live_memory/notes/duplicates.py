"""Whether two notes say the same. Pure; no text makes it raise.

Merging keeps the longer text alone, so the measure is a strict one: every sentence of the shorter note has to have its
like in the other, and what turns a sentence round (numbers, names, code, negations, opposites, and in what order it is said)
has to be the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from live_memory.notes.note import Note
from live_memory.notes.quantities import NUMBER_WORDS
from live_memory.notes.sentences import sentences
from live_memory.text.languages import STOP_WORDS
from live_memory.text.terms import CJK_RUN, TOKEN, fold, is_identifier, terms, without_marks

NEAR = 0.9  # one of ten words may be left out
LIKE_TITLE = 0.5  # titles are labels: what counts is the body, where it is more than a word or two
MIN_BODY_TERMS = 8
MAX_SENTENCES = 400  # two longer notes are alike only when they are equal
# Words that turn a sentence round, in the languages that have built-in stop words; folded.
_TURNING_WORDS = """
    not no never none nobody nothing without neither nor cannot dont doesnt didnt wont isnt arent wasnt shouldnt mustnt
    cant only except unless always must may optional required allow allowed deny denied forbid forbidden enable enabled
    disable disabled true false yes on off before after above below more less min max minimum maximum old new up down open
    closed success failure pass fail
    non mai senza nessuno niente solo sempre prima dopo
    sin nunca jamas nada siempre antes despues
    ne pas jamais rien sans toujours avant apres
    nicht kein keine keinen nie niemals ohne immer nur vor nach
    nao sem nada depois"""
TURNING = frozenset(_TURNING_WORDS.split())
_CJK_TURNS = re.compile("[不没沒无無非否未别勿]|なし|ない|ません|안|못")
# A comparison and a sign, with the number behind them: words leave them out.
_SIGNED = re.compile(r"(?:[<>\u2264\u2265\u2260]=?|[!=]=)[ \t]?[\w.+-]{1,20}|(?<![\w.)])[-+\u2212][\d.]{1,20}")
_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a sentence is made of: its terms without those that say nothing, what of it has to be the same, and both in the
    order in which they are said."""

    terms: frozenset[str]
    telling: frozenset[str]
    order: tuple[str, ...]

    def likeness(self, other: Sentence) -> float:
        """The share of terms that both have (Dice); 0 where something telling differs, or they have it in another order: who
        swaps two ports uses the same words."""
        if self.telling != other.telling:
            return 0.0
        common = self.terms & other.terms
        total = len(self.terms) + len(other.terms)
        alike = 2 * len(common) / total if total else float(bool(self.telling))
        if alike < LIKE_TITLE or self.order == other.order:
            return alike
        shared = common | self.telling
        own, others = ([key for key in each.order if key in shared] for each in (self, other))
        return alike if own == others else 0.0


def similarity(one: Note, other: Note) -> float:
    """From 0 to 1; from NEAR on, one of the two says nothing that the other leaves out."""
    return _similarity(_Saying(one), _Saying(other))


def likest(note: Note, others: Iterable[Note]) -> tuple[float, Note | None]:
    """The one of `others` that is most similar to `note`, and how much it is; None of none."""
    saying = _Saying(note)
    alike = ((_similarity(saying, _Saying(other)), other) for other in others)
    return max(alike, key=lambda pair: pair[0], default=(0.0, None))


def coverage(one: Note, other: Note) -> float:
    """How much of what `other` says, `one` says as well: as much as of its least covered sentence."""
    return _coverage(_Saying(one), _Saying(other))


class _Saying:
    """What a note says, its body taken apart when it is asked for: most pairs differ in their titles already."""

    def __init__(self, note: Note) -> None:
        self.plain = (_plain(note.title), _plain(note.body))
        self.title = _sentence(note.title)
        self._text = note.body

    @cached_property
    def body(self) -> Sequence[Sentence]:
        return said(self._text)


def _similarity(one: _Saying, other: _Saying) -> float:
    return max(_coverage(one, other), _coverage(other, one))


def _coverage(one: _Saying, other: _Saying) -> float:
    if one.plain == other.plain:
        return 1.0
    alike = one.title.likeness(other.title)
    if alike < LIKE_TITLE or not other.body or max(len(one.body), len(other.body)) > MAX_SENTENCES:
        return 0.0
    if alike < NEAR and size_terms(other.body) < MIN_BODY_TERMS:
        return 0.0
    return min(max((_covered(asked, each) for each in one.body), default=0.0) for asked in other.body)


def _covered(asked: Sentence, by: Sentence) -> float:
    """How much of `asked` is said in `by`; 0 where a word of it is not: in its place stands another, which may be what was
    corrected."""
    return asked.likeness(by) if asked.terms <= by.terms else 0.0


def _plain(text: str) -> str:
    return " ".join(fold(text).split()).rstrip(".")


def size_terms(sentences: Iterable[Sentence]) -> int:
    """How many terms they have together."""
    return sum(len(each.terms) for each in sentences)


def said(text: str) -> Sequence[Sentence]:
    """What each sentence of `text` is made of, those that say nothing left out."""
    made = (_sentence(part) for part in sentences(text))
    return [each for each in made if each.terms or each.telling]


def _sentence(text: str) -> Sentence:
    plain = without_marks(text)
    words = [match.group() for match in TOKEN.finditer(plain)]
    telling = {fold(word) for i, word in enumerate(words) if _is_telling(word, is_first=i == 0)}
    if _NOT.search(plain):
        telling.add("not")
    telling.update("".join(match.group().split()) for match in _SIGNED.finditer(plain))
    telling.update(_CJK_TURNS.findall(text))
    meant = frozenset(term for term in terms(text) if term not in STOP_WORDS["en"])
    said_in_order = (key for word in words for key in ((fold(word),) if fold(word) in telling else terms(word)))
    order = (*said_in_order, *(term for term in terms(text) if CJK_RUN.match(term)))
    return Sentence(meant, frozenset(telling), tuple(key for key in order if key in meant or key in telling))


def _is_telling(word: str, *, is_first: bool) -> bool:
    if (
        any(char.isdigit() for char in word)
        or is_identifier(word)
        or fold(word) in TURNING
        or fold(word) in NUMBER_WORDS
    ):
        return True
    return word[0].isupper() and not is_first and fold(word) not in STOP_WORDS["en"]  # a name
