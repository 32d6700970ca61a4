"""What of a note the code can be asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.notes.note import Note
from live_memory.notes.references import parts, references


def note(body: str, **more: object) -> Note:
    return Note("git:host/one", "one", "project", "It", body, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "names", "paths"),
    [
        ("compute_totals() in src/legacy/totals.py sums.", ("compute_totals",), ("src/legacy/totals.py",)),
        ("`SessionStore.load` and loadSession read it.", ("SessionStore.load", "loadSession"), ()),
        ("Auth::Token::verify fails in `session.ts`.", ("Auth::Token::verify",), ("session.ts",)),
        ("The TokenStore and the LegacyInvoiceBuilder wait.", ("TokenStore", "LegacyInvoiceBuilder"), ()),
        ("max_retries is honoured.", ("max_retries",), ()),
    ],
)
def test_what_only_code_is_written_like_is_a_reference(
    body: str, names: tuple[str, ...], paths: tuple[str, ...]
) -> None:
    found = references(note(body))
    assert (found.names, found.paths) == (names, paths)


@pytest.mark.parametrize(
    "body",
    [
        "GitHub, LinkedIn, BigQuery and PostgreSQL are on OAuth2.",
        "Set AWS_PROFILE and `GITHUB_TOKEN` first.",
        "See https://example.com/a_b/c.html, docs.example.com/x_y.html and dana_k@example.com.",
        "It is in ~/data/raw_input.csv and /etc/nginx/nginx.conf.",
        "`npm run build_all -- --no_cache` builds it.",
        "origin/main, application/json, and/or, 24/7, v1.2.3, e.g. this.",
        "old_helper() was removed; NewHelper is planned.",
        "This used to be done by the LegacyQueue.",
    ],
)
def test_products_hosts_commands_and_what_is_said_to_be_gone_are_none(body: str) -> None:
    assert len(references(note(body))) == 0


def test_sources_and_given_symbols_count() -> None:
    found = references(note("It waits.", sources={"a/b.py": "0"}, symbols=("Widget", "two words")))
    assert (found.names, found.paths) == (("Widget",), ("a/b.py",))


def test_an_identifier_is_there_when_all_of_its_words_are() -> None:
    assert parts("SessionStore.load") == ("SessionStore", "load")
    assert parts("a::b->c") == ("a", "b", "c")


@given(st.text(max_size=400))
def test_no_text_is_refused(text: str) -> None:
    references(note(text or "x"))
