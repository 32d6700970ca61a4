"""The term maker: the same words for index and query, in code and in prose, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.text.languages import (
    GLOSSARY,
    STOP_WORDS,
    in_english,
    language_of,
    same_idea,
)
from live_memory.text.terms import (
    cjk_bigrams,
    cognate_key,
    fold,
    is_identifier,
    split_identifier,
    stem,
    terms,
)


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("camelCase", ("camel", "case")),
        ("snake_case", ("snake", "case")),
        ("HTTPServer_v2", ("http", "server", "v2")),
        ("src/auth/session.ts", ("src", "auth", "session", "ts")),
        ("JPMethodDispatch::findOverload", ("jp", "method", "dispatch", "find", "overload")),
        ("MAX_FILE_BYTES", ("max", "file", "bytes")),
        ("kebab-case-name", ("kebab", "case", "name")),
    ],
)
def test_an_identifier_splits_into_its_words(identifier: str, words: tuple[str, ...]) -> None:
    assert split_identifier(identifier) == words


@pytest.mark.parametrize(
    ("identifier", "whole"),
    [("getUserName", "getusername"), ("src/auth/session.ts", "src/auth/session.ts"), ("C++", "c++"), ("C#", "c#")],
)
def test_an_identifier_is_kept_whole_as_well(identifier: str, whole: str) -> None:
    assert whole in terms(f"the {identifier} of it")


def test_accents_do_not_matter() -> None:
    assert fold("Perché è già così, Ångström?") == "perche e gia cosi, angstrom?"
    assert terms("la città") == terms("la citta")


@pytest.mark.parametrize(
    "family",
    [
        "compress compressed compressing compression",
        "retry retries retried retrying",
        "validate validates validated validation",
        "cache caches cached caching",
        "parse parser parsers parsing",
        "stop stops stopped stopping",
        "configure configured configuration",
        "address addresses",
        "process processes processed",
    ],
)
def test_inflections_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("session", "sessile"), ("user", "use"), ("file", "fill"), ("port", "portal")]
)
def test_words_of_another_meaning_keep_stems_of_their_own(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_chinese_and_japanese_become_pairs_and_words_between_them_stay() -> None:
    assert cjk_bigrams("缓存失效") == ("缓存", "存失", "失效")
    assert terms("缓存 key") == ["key", "缓存"]
    assert terms("サーバ") == ["サー", "ーバ"]
    assert terms("値") == ["値"]


def test_voiced_japanese_letters_are_not_folded_into_voiceless_ones() -> None:
    assert fold("ガ") == "ガ"


def test_a_hyphenated_word_is_found_written_together() -> None:
    assert "email" in terms("an e-mail")


def test_relatives_in_other_languages_share_a_cognate_key() -> None:
    assert cognate_key("paginazione") == cognate_key("pagination")
    assert cognate_key("moda") == ""


@pytest.mark.parametrize(
    ("token", "is_code"),
    [
        ("camelCase", True),
        ("a_b", True),
        ("std::vector", True),
        ("utf8", True),
        ("Retry", False),
        ("plain", False),
        ("API", False),
    ],
)
def test_what_is_written_like_code_is_told_from_words(token: str, is_code: bool) -> None:
    assert is_identifier(token) is is_code


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("how does the server decide that it is running", "en"),
        ("come fa il server a decidere che è già in esecuzione", "it"),
        ("como se guarda la sesion en una cookie", "es"),
        ("comment le serveur est il lance", "fr"),
        ("wie wird der server gestartet", "de"),
        ("como o cabecalho e mantido em um redirecionamento", "pt"),
        ("server", "en"),
    ],
)
def test_the_language_of_a_question_is_told_by_its_small_words(question: str, language: str) -> None:
    assert language_of(fold(question).split()) == language


def test_programmers_words_are_translated() -> None:
    assert "key" in in_english("chiavi", "it")
    assert "start" in in_english("avviato", "it")
    assert "directory" in in_english("verzeichnis", "de")
    assert in_english("zzz", "it") == ()


def test_words_for_the_same_idea_know_each_other() -> None:
    assert "env" in same_idea("environment")
    assert "environment" in same_idea("env")


def test_the_word_lists_are_folded() -> None:
    words = [word for stop in STOP_WORDS.values() for word in stop]
    words += [beginning for name, rows in GLOSSARY.items() if name != "cjk" for beginning, _ in rows]
    assert all(fold(word) == word for word in words)


@given(st.text())
def test_any_text_has_terms_without_an_error_and_the_same_ones_each_time(text: str) -> None:
    assert terms(text) == terms(text)
    assert all(terms(text))


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=12))
def test_a_stem_begins_like_its_word(word: str) -> None:
    assert word.startswith(stem(word).removesuffix("i").removesuffix("e")) or stem(word).endswith("y")
