"""How long notes live."""

from __future__ import annotations

from typing import get_args

from live_memory.notes.lifecycle import DAY_S, KINDS_BY_SOURCE, default_priority, expiry, renewed
from live_memory.notes.note import Kind, Note

NOW_S = 1_000_000.0


def test_every_kind_has_a_priority_and_what_was_decided_or_wished_for_never_expires() -> None:
    by_kind = {kind: default_priority(kind) for kind in get_args(Kind)}
    assert {kind for kind, priority in by_kind.items() if priority == "P0"} == {"decision", "preference", "state"}
    assert by_kind["session"] == "P2"


def test_a_priority_says_how_long_a_note_lives() -> None:
    assert [expiry(priority, NOW_S) for priority in ("P0", "P1", "P2")] == [
        None,
        NOW_S + 90 * DAY_S,
        NOW_S + 30 * DAY_S,
    ]


def test_a_use_renews_the_life_but_not_the_truth_of_a_note() -> None:
    note = Note("r", "a", "project", "A", "a", priority="P2", verified_at_s=5.0, expires_at_s=NOW_S + 1)
    used = renewed(note, NOW_S)
    assert (used.use_count, used.used_at_s, used.verified_at_s) == (1, NOW_S, 5.0)
    assert used.expires_at_s == NOW_S + 30 * DAY_S


def test_a_use_never_shortens_a_life() -> None:
    for kept in (None, NOW_S + 999 * DAY_S):
        assert (
            renewed(Note("r", "a", "project", "A", "a", priority="P2", expires_at_s=kept), NOW_S).expires_at_s == kept
        )


def test_am_memorys_words_are_known() -> None:
    assert {
        "architectural_decision",
        "debug_solution",
        "technical_insight",
        "session_note",
        "routine",
    } <= KINDS_BY_SOURCE.keys()
