"""Which notes say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.notes.duplicates import NEAR, similarity
from live_memory.notes.note import Note


def note(title: str, body: str) -> Note:
    return Note("r", "x", "project", title, body)


LONG = "The session manager issues tokens in the login route and keeps them for an hour in the cache of the gateway."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (note("Port", "The server listens on 7711."), note("port.", "The server  listens on 7711")),
        (note("Tokens", LONG), note("The tokens", LONG.replace("keeps them", "is keeping them"))),
        (note("Tokens", LONG), note("Tokens", f"{LONG}\n\nThe gateway also renews them.")),
        (note("Tokens", f"- {LONG}\n- The gateway renews them."), note("Tokens", f"The gateway renews them. {LONG}")),
        (note("令牌", "会话令牌在登录模块里签发。"), note("令牌", "会话令牌在登录模块里签发")),
    ],
)
def test_the_same_said_again_is_near(one: Note, other: Note) -> None:
    assert similarity(one, other) >= NEAR
    assert similarity(one, other) == similarity(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (note("Port", "The server listens on 7711."), note("Port", "The server listens on 7712.")),
        (note("Tokens", LONG), note("Tokens", LONG.replace("issues", "does not issue"))),
        (note("Tokens", LONG), note("Tokens", LONG.replace("issues", "doesn't issue"))),
        (note("Flag", "Caching is enabled in production."), note("Flag", "Caching is disabled in production.")),
        (note("Queue", "We use Postgres for the queue of jobs."), note("Queue", "We use MySQL for the queue of jobs.")),
        (note("Queue", "the jobs queue is kept in redis"), note("Queue", "the jobs queue is kept in kafka")),
        (note("Auth", "src/a.py does the login."), note("Auth", "src/b.py does the login.")),
        (note("Fix the login", "Later."), note("Fix the logout", "Later.")),
        (note("Tokens", LONG), note("Tokens", "The gateway renews tokens. Nobody else may do that.")),
        (note("Tokens", f"{LONG} One more thing stands here."), note("Tokens", f"{LONG} Another sentence is told.")),
        (note("令牌", "会话令牌在登录模块里签发。"), note("令牌", "会话令牌不在登录模块里签发。")),
        (note("Regola", "Usare sempre le migrazioni."), note("Regola", "Non usare mai le migrazioni.")),
        (note("A", ""), note("B", "")),
        (
            note("Ports", "Staging of the shop runs on port 8080, production on port 9090."),
            note("Ports", "Staging of the shop runs on port 9090, production on port 8080."),
        ),
        (
            note("Deploy order", "A deploy calls migrate first and restart later on every host."),
            note("Deploy order", "A deploy calls restart first and migrate later on every host."),
        ),
        (
            note("Indentation", "Use tabs, not spaces, in all makefiles of the project."),
            note("Indentation", "Use spaces, not tabs, in all makefiles of the project."),
        ),
        (
            note("Copies", "The cache copies rows from eu-west to us-east every single hour."),
            note("Copies", "The cache copies rows from us-east to eu-west every single hour."),
        ),
        (note("Tokens", LONG), note("Tokens", LONG.replace("login", "logout"))),
        (note("Tokens", LONG), note("Tokens", LONG.replace("an hour", "two hours"))),
        (note("Tokens", LONG), note("Tokens", LONG.replace("issues", "revokes"))),
        (
            note("Timeout", "The long poll of clients has a timeout of -1."),
            note("Timeout", "The long poll of clients has a timeout of 1."),
        ),
        (
            note("Limit", "Calls from one host in a minute are <5."),
            note("Limit", "Calls from one host in a minute are >5."),
        ),
        (
            note("Limit", "Calls from one host in a minute are >= 5."),
            note("Limit", "Calls from one host in a minute are > 5."),
        ),
        (note("Row 0 1", "The body of row 0 has number 1."), note("Row 1 0", "The body of row 1 has number 0.")),
        (note("令牌", "主库复制到备库。"), note("令牌", "备库复制到主库。")),
    ],
)
def test_what_says_something_else_is_not_near(one: Note, other: Note) -> None:
    assert similarity(one, other) < NEAR
    assert similarity(other, one) < NEAR


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_have_a_likeness(title: str, body: str, other_title: str, other_body: str) -> None:
    one, other = note(title, body), note(other_title, other_body)
    assert 0.0 <= similarity(one, other) <= 1.0
    assert similarity(one, other) == similarity(other, one)
    assert similarity(one, one) == 1.0
