"""Sentences that say one thing but for one value: "tokens expire after 15 minutes", "the API listens on port 3000". Pure.

Two sentences of one frame and two values contradict each other. What numbers things (step 3, hall 4), what happened once, and
what is said for a date or an environment is no frame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from live_memory.notes.claims import MAX_SENTENCE_CHARS, bound_of, conditions_of, is_unsure
from live_memory.notes.duplicates import TURNING
from live_memory.notes.quantities import NUMBER, Value, quantity
from live_memory.text.languages import STOP_WORDS
from live_memory.text.terms import TOKEN, fold, terms

MIN_TERMS, MIN_WORDS = 2, 5  # that say something beside the value, or of any kind: "Logs are kept for 30 days"
_PASSED_OVER = STOP_WORDS["en"] - TURNING
_HAPPENED = re.compile(
    r"\b(?:took|lost|got|went|ran|saw|made|found|fell|grew|came|had|did|gave|broke|hit|left|began|held)\b"
    r"|(?<!is )(?<!are )(?<!be )(?<!been )(?<!now )\b[a-z]{3,}ed\b",
    re.IGNORECASE,
)
# A bare number that is a value all the same.
_LABELLED = re.compile(
    r"(?:\b(?:listen\w*|runs?|serves?|binds?|available|exposed|reachable)\s+on\s+(?:port\s+)?|\b(?:requires?|needs?|targets?|pinned\s+to)\s+[A-Z]\S*\s+)$",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![\w.`])[A-Z][\w+#]*(?:\.[A-Za-z]\w*)?(?![\w`])")
_ONLY = re.compile(r"\b(?:primary|main|only|single|official|sole)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence as `key`, which sentences of one frame share, and the value that it puts there."""

    sentence: str
    key: str
    value: Value

    def contradicts(self, other: Frame) -> bool:
        return self.key == other.key and self.value.compared(other.value) == "different"


def frames(sentence: str) -> tuple[Frame, ...]:
    """The frames of a sentence, one for each value in it."""
    if len(sentence) > MAX_SENTENCE_CHARS or is_unsure(sentence) or _HAPPENED.search(sentence):
        return ()
    return (*_of_numbers(sentence), *_of_names(sentence))


def _of_numbers(sentence: str) -> Iterator[Frame]:
    for match in NUMBER.finditer(sentence):
        value, before = quantity(match), sentence[: match.start()]
        if not match["number"][-1].isdigit() or not (_LABELLED.search(before) or _is_counted(before, value)):
            continue
        rest = sentence[match.end() :] if value.dimension else sentence[match.end("number") :]
        yield from _framed(sentence, before, value, rest)


def _of_names(sentence: str) -> Iterator[Frame]:
    """One name in a sentence that says there is but one."""
    if not _ONLY.search(sentence):
        return
    for match in _NAME.finditer(sentence):
        if match.start():
            yield from _framed(
                sentence, sentence[: match.start()], Value(word=fold(match.group())), sentence[match.end() :]
            )


def _framed(sentence: str, before: str, value: Value, after: str) -> Iterator[Frame]:
    left, right = _said(before), _said(after)
    is_whole = len(left) + len(right) >= MIN_TERMS or len(TOKEN.findall(sentence)) >= MIN_WORDS
    if (left or value.word) and is_whole:
        aside = " ".join(sorted(conditions_of(sentence)))
        yield Frame(sentence, " ".join((*left, f"\u2423{value.dimension}", *right, bound_of(before), aside)), value)


def _is_counted(before: str, value: Value) -> bool:
    """Whether a number counts or measures, rather than names: a unit follows, and no noun that it would number goes before."""
    words = TOKEN.findall(before)
    if not value.dimension or not words:
        return False
    last = fold(words[-1])
    return last in STOP_WORDS["en"] or (last.endswith("s") and not last.endswith("ss"))


def _said(text: str) -> list[str]:
    # Of one character are the words that tell step 1 from step 2 and plan A from plan B.
    short = [word for word in TOKEN.findall(text) if len(word) == 1 and (word.isdigit() or word.isupper())]
    return [*(term for term in terms(text) if term not in _PASSED_OVER), *short]
