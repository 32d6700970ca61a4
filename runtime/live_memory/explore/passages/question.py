"""What a question asks for: concepts, each with the ways it may be written in code. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from live_memory.text.languages import (
    CJK_GLOSSARY,
    IDIOMS,
    LANGUAGE_CODES,
    PROPER_NAMES,
    SAME_IDEAS,
    STOP_PAIRS,
    STOP_WORDS,
    WEAK_WORDS,
    in_english,
    language_of,
    same_idea,
)
from live_memory.text.terms import (
    CJK_RUN,
    COGNATE_CHARS,
    MIN_WORD_CHARS,
    TOKEN,
    cjk_bigrams,
    cognate_key,
    fold,
    is_identifier,
    split_identifier,
    stem,
    without_marks,
)

MAX_QUESTION_CHARS = 4000
MAX_CONCEPTS = 28
NAME_WEIGHT = 2.5
PHRASE_WEIGHT = 2.5
PART_WEIGHT = 0.7
WEAK_WEIGHT = 0.35
BIGRAM_WEIGHT = 0.6
IDIOM_WEIGHT = 0.8
TRANSLATION_FACTOR = 0.9
SYNONYM_FACTOR = 0.5
COGNATE_FACTOR = 0.5
LONGER_WORD_FACTORS = {4: 0.3}  # a longer word that only begins alike, by the beginning's length
INFLECTED_FACTOR = 0.8
SHORT_WORD_CHARS = 3
MAX_PHRASE_CHARS = 80

FormKind: TypeAlias = Literal["name", "phrase", "start", "short", "cognate"]
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")  # no program takes them as an argument
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|「([^」\n]+)」|«([^»\n]+)»")
_CALLED = re.compile(r"([A-Za-z_$][\w$]*[!?]?)\(")
_ELISION = re.compile(r"(?<=\w)['’](?=\w)")
_INFLECTED = {stem(word): word for word in SAME_IDEAS}
_KANA_ONLY = re.compile("[\u3041-\u309f]+")


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a concept. `key` is folded; `stem` is what an inflection of `word` shares."""

    key: str
    factor: float
    kind: FormKind
    stem: str = ""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing the question names; `label` is the question's own word for it."""

    label: str
    weight: float
    forms: tuple[Form, ...]

    @property
    def is_name(self) -> bool:
        return any(form.kind == "name" for form in self.forms)


@dataclass(frozen=True, slots=True)
class Question:
    """The concepts in order of weight, the paths it names, and all of its words (stems) for what it asks about."""

    concepts: tuple[Concept, ...]
    paths: tuple[str, ...]
    words: frozenset[str]


def read_question(text: str) -> Question:
    """`text` as concepts; none where it holds nothing to look for."""
    text = without_marks(_UNPRINTABLE.sub(" ", text[:MAX_QUESTION_CHARS]))
    words = [fold(match.group()) for match in TOKEN.finditer(_ELISION.sub(" ", text))]
    language = language_of(words)
    found: dict[str, Concept] = {}
    for concept in [*_phrases(text), *_named(text), *_worded(text, language), *_idioms(text), *_in_cjk(text)]:
        key = concept.forms[0].kind + (concept.forms[0].stem or concept.forms[0].key)
        kept = found.get(key)
        if kept is None or kept.weight < concept.weight:
            found[key] = concept
    ranked = sorted(found.values(), key=lambda concept: -concept.weight)[:MAX_CONCEPTS]
    stems = frozenset(stem(part) for word in words for part in [word, *split_identifier(word)])
    return Question(tuple(ranked), tuple(_paths(text)), stems)


def _phrases(text: str) -> Iterator[Concept]:
    for match in _QUOTED.finditer(text):
        phrase = next(group for group in match.groups() if group is not None).strip()
        if len(phrase) > SHORT_WORD_CHARS and not TOKEN.fullmatch(phrase) and len(phrase) <= MAX_PHRASE_CHARS:
            yield Concept(phrase, PHRASE_WEIGHT, (Form(fold(phrase), 1.0, "phrase"),))


