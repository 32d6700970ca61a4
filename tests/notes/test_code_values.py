"""Whether code still says what a fact claims: only beyond doubt."""

from __future__ import annotations

import pytest

from live_memory.notes.code_values import verdict
from live_memory.notes.note import Note

HOLDS = (
    ("`max_retries` defaults to 5.", "max_retries: int = 5\n"),
    ("The pool_size is 8", "pool_size: 8\nfoo: 1\n"),
    ("`timeout_s` is 30 s", "x(timeout_s = 30, y=1)\n"),
    ("`mode_name` is `fast`", '{"mode_name": "fast"}'),
    ("retry_on_fail is true", "retry_on_fail = True\n# retry_on_fail = false\n"),
)
UNSURE = (
    ("`max_retries` defaults to 5.", "max_retries: int = 3  # was 5\n"),
    ("`max_retries` is 5", "max_retries = 5\nmax_retries = 6\n"),
    ("`max_retries` is 5", "max_retries = 5 * 2\n"),
    ("`max_retries` is 5", "max_retries = base + 5\n"),
    ("`max_retries` is 5", "other = 5  # max_retries\n"),
    ("`max_retries` is at most 5", "max_retries = 5\n"),
    ("`max_retries` is not 5", "max_retries = 5\n"),
    ("`timeout_ms` is 30 ms", "timeout_s = 30\n"),
    ("`SessionStore.load` reads the token first", "class SessionStore: ...\n"),
    ("`max_retries` is 5. The client waits between them.", "max_retries = 5\n"),
    ("In production `max_retries` is 5", "max_retries = 5\n"),
    ("`max_retries` is 5", "max_retries == 5\n"),
)


@pytest.mark.parametrize(("body", "code"), HOLDS)
def test_a_value_that_every_place_sets_holds(body: str, code: str) -> None:
    assert verdict(Note("s", "i", "fact", "", body), [code]) == "holds"


@pytest.mark.parametrize(("body", "code"), UNSURE)
def test_anything_else_is_unsure(body: str, code: str) -> None:
    assert verdict(Note("s", "i", "fact", "", body), [code]) == "unsure"


def test_without_a_file_nothing_is_sure() -> None:
    assert verdict(Note("s", "i", "fact", "", "`max_retries` is 5"), []) == "unsure"
