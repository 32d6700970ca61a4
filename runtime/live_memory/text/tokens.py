"""How many tokens a text takes, estimated from its characters: no provider counts tokens offline, and none is asked."""

from __future__ import annotations

import re
from functools import lru_cache

from live_memory.text.calibration import Size

LONG_CHARS = 16_384
CHARS_PER_TOKEN = 4  # prose and code in Latin script, across the providers' tokenizers
WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)


def estimate_tokens(text: str) -> int:
    """At least 1 for any text: four characters a token, and one a token for Chinese, Japanese and Korean."""
    return size_of(text).tokens


def size_of(text: str) -> Size:
    """The estimate by script."""
    return _size_of_long(text) if len(text) > LONG_CHARS else _size_of(text)


@lru_cache(
    maxsize=16
)  # a window's frozen block is measured several times a question, and looking for wide text is slow
def _size_of_long(text: str) -> Size:
    return _size_of(text)


def _size_of(text: str) -> Size:
    wide_chars = 0 if text.isascii() else sum(len(run) for run in WIDE.findall(text))
    return Size(-(-(len(text) - wide_chars) // CHARS_PER_TOKEN), wide_chars)


def truncate_to_tokens(text: str, max_tokens: int) -> str:
    """The longest beginning of `text` that is estimated at no more than `max_tokens`."""
    if estimate_tokens(text) <= max_tokens:
        return text
    low, high = 0, min(len(text), max_tokens * CHARS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(text[:middle]) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low]
