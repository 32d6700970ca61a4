"""What contradicts and what does not, as people write it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.notes.contradictions import contradictions
from live_memory.notes.note import Note


def note(title: str, body: str, **more: object) -> Note:
    return Note("git:host/one", "one", "decision", title, body, **more)  # type: ignore[arg-type]


CONTRADICTING = (
    ("HTTP client timeout", "The request timeout is 30s.", "HTTP client timeout", "The request timeout is 60 s."),
    ("Retries", "max_retries = 3", "Retries of the client", "`max_retries` is 5 now."),
    ("Deploy branch", "The deploy branch is `main`.", "Deploys", "The deploy branch is `release`."),
    ("Cache", "cache_enabled: true", "Cache", "cache_enabled: false"),
    (
        "Upload limit",
        "The upload limit is 10 MB.",
        "Upload limit raised",
        "The upload limit was raised from 10 MB to 25 MB.",
    ),
    ("Pool", "pool_size defaults to 8.", "Pool of connections", "pool_size defaults to 16."),
    (
        "Billing",
        "The billing service uses Stripe webhooks.",
        "Billing",
        "The billing service does not use Stripe webhooks.",
    ),
    ("Feature", "The search feature flag is enabled.", "Feature", "The search feature flag is disabled."),
    ("Porta", "La porta del server è 7711.", "Porta del server", "La porta del server è 8080."),
    ("Linter", "The line length is not 100.", "Linter", "The line length is 100."),
    ("Attempts", "The number of attempts is three.", "Attempts", "The number of attempts is 5."),
    ("Attempts", "The number of attempts is three.", "Attempts", "The number of attempts is sixteen."),
    ("Auth", "JWT tokens expire after 15 minutes.", "Auth tokens", "JWT tokens expire after 60 minutes."),
    ("Port", "The dev server listens on port 3000.", "Dev server port", "The dev server listens on port 8080."),
    ("Python", "The project requires Python 3.9.", "Python version", "The project requires Python 3.12."),
    ("Retention", "Logs are kept for 30 days.", "Log retention", "Logs are kept for 90 days."),
    ("Retries", "The client retries 3 times.", "Retries", "The client retries 5 times."),
    ("Uploads", "Uploads are limited to 10 MB.", "Max upload", "Uploads are limited to 50 MB."),
    ("Database", "We use PostgreSQL as the primary database.", "Database", "We use MySQL as the primary database."),
)
AGREEING = (
    ("Step 1", "The limit of step 1 is 35 ms.", "Step 2", "The limit of step 2 is 42 ms."),
    ("Limit 5", "Limit 5 is 35.", "Limit 6", "Limit 6 is 42."),
    ("Retries", "max_retries = 3", "Retries", "min_retries = 1"),
    ("Timeouts", "timeout_ms = 30000", "Timeouts", "timeout_s = 30"),
    ("Timeouts", "timeout_ms = 500", "Timeouts", "timeout_s = 30"),
    ("HTTP timeout", "The request timeout is 30s.", "HTTP timeout", "The request timeout is 30 s."),
    ("HTTP timeout", "The request timeout is 30 seconds.", "HTTP timeout", "The request timeout is 30000 ms."),
    ("HTTP timeout", "The request timeout is half a minute.", "HTTP timeout", "The request timeout is 0.5 min."),
    ("Limits", "In 2025-03 the limit is 100.", "Limits", "In 2026-01 the limit is 200."),
    ("Limits", "The limit was 100.", "Limits", "The limit is 200."),
    ("Limits", "The limit used to be 100 before the move.", "Limits", "The limit is 200."),
    ("Workers", "In staging the worker count is 2.", "Workers", "In production the worker count is 8."),
    ("Search service", "The request timeout is 30s.", "Billing service", "The request timeout is 60s."),
    ("Timeouts", "The connect timeout is 5s.", "Timeouts", "The read timeout is 60s."),
    ("Payload", "The payload limit is at most 5 MB.", "Payload", "The payload limit is at least 1 MB."),
    ("Payload", "The payload limit is 64 KB.", "Payload", "The payload limit is 64 KiB."),
    ("Queue", "The request queue is durable.", "Queue", "The request queue is fast."),
    ("Databases", "The API uses PostgreSQL for orders.", "Databases", "The API uses Redis for sessions."),
    ("Flags", "The flag is on.", "Flags", "The flag is true."),
    ("Retry", "Retries should be 5 if the server is busy.", "Retry", "Retries are 3."),
    ("Range", "The port is between 7000 and 7100.", "Range", "The port is 7711."),
    ("Linter", "The line length is not 100.", "Linter", "The line length is 120."),
    ("Size", "The batch size is 64.", "Size", "The batch size is 64 items."),
    ("Steps", "Of the release, step 3 restarts the server.", "Steps", "Of the release, step 4 restarts the server."),
    ("Migration", "The migration took 30 minutes in all.", "Migration", "The migration took 45 minutes in all."),
    ("Shards", "Shard 5 lives on the old host.", "Shards", "Shard 6 lives on the old host."),
    ("Slots", "Slots are given out in hall 4 to drivers.", "Slots", "Slots are given out in hall 7 to drivers."),
    ("Keys", "Tokens expire after 60 minutes.", "Keys", "Tokens expire after 1 hour."),
    ("Keys", "Tokens expire after at least 5 minutes.", "Keys", "Tokens expire after at most 9 minutes."),
    ("Keys", "In staging tokens expire after 5 minutes.", "Keys", "In production tokens expire after 9 minutes."),
    ("Logs", "Access logs are kept for 30 days.", "Logs", "Audit logs are kept for 365 days."),
    ("Retries", "The client retries 3 times.", "Retries", "The worker retries 5 times."),
    ("Backoff", "The second retry waits for 2 seconds.", "Backoff", "The third retry waits for 4 seconds."),
    ("Plans", "On plan A uploads are limited to 10 MB.", "Plans", "On plan B uploads are limited to 50 MB."),
    ("Forms", "Forms go to Lisbon for a stamp each week.", "Forms", "Forms go to Vienna for a stamp each week."),
)


@pytest.mark.parametrize(("title", "body", "other_title", "other_body"), CONTRADICTING)
def test_two_values_of_one_property_contradict(title: str, body: str, other_title: str, other_body: str) -> None:
    one, other = note(title, body), note(other_title, other_body)
    assert contradictions(one, other)
    assert contradictions(other, one)


@pytest.mark.parametrize(("title", "body", "other_title", "other_body"), AGREEING)
def test_what_can_both_be_true_does_not(title: str, body: str, other_title: str, other_body: str) -> None:
    one, other = note(title, body), note(other_title, other_body)
    assert contradictions(one, other) == ()
    assert contradictions(other, one) == ()


def test_notes_that_rest_on_different_files_speak_of_different_things() -> None:
    one = note("Retries", "max_retries = 3", sources={"a.py": "aa"})
    other = note("Retries", "max_retries = 5", sources={"b.py": "bb"})
    assert contradictions(one, other) == ()
    assert contradictions(one, note("Retries", "max_retries = 5", sources={"a.py": "ac"}))


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_is_refused_and_none_contradicts_itself(text: str, other: str) -> None:
    one = note("Anything", text)
    contradictions(one, note("Anything", other))
    assert contradictions(one, one) == ()