def _named(text: str) -> Iterator[Concept]:
    """Identifiers, whole: each segment of `a.b::c`, and what is followed by a bracket or stands in back quotes."""
    names = [match.group(1) for match in _CALLED.finditer(text)]
    names += [match.group(1) for match in _QUOTED.finditer(text) if match.group(1) and TOKEN.fullmatch(match.group(1))]
    for match in TOKEN.finditer(text):
        token = match.group()
        if _is_code(token) and not _is_abbreviation(token):
            names += [segment for segment in re.split(r"::|->|[./\\-]", token) if segment]
            if token[-1] in "+#":
                yield Concept(token, NAME_WEIGHT, (Form(fold(token), 1.0, "phrase"),))
    for name in names:
        parts = [part for part in split_identifier(name) if part]
        letters = "".join(parts)
        if len(parts) > 1 or len(letters) > SHORT_WORD_CHARS:
            is_code = len(parts) > 1 or f"{name}(" in text or f"`{name}" in text
            yield Concept(name, NAME_WEIGHT if is_code else 1.0, (Form("_".join(parts), 1.0, "name", stem(letters)),))


def _is_code(token: str) -> bool:
    return is_identifier(token) and fold(token) not in PROPER_NAMES


def _is_abbreviation(token: str) -> bool:
    return bool(re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]?", token))


def _worded(text: str, language: str) -> Iterator[Concept]:
    stop = STOP_WORDS[language] | (STOP_WORDS["en"] if language != "en" else frozenset())
    for match in TOKEN.finditer(_ELISION.sub(" ", text)):
        token = match.group()
        is_code = _is_code(token)
        for part in split_identifier(token) if is_code or "-" in token else (fold(token),):
            if len(part) < MIN_WORD_CHARS or part.isdigit() or (part in stop and not is_code):
                continue
            yield _word(part, language, PART_WEIGHT if is_code else 1.0)
        if "-" in token and token.replace("-", "").isalpha():
            yield _word(fold(token.replace("-", "")), language, 1.0)


def _idioms(text: str) -> Iterator[Concept]:
    folded = fold(text)
    for idiom, meanings in IDIOMS:
        if idiom in folded:
            yield Concept(idiom, IDIOM_WEIGHT, tuple(_form(word, 1.0) for word in meanings))


def _word(word: str, language: str, weight: float) -> Concept:
    english = in_english(word, language)
    forms = [_form(word, 1.0)]
    forms += [_form(other, TRANSLATION_FACTOR) for other in english]
    forms += [_form(other, SYNONYM_FACTOR) for other in _alike(word, language)]
    if language != "en" and cognate_key(word):
        forms.append(Form(word[:COGNATE_CHARS], COGNATE_FACTOR, "cognate"))
    is_weak = word in WEAK_WORDS or (bool(english) and english[0] in WEAK_WORDS)
    return Concept(word, weight * (WEAK_WEIGHT if is_weak else 1.0), tuple(forms))


def _alike(word: str, language: str) -> tuple[str, ...]:
    if language != "en":
        return tuple(alike for other in in_english(word, language) for alike in same_idea(other))
    plain = word.removesuffix("s")
    bases = (word, plain, _INFLECTED.get(stem(word), word))
    return tuple(dict.fromkeys(alike for base in bases for alike in same_idea(base)))


def _form(word: str, factor: float) -> Form:
    if len(word) <= SHORT_WORD_CHARS:
        return Form(word, factor, "short", stem(word), word)
    root = stem(word)
    key = root.removesuffix("i") if root not in (word, "") else word
    return Form(key if len(key) > SHORT_WORD_CHARS else word, factor, "start", root, word)


def _in_cjk(text: str) -> Iterator[Concept]:
    for match in CJK_RUN.finditer(text):
        run = match.group()
        for written, english in CJK_GLOSSARY:
            if written in run:
                yield Concept(written, 1.0, tuple(_form(word, TRANSLATION_FACTOR) for word in english))
        for pair in cjk_bigrams(run):
            if pair not in STOP_PAIRS and not _KANA_ONLY.fullmatch(pair):
                yield Concept(pair, BIGRAM_WEIGHT, (Form(pair, 1.0, "phrase"),))


def _paths(text: str) -> Iterator[str]:
    for match in TOKEN.finditer(text):
        token = match.group().replace("\\", "/")
        if "/" in token or re.search(r"\w\.[a-z]{1,4}$", token):
            yield fold(token).strip("./")
        elif fold(token) in LANGUAGE_CODES:
            yield LANGUAGE_CODES[fold(token)]
