"""What the term maker knows of natural languages: words without meaning, and how programmers say the same thing otherwise.

The words stand in languages.txt. Pure but for reading that file once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

MIN_OPEN_CHARS: Final = 3  # a beginning this short is trusted only where the rest of the word is short as well

Glossary = tuple[tuple[str, tuple[str, ...]], ...]  # (beginning of a word, English words), longest beginning first


@lru_cache(maxsize=1)
def _sections() -> Mapping[str, list[str]]:
    """The file's lines by section, comments left out."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in Path(__file__).with_name("languages.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections


def _words(section: str) -> frozenset[str]:
    return frozenset(" ".join(_sections()[section]).split())


def _pairs(section: str) -> Iterator[tuple[str, str]]:
    for line in _sections()[section]:
        left, _, right = line.partition(" = ")
        yield left, right


def _glossary(section: str) -> Glossary:
    rows = [(beginning, tuple(english.split())) for beginning, english in _pairs(section)]
    return tuple(sorted(rows, key=lambda row: (-len(row[0]), row[0])))


def _named(kind: str) -> dict[str, str]:
    """Language → the name of its section of this kind."""
    return {name.removeprefix(kind): name for name in _sections() if name.startswith(kind)}


def _ideas() -> dict[str, tuple[str, ...]]:
    ideas: dict[str, list[str]] = {}
    for row in _sections()["same ideas"]:
        words = row.split()
        for word in words:
            ideas.setdefault(word, []).extend(other for other in words if other != word)
    return {word: tuple(dict.fromkeys(others)) for word, others in ideas.items()}


STOP_WORDS: Final = {name: _words(section) for name, section in _named("stop words: ").items()}
STOP_PAIRS: Final = _words("stop pairs: cjk")
WEAK_WORDS: Final = _words("weak words")
EVERYDAY_WORDS: Final = frozenset().union(*(_words(section) for section in _named("everyday words: ").values()))
PROPER_NAMES: Final = _words("proper names")
LANGUAGE_CODES: Final = dict(_pairs("language codes"))
IDIOMS: Final = tuple((idiom, tuple(words.split())) for idiom, words in _pairs("idioms"))
GLOSSARY: Final = {name: _glossary(section) for name, section in _named("glossary: ").items()}
CJK_GLOSSARY: Final = GLOSSARY["cjk"]
SAME_IDEAS: Final = _ideas()


def language_of(words: list[str]) -> str:
    """The language whose words without meaning `words` (folded) holds most of; `en` unless another one clearly wins."""
    counts = {name: sum(word in stop for word in words) for name, stop in STOP_WORDS.items()}
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    return best if counts[best] > counts["en"] else "en"


def in_english(word: str, language: str) -> tuple[str, ...]:
    """What `word` (folded) of `language` may be called in code; empty when the glossary does not know it."""
    for beginning, english in GLOSSARY.get(language, ()):
        is_close = len(beginning) > MIN_OPEN_CHARS or len(word) <= len(beginning) + MIN_OPEN_CHARS
        if word.startswith(beginning) and is_close:
            return english
    return ()


def same_idea(word: str) -> tuple[str, ...]:
    """Other words programmers use for `word` (folded English)."""
    return SAME_IDEAS.get(word, ())
