"""One term maker for index and query: what a text is about, as folded, lightly stemmed words.

Diacritics are folded, identifiers (`camelCase`, `snake_case`, `src/auth/session.ts`, `C++`) kept whole and split, Chinese,
Japanese and Korean cut into bigrams. Pure; nothing here raises, whatever the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

COGNATE_CHARS = 5  # two words of at least this many characters that share them are taken for relatives
MIN_WORD_CHARS = 2
MAX_COMMON_CHARS = 40  # of a token that is remembered
_SHORTEST_STEMMED_CHARS = 4
_SHORTEST_NOUN_CHARS = 8  # `compression` comes from `compress`; `session` and `version` from nothing
_SHORTEST_REST_CHARS = 3
_CJK = "\u3005\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_CJK_FIRST = "\u2e80"

CJK_RUN = re.compile(f"[{_CJK}]+")
# A word, or an identifier with all that joins its parts: `a.b`, `a::b`, `a/b`, `a-b`, `a_b`; then `C++`, `C#`, `F#`.
TOKEN = re.compile(rf"[A-Za-z]\+\+|[A-Za-z]#|(?:[^\W{_CJK}]|\$)+(?:(?:::|->|[./\\-])(?:[^\W{_CJK}]|\$)+)*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+|[^\W\d_a-zA-Z]+")
_LIKE_CODE = re.compile(r"::|->|[./\\_$+#]|[a-z\d][A-Z]|[A-Z]{2,}[a-z]{2,}|[A-Za-z]\d")
_UNDOUBLED = frozenset("bdgmnprt")


def fold(text: str) -> str:
    """`text` in lower case, Latin, Greek and Cyrillic letters without their marks."""
    return text.lower() if text.isascii() else without_marks(text).casefold()


def without_marks(text: str) -> str:
    """`text` in its own case, compatibility forms unified, letters below the CJK blocks without their marks."""
    if text.isascii():
        return text
    return "".join(
        "".join(c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c))
        if letter < _CJK_FIRST
        else unicodedata.normalize("NFKC", letter)
        for letter in text
    )


def split_identifier(name: str) -> tuple[str, ...]:
    """The words of an identifier or path, folded: `HTTPServer_v2` → http, server, v2."""
    return tuple(fold(part) for part in _PART.findall(name))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The part of a folded English word that its inflections share; short words and other scripts as they are."""
    if len(word) < _SHORTEST_STEMMED_CHARS or not word.isascii() or not word.isalpha():
        return word
    word = _without_plural(word)
    word = _without_past_or_ing(word)
    for ending, least in (
        ("ation", 4),
        ("ator", 4),
        ("ment", 5),
        ("ate", 4),
        ("ly", 5),
        ("er", 4),
        ("or", 4),
        ("e", 4),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
            break
    if word.endswith(("sion", "tion")) and len(word) >= _SHORTEST_NOUN_CHARS:
        word = word[:-3]
    if word.endswith("y") and len(word) >= _SHORTEST_STEMMED_CHARS:
        word = word[:-1] + "i"
    return word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST_STEMMED_CHARS:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "os")):
        return word[:-1]
    return word


def _without_past_or_ing(word: str) -> str:
    for ending in ("ing", "ied", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= _SHORTEST_REST_CHARS and any(vowel in rest for vowel in "aeiouy"):
            if ending == "ied":
                return rest + "y"
            if rest.endswith(("at", "iz", "bl")):
                return rest + "e"
            is_doubled = rest[-1] == rest[-2] and rest[-1] in _UNDOUBLED
            return rest[:-1] if is_doubled else rest
    return word


def cjk_bigrams(run: str) -> tuple[str, ...]:
    """The overlapping pairs of a run of Chinese, Japanese or Korean characters; a lone one stands for itself."""
    return tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)


def cognate_key(term: str) -> str:
    """What relatives share: the first five characters; empty for a term too short to have any."""
    return term[:COGNATE_CHARS] if len(term) >= COGNATE_CHARS and term.isalpha() else ""


def is_identifier(token: str) -> bool:
    """Whether `token` is written as code is: joined parts, a hump, an underscore, a digit inside a name."""
    return _LIKE_CODE.search(token) is not None


def terms(text: str) -> list[str]:
    """The terms of `text` in order, repeats kept: for indexing and for searching alike."""
    return list(_terms(text))


def _of_token(token: str) -> tuple[str, ...]:
    parts = tuple(part for part in split_identifier(token) if len(part) >= MIN_WORD_CHARS)
    whole = fold(token).strip("_") if len(parts) > 1 or is_identifier(token) else ""
    found = [whole] * bool(whole) + [stem(part) for part in parts if part != whole]
    if "-" in token and token.replace("-", "").isalpha():
        found.append(stem(fold(token.replace("-", ""))))
    return tuple(found)


_of_common = lru_cache(maxsize=32768)(_of_token)  # texts are made of few words


def _terms(text: str) -> Iterator[str]:
    text = without_marks(text)
    for match in TOKEN.finditer(text):
        token = match.group()
        yield from _of_common(token) if len(token) <= MAX_COMMON_CHARS else _of_token(token)
    for run in CJK_RUN.finditer(text):
        yield from cjk_bigrams(run.group())
