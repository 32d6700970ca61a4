"""Whether a text of code still gives a name the value that a fact claims. Pure; no text makes it raise.

Only claims about one identifier with an exact value can be told this way, and only where every place that sets it agrees.
What is unsure stays so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from live_memory.notes.claims import Claim, claims
from live_memory.notes.note import Note
from live_memory.notes.quantities import NUMBER, Value, quantity, switch
from live_memory.notes.sentences import sentences
from live_memory.text.terms import fold

Verdict: TypeAlias = Literal["holds", "unsure"]
MAX_TEXT_CHARS = 2_000_000
# `name = 5`, `name: int = 5`, `"name": 5`, `name := 5`, `name => 5`
_SET = r"(?<![\w$]){name}(?![\w$])[\"'\]]?\s*(?::\s*[A-Za-z_][\w.\[\], |?]*)?\s*(?::=|=>|=(?![=~>])|:(?![:=]))\s*(?P<value>[^\n]{{0,80}})"
_STRING = re.compile(r"[\"'`]([^\"'`\n]{0,80})[\"'`]")
_ENDS = re.compile(r"\s*(?:[,;)\]}#]|//|--|/\*|$)")
_COMMENT = re.compile(r"^\s*(?:#|//|--|\*|/\*|;)")


def verdict(fact: Note, texts: Sequence[str]) -> Verdict:
    """Whether all that `fact` says stands in `texts`, the files it rests on as they are now."""
    claimed = claims(fact)
    if not texts or len(claimed) != len(sentences(fact.body)) or not all(map(_is_plain, claimed)):
        return "unsure"
    return "holds" if all(_stands(claim, texts) for claim in claimed) else "unsure"


def _is_plain(claim: Claim) -> bool:
    return bool(claim.identifier) and claim.bound == "exactly" and not claim.is_negated and not claim.conditions


def _stands(claim: Claim, texts: Sequence[str]) -> bool:
    setting = re.compile(_SET.format(name=re.escape(claim.identifier)), re.IGNORECASE)
    values = [
        _value(match["value"])
        for text in texts
        if len(text) <= MAX_TEXT_CHARS
        for match in setting.finditer(text)
        if not _COMMENT.match(text[text.rfind("\n", 0, match.start()) + 1 : match.start() + 1])
    ]
    return bool(values) and all(each is not None and each.compared(claim.value) == "same" for each in values)


def _value(text: str) -> Value | None:
    """The one literal that `text` begins with and that nothing but an end of its kind follows."""
    quoted = _STRING.match(text)
    if quoted:
        return Value(word=" ".join(fold(quoted[1]).split())) if _ENDS.match(text[quoted.end() :]) else None
    number = NUMBER.match(text)
    if number:
        return quantity(number) if _ENDS.match(text[number.end() :]) else None
    word = re.match(r"\w+", text)
    return switch(word.group()) if word and _ENDS.match(text[word.end() :]) else None
