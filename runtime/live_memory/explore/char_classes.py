"""The characters that `\\w`, `\\s` and the named classes stand for in ripgrep, as the inside of a class for `re`. Pure."""

from __future__ import annotations

import functools
import itertools
import sys
import unicodedata
from collections.abc import Sequence
from typing import TypeAlias

# What no wildcard matches: line ends, and bytes that are no UTF-8 (as `surrogateescape` decodes them).
NEVER = "\\r\\n\udc80-\udcff"
SPACE = "\\t\\v\\f \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x09\\x0b\\x0c\\x0e-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x09\\x0b\\x0c\\x0e-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\v\\f ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_WIDE_SPACES = "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
_ZERO_WIDTH_JOINERS = (0x200C, 0x200D)
_ASSIGNED = (range(0x33480), range(0xE0100, 0xE01F0))  # the planes that hold letters and marks
_CIRCLED = (range(0x24B6, 0x24EA), range(0x1F130, 0x1F14A), range(0x1F150, 0x1F16A), range(0x1F170, 0x1F18A))


Ranges: TypeAlias = Sequence[tuple[int, int]]


@functools.cache
def word_ranges() -> Ranges:
    """Unicode's word characters (UTS 18, annex C)."""
    ranges: list[tuple[int, int]] = []
    for code in itertools.chain(*_ASSIGNED):
        if _is_word(code):
            start = ranges.pop()[0] if ranges and ranges[-1][1] == code - 1 else code
            ranges.append((start, code))
    return ranges


def _is_word(code: int) -> bool:
    category = unicodedata.category(chr(code))
    return (
        category[0] in "LM"
        or category in {"Nd", "Nl", "Pc"}
        or code in _ZERO_WIDTH_JOINERS
        or any(code in c for c in _CIRCLED)
    )


def complement(ranges: Ranges) -> Ranges:
    others = []
    start = 0
    for low, high in sorted(ranges):
        if start < low:
            others.append((start, low - 1))
        start = high + 1
    return [*others, (start, sys.maxunicode)]


def as_members(ranges: Ranges) -> str:
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


def not_space() -> Ranges:
    """Everything that is no white space."""
    single = [(ord(char), ord(char)) for char in " " + _WIDE_SPACES]
    return complement([(9, 13), *single, (0x2000, 0x200A)])
