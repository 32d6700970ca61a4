"""Ids made from titles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.notes.refs import lifted
from live_memory.notes.slugs import MAX_SLUG_CHARS, free_id, is_id, slug
from live_memory.text.secrets import redact


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Port of the server", "port-of-the-server"),
        ("  Größe: café & naïve (v2.1)! ", "grosse-cafe-naive-v2-1"),
        ("`src/auth/session.ts` issues tokens", "src-auth-session-ts-issues-tokens"),
        ("2024", "note-2024"),
    ],
)
def test_an_id_says_what_the_title_says(title: str, expected: str) -> None:
    assert slug(title) == expected


def test_what_ascii_cannot_say_is_told_apart_by_a_digest() -> None:
    one, other, mixed = slug("会话令牌在哪里签发"), slug("会话令牌不要签发"), slug("JWT 会话")
    assert len({one, other, mixed}) == 3
    assert one.startswith("note-")
    assert mixed.startswith("jwt-")
    assert slug("会话令牌在哪里签发") == one


def test_a_long_title_is_cut_between_words() -> None:
    name = slug("word " * 40)
    assert len(name) <= MAX_SLUG_CHARS
    assert name.endswith("word")
    assert len(slug("x" * 200)) == MAX_SLUG_CHARS


def test_an_id_is_never_taken_for_a_secret() -> None:
    for title in (
        "glpat: notes about GitLab tokens",
        "sk-ant API key handling in the launcher",
        "xoxb Slack token rotation",
    ):
        assert redact(slug(title)) == slug(title)
        assert is_id(slug(title))


def test_a_taken_id_is_numbered() -> None:
    assert free_id("A port", {"a-port", "a-port-2"}.__contains__) == "a-port-3"
    assert free_id("A port", lambda _: False) == "a-port"


def test_ten_thousand_namesakes_are_passed_in_a_few_looks() -> None:
    taken = {"a-port", *(f"a-port-{number}" for number in range(2, 10_001))}
    looks: list[str] = []

    def is_taken(name: str) -> bool:
        looks.append(name)
        return name in taken

    assert free_id("A port", is_taken) == "a-port-10001"
    assert len(looks) < 40


@given(st.sets(st.integers(1, 40)))
def test_a_free_id_is_free_and_stands_behind_a_taken_one(numbers: set[int]) -> None:
    taken = {"a-port" if number == 1 else f"a-port-{number}" for number in numbers}
    name = free_id("A port", taken.__contains__)
    assert name not in taken
    number = int(name.removeprefix("a-port").removeprefix("-") or 1)
    assert number == 1 or number - 1 in numbers


@given(st.text(max_size=300))
def test_any_title_makes_an_id_that_a_body_can_cite(title: str) -> None:
    name = slug(title)
    assert is_id(name)
    assert len(name) <= MAX_SLUG_CHARS
    if not all(char in "0123456789abcdef" for char in name):  # a colour
        assert lifted(f"See #{name}.") in ((name,), ())
