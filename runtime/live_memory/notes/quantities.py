"""Values as notes write them, in one measure: 30s, 30 s and 30000 ms are one, 30 s and 30 MB are none of each other. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from live_memory.text.languages import STOP_WORDS
from live_memory.text.terms import fold, stem

Comparison: TypeAlias = Literal["same", "different", "incomparable"]

_TIME = {
    **dict.fromkeys(("ns", "nanosecond"), 1e-9),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "microsecond"), 1e-6),
    **dict.fromkeys(("ms", "msec", "millisecond", "millisecondi", "milisegundo"), 1e-3),
    **dict.fromkeys(("s", "sec", "second", "secondi", "secondo", "segundo", "seconde", "sekunde", "sekunden"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minuti", "minuto", "minuten"), 60.0),
    **dict.fromkeys(("h", "hr", "hour", "ore", "ora", "hora", "heure", "stunde", "stunden"), 3600.0),
    **dict.fromkeys(("d", "day", "giorni", "giorno", "dia", "jour", "tag", "tage"), 86400.0),
    **dict.fromkeys(("week", "settimana", "settimane", "semana", "semaine", "woche", "wochen"), 604800.0),
}
_DATA = {
    **dict.fromkeys(("b", "byte", "bytes"), 1.0),
    **{prefix + unit: 1000.0**power for power, prefix in enumerate("kmgt", 1) for unit in ("b", "")},
    **{prefix + "ib": 1024.0**power for power, prefix in enumerate("kmgt", 1)},
}
# "10k retries" is a count; "64 KB" is data, and so is a lone "64 M".
_SCALES: Mapping[str, float] = {"k": 1e3}
_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_TENS = ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred"]
NUMBER_WORDS: Mapping[str, float] = {
    **{word: float(number) for number, word in enumerate(_SMALL)},
    **{word: 10.0 * number for number, word in enumerate(_TENS, 3)},
}
_WORDS = "|".join([*_SMALL[1:], *_TENS])
NUMBER = re.compile(
    rf"(?<![\w.])(?P<number>[+-]?\d+(?:[_,]\d{{3}})*(?:\.\d+)?|(?:{_WORDS})\b)(?:\s?(?P<unit>%|[A-Za-z\u00b5\u03bc]+))?(?!\w)",
    re.IGNORECASE,
)
_SWITCH: Mapping[str, bool] = {
    **dict.fromkeys(("true", "on", "yes", "enabled", "required", "allowed", "attivo", "abilitato", "vero"), True),
    **dict.fromkeys(
        ("false", "off", "no", "disabled", "optional", "forbidden", "disattivo", "disabilitato", "falso"), False
    ),
}
_NO_UNITS = STOP_WORDS["en"] | {"", "now", "today", "per", "each", "since"}  # what may follow a bare number
TOLERANCE_RATIO = 0.075  # a gigabyte and a gibibyte are one where people write


@dataclass(frozen=True, slots=True)
class Value:
    """A number in the base unit of its dimension (`time`: seconds, `data`: bytes, a counted thing's stem, or nothing), or a
    word."""

    number: float | None = None
    dimension: str = ""
    word: str = ""

    def compared(self, other: Value) -> Comparison:
        if self.number is None or other.number is None:
            if self.number is not None or other.number is not None:
                return "incomparable"
            return self._word_compared(other)
        span = max(abs(self.number), abs(other.number))
        slack = TOLERANCE_RATIO if self.dimension == other.dimension == "data" else 1e-9
        is_same = abs(self.number - other.number) <= slack * span
        if self.dimension == other.dimension:
            return "same" if is_same else "different"
        return "same" if is_same and not (self.dimension and other.dimension) else "incomparable"

    def _word_compared(self, other: Value) -> Comparison:
        mine, theirs = _SWITCH.get(self.word), _SWITCH.get(other.word)
        if mine is not None and theirs is not None:
            return "same" if mine is theirs else "different"
        if (mine is None) is not (theirs is None):
            return "incomparable"
        return "same" if self.word == other.word else "different"


def quantity(match: re.Match[str]) -> Value:
    """The value of a match of NUMBER."""
    word = match["number"].lower()
    number = NUMBER_WORDS.get(word)
    if number is None:
        number = float(word.replace(",", "").replace("_", ""))
    unit = fold(match["unit"] or "")
    stemmed = unit.removesuffix("s") if len(unit) > 1 and unit not in ("ms", "us", "ns") else unit
    for dimension, scales in (("time", _TIME), ("data", _DATA)):
        scale = scales.get(unit, scales.get(stemmed))
        if scale is not None and unit not in _SCALES:
            return Value(number * scale, dimension)
    if unit in _SCALES:
        return Value(number * _SCALES[unit])
    return Value(number, unit if unit == "%" else "" if unit in _NO_UNITS else stem(unit))


def switch(word: str) -> Value | None:
    """The value of a word that says on or off; None for any other."""
    folded = fold(word)
    return Value(word=folded) if folded in _SWITCH else None
