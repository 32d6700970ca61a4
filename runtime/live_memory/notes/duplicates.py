"""Whether two notes say the same. Pure; no text makes it raise.

Merging keeps the longer text alone, so the measure is a strict one: every sentence of the shorter note has to have its
like in the other, and what turns a sentence round (numbers, names, code, negations, opposites) has to be the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from live_memory.notes.note import Note
from live_memory.text.languages import STOP_WORDS
from live_memory.text.terms import TOKEN, fold, is_identifier, terms, without_marks

NEAR = 0.9  # a word in ten may differ
LIKE_TITLE = 0.5  # titles are labels: what counts is the body, where it is more than a word or two
MIN_BODY_TERMS = 8
MAX_SENTENCES = 400  # two longer notes are alike only when they are equal
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[\n。！？；;]+")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
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
_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a sentence is made of: its terms without those that say nothing, and what of it has to be the same."""

    terms: frozenset[str]
    telling: frozenset[str]

    def likeness(self, other: Sentence) -> float:
        """The share of terms that both have (Dice); 0 where something telling differs."""
        if self.telling != other.telling:
            return 0.0
        total = len(self.terms) + len(other.terms)
        return 2 * len(self.terms & other.terms) / total if total else float(bool(self.telling))


def similarity(one: Note, other: Note) -> float:
    """From 0 to 1; from NEAR on, one of the two says nothing that the other leaves out."""
    return max(coverage(one, other), coverage(other, one))


def coverage(one: Note, other: Note) -> float:
    """How much of what `other` says, `one` says as well: as much as of its least covered sentence."""
    if _plain(one.title) == _plain(other.title) and _plain(one.body) == _plain(other.body):
        return 1.0
    said, asked = _sentences(one.body), _sentences(other.body)
    if not asked or max(len(said), len(asked)) > MAX_SENTENCES:
        return 0.0
    alike = _sentence(one.title).likeness(_sentence(other.title))
    if alike < (LIKE_TITLE if _size(asked) >= MIN_BODY_TERMS else NEAR):
        return 0.0
    return min(max((ask.likeness(say) for say in said), default=0.0) for ask in asked)


def _plain(text: str) -> str:
    return " ".join(fold(text).split()).rstrip(".")


def _size(sentences: Sequence[Sentence]) -> int:
    return sum(len(each.terms) for each in sentences)


def _sentences(text: str) -> Sequence[Sentence]:
    made = (_sentence(_BULLET.sub("", part)) for part in _SENTENCE_END.split(text))
    return [each for each in made if each.terms or each.telling]


def _sentence(text: str) -> Sentence:
    plain = without_marks(text)
    words = [match.group() for match in TOKEN.finditer(plain)]
    telling = {fold(word) for i, word in enumerate(words) if _is_telling(word, is_first=i == 0)}
    if _NOT.search(plain):
        telling.add("not")
    telling.update(_CJK_TURNS.findall(text))
    meant = frozenset(term for term in terms(text) if term not in STOP_WORDS["en"])
    return Sentence(meant, frozenset(telling))


def _is_telling(word: str, *, is_first: bool) -> bool:
    if any(char.isdigit() for char in word) or is_identifier(word) or fold(word) in TURNING:
        return True
    return word[0].isupper() and not is_first and fold(word) not in STOP_WORDS["en"]  # a name
