"""How much two notes say alike, and the one that says all of both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.notes.note import Note
from live_memory.notes.overlap import REDUNDANT, Saying, likeness, redirected, united
from live_memory.text.languages import STOP_WORDS
from live_memory.text.terms import terms

WORDS = st.sampled_from(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "opens",
        "closes",
        "reads",
        "writes",
        "the",
        "a",
        "never",
        "5",
        "7",
        "file",
        "queue",
        "Lisbon",
    ]
)
BODIES = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=5).map(". ".join)


def note(note_id: str, title: str, body: str, **more: object) -> Note:
    return Note("git:host/one", note_id, "project", title, body, **more)  # type: ignore[arg-type]


def alike(one: Note, other: Note) -> bool:
    return likeness(Saying(one), Saying(other)) > REDUNDANT


LONG = "The cut is at noon, since the carrier collects at one. Whoever is late waits. A closed batch stays closed."


@pytest.mark.parametrize(
    ("title", "body", "other_title", "other", "expected"),
    [
        ("The cut", LONG, "The cut of batches", LONG + " Dana knows.", True),
        ("The cut", LONG, "The cut", LONG.replace("noon", "10:30"), False),
        ("The exporter", "Users are told by mail when the exporter is late again.", "The mailer", "Users are told by mail when the mailer is late again.", False),
        ("Pair", "The reader calls the writer.", "Pair", "The reader never calls the writer.", False),
        ("Slots", "Slots are given out in Lisbon.", "Slots", "Slots are given out in Vienna.", False),
    ],
)  # fmt: skip
def test_what_tells_must_agree(title: str, body: str, other_title: str, other: str, expected: bool) -> None:
    assert alike(note("a", title, body), note("b", other_title, other)) is expected


def test_two_kinds_two_states_and_two_scopes_stay_two() -> None:
    one = note("a", "The cut", LONG)
    assert alike(one, note("b", "The cut", LONG))
    for more in ({"status": "disputed"}, {"status": "superseded"}):
        assert not alike(one, note("b", "The cut", LONG, **more))
    assert not alike(note("a", "The cut", LONG, status="open"), note("b", "The cut", LONG, status="done"))
    assert not alike(one, Note("global", "b", "project", "The cut", LONG))
    assert not alike(one, Note("git:host/one", "b", "preference", "The cut", LONG))


def test_who_calls_whom_is_not_lost() -> None:
    whole = united(note("a", "Calls", "Alpha calls beta."), note("b", "Calls", "Beta calls alpha."), 9.0)
    assert whole.body == "Alpha calls beta.\n\nBeta calls alpha."


def test_a_block_of_code_goes_over_whole() -> None:
    code = "Run it so:\n\n```sh\nmake all\n\nmake check\n```"
    assert united(note("a", "Run", "Run it so."), note("b", "Run", code), 9.0).body == f"Run it so.\n\n{code}"


def test_an_edge_to_the_gone_note_leads_to_the_other_and_never_to_itself() -> None:
    assert redirected(note("c", "C", "c", refs=("x", "a", "b")), "a", "b").refs == ("x", "b")
    assert redirected(note("b", "B", "b", refs=("a", "x")), "a", "b").refs == ("x",)


@given(BODIES, BODIES)
def test_every_word_of_both_that_says_something_is_in_the_one(body: str, other: str) -> None:
    whole = united(note("a", "First", body), note("b", "Second", other), 9.0)
    said = set(terms(f"{whole.title} {whole.body}"))
    assert set(terms(f"{body} {other}")) - STOP_WORDS["en"] <= said
    assert "a" not in whole.supersedes
    assert whole.supersedes == ("b",)
