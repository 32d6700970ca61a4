"""What a question is about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from live_memory.notes.query import names_of, query_of, stop_terms


def test_words_without_meaning_are_left_out_in_the_language_of_the_question() -> None:
    assert query_of("how does the retry budget work?").terms == ("retri", "budget")
    assert "come" not in query_of("come funziona la coda delle stampe nel magazzino?").terms


def test_named_languages_are_left_out_of_any_question() -> None:
    question = "the budget of oder is what the timeout allows"
    assert "oder" in query_of(question).terms
    assert "oder" not in query_of(question, stop_terms("de")).terms


def test_an_identifier_says_as_much_as_its_parts_and_not_more() -> None:
    assert query_of("IndexedDB").words == 1.0
    assert 1.0 < query_of("src/auth/session.ts").words < 3.0


def test_two_characters_of_chinese_are_less_than_a_word() -> None:
    assert query_of("弹幕").words < 1.0 < query_of("作业查重").words


def test_names_are_what_only_stands_with_a_capital_inside_of_a_sentence() -> None:
    assert names_of("Ask Marta about Redis. Then ask redis.") == {"marta"}
    assert names_of("Marta said so") == frozenset()
    assert names_of("PWM and camelCase are none") == frozenset()


def test_german_nouns_are_no_names() -> None:
    assert query_of("Warum wird die Datei von dem Server nicht gelesen").names == frozenset()


def test_short_words_can_be_left_out_but_not_pairs_of_characters() -> None:
    assert query_of("db 登录 timeout").without_short(3).terms == ("timeout", "登录")


@given(st.text())
def test_any_text_makes_a_query(text: str) -> None:
    query = query_of(text)
    assert query.words >= 0
    assert len(query.terms) <= 64
