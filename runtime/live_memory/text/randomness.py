"""Whether a value looks as if a machine had drawn it: the difference between a key and a word. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

LEAST_RANDOM_CHARS = 12
LEAST_PASSWORD_CHARS = 8
LEAST_ENTROPY_BITS = 3.0
MANY_DIGITS_RATIO = 0.3
FEW_WORDS_RATIO = 0.5
WORD_CHARS = 4
FLUENT_RATIO = 0.52
SPOKEN_RATIO = 0.75  # that no random value reaches, however short its words
BABBLE_RATIO = 0.4
LEAST_CHARS_WITHOUT_DIGITS = 20

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
_PASSWORD_SIGNS = frozenset("!@#$%^?~")  # that stand in no name and, after a letter, in little code
# The 160 most frequent pairs of letters in the identifiers and words of Python's standard library.
_COMMON_PAIRS = (
    "ab ac ad ag ai al am an ap ar as at ba be bl ca ce ch ci ck cl co cr ct da de di do ds ea ec ed ee ef el em en "
    "ep er es et ev ex fe ff fi fo fr ge gr ha he hi ho ia ib ic id ie if ig il im in io ip ir is it iv iz ke la le "
    "li ll lo ls lt ly ma me mi mo mp na nc nd ne nf ng ni no ns nt oc od ol om on oo op or os ot ou ow pa pe pi pl "
    "po pp pr pt qu ra rc rd re ri rm ro rr rs rt ry sa sc se sh si so sp ss st su ta te th ti to tr ts tt tu ty ub "
    "ue ul um un up ur us ut va ve wa ze"
)
_TYPE_NAME = re.compile(r"(?:\w{1,40}\.){0,4}(?:[A-Z][a-z]+)*\d{0,5}(?:[A-Z][a-z]+){2,}")  # Ed25519PrivateKey
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


def is_signed_password(value: str) -> bool:
    """Whether a value without quotes may be a password that a person chose: what `is_password` asks, and a letter, a digit
    and a sign that no name has."""
    signs = _PASSWORD_SIGNS.intersection(value[1:])
    return bool(signs) and any(char.isdigit() for char in value) and is_password(value.replace("^", "!"))


def is_random(value: str) -> bool:
    """Whether the value has the length, the digits and the lack of words that random keys have."""
    if len(value) < LEAST_RANDOM_CHARS or is_placeholder(value) or _UUID.fullmatch(value):
        return False
    is_pattern = "*" in value and fluency_ratio(value) >= BABBLE_RATIO
    if is_pattern or _SPOKEN.search(value) or _TYPE_NAME.fullmatch(value):  # a pattern over names; a value for a test
        return False
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    if not letters or not value.isascii() or entropy_bits(value) < LEAST_ENTROPY_BITS:
        return False
    if not digits:
        is_mixed = not value.islower() and not value.isupper()
        return len(value) >= LEAST_CHARS_WITHOUT_DIGITS and is_mixed and fluency_ratio(value) < BABBLE_RATIO
    words = sum(len(part) for part in _PARTS.findall(value) if len(part) >= WORD_CHARS and part.isalpha()) / len(value)
    is_wordy = fluency_ratio(value) >= (FLUENT_RATIO if words >= FEW_WORDS_RATIO else SPOKEN_RATIO)
    if _is_reference(value) and (is_wordy or (digits < 3 and fluency_ratio(value) >= BABBLE_RATIO)):  # noqa: PLR2004  # a path or name with a version
        return False
    return digits >= MANY_DIGITS_RATIO * len(value) if is_wordy else True


def fluency_ratio(value: str) -> float:
    """The share of the pairs of letters that names and words are made of: .82 in those of source code, .24 in random letters."""
    folded = value.lower()
    pairs = [one + other for one, other in pairwise(folded) if one.isalpha() and other.isalpha()]
    return sum(pair in _COMMON_PAIRS for pair in pairs) / len(pairs) if pairs else 0.0


def entropy_bits(value: str) -> float:
    """Shannon's entropy of the value's characters, in bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_reference(value: str) -> bool:
    return _REFERENCE.fullmatch(value) is not None
