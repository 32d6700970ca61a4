"""Whether a value looks as if a machine had drawn it: the difference between a key and a word. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter

LEAST_RANDOM_CHARS = 12
LEAST_PASSWORD_CHARS = 8
LEAST_ENTROPY_BITS = 3.0
MANY_DIGITS_RATIO = 0.15
FEW_WORDS_RATIO = 0.5
WORD_CHARS = 4

_TEMPLATE = re.compile(
    r"example|sample|change.?me|placeholder|dummy|your|xxxx|insert|redacted|process\.env|environ|getenv|\*\*\*|\.\.\."
    r"|\$\{|\{\{|%\(|\$\(|<|>|…",
    re.IGNORECASE,
)
_STOCK_WORD = re.compile(
    r"(?:my|the)?[-_.]?(?:password|passwd|pass|pwd|secret|token|test|user(?:name)?|admin|root|guest|postgres|mysql"
    r"|changeit|letmein|hunter|foobar|foo|bar|abc)[-_.]?\d{0,4}",
    re.IGNORECASE,
)
_SPOKEN = re.compile(r"fake|mock|todo|passw|secret|token|test|foobar|abc123|1234567|0000000|deadbeef", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_REFERENCE = re.compile(
    r"[$@%]\{?\w+\}?|[A-Za-z_][\w-]*(?:(?:\.|::|->)[A-Za-z_][\w-]*)+|(?:\.{0,2}/)?(?:[\w.@-]+/)+[\w.@-]*|[\w+-]+://.*|\S+@\S+\.\w+"
)
_REFERENCE_ONLY = re.compile(r"[$@%:]\{?\w+\}?%?|\{\w*\}|#\{.*\}")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_IDENTIFIER = re.compile(r"[a-z]+(?:[_.:-][a-z]+)*\d?|[A-Z]+(?:[_-][A-Z]+)*\d?|[A-Za-z]+")
_PATTERN_SIGNS = frozenset("^()[]{}|\\*<>")


def is_placeholder(value: str) -> bool:
    """Whether documentation or a template would write this where a secret goes."""
    return any((_TEMPLATE.search(value), _STOCK_WORD.fullmatch(value), _REFERENCE_ONLY.fullmatch(value)))


def is_password(value: str) -> bool:
    """Whether a quoted value may be a password that a person chose: letters with digits or signs, and no template,
    path, pattern or identifier."""
    if len(value) < LEAST_PASSWORD_CHARS or is_placeholder(value) or _is_reference(value) or _UUID.fullmatch(value):
        return False
    if any(char in _PATTERN_SIGNS for char in value) or not any(char.isalpha() for char in value):
        return False
    if _IDENTIFIER.fullmatch(value):
        return False
    return any(char.isdigit() or not char.isalnum() for char in value)


def is_random(value: str) -> bool:
    """Whether the value has the length, the digits and the lack of words that random keys have."""
    if len(value) < LEAST_RANDOM_CHARS or is_placeholder(value) or _UUID.fullmatch(value):
        return False
    if "*" in value or _SPOKEN.search(value):  # a pattern over names; a value for a test
        return False
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    if not digits or not letters or not value.isascii() or entropy_bits(value) < LEAST_ENTROPY_BITS:
        return False
    words = sum(len(part) for part in _PARTS.findall(value) if len(part) >= WORD_CHARS and part.isalpha()) / len(value)
    if _is_reference(value) and (words >= FEW_WORDS_RATIO or digits < 3):  # noqa: PLR2004  # a path or name with a version
        return False
    return digits >= MANY_DIGITS_RATIO * len(value) if words >= FEW_WORDS_RATIO else True


def entropy_bits(value: str) -> float:
    """Shannon's entropy of the value's characters, in bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_reference(value: str) -> bool:
    return _REFERENCE.fullmatch(value) is not None
