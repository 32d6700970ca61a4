"""A sample of `make fuzz`: bent notices, questions and hook events bring no crash and no 5xx, and open nothing outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.fuzz_inputs import SEED, Watch, allowed_places, fuzz_hooks, fuzz_server, make_place, touched

REQUESTS, EVENTS = 150, 100


@pytest.fixture(scope="module")
def watch() -> Watch:
    """One for all: an audit hook stays for the life of the interpreter."""
    watch = Watch(())
    watch.install()
    return watch


async def test_bent_requests_are_answered_or_refused_and_lead_nowhere(tmp_path: Path, watch: Watch) -> None:
    place = make_place(tmp_path)
    watch.allowed = allowed_places(place)
    findings = await fuzz_server(place, range(REQUESTS), SEED, watch)
    assert findings.wrong == []
    assert len(findings.answers) > 1
    assert not watch.seen
    assert touched(place) == []


def test_bent_events_never_fail_a_hook(tmp_path: Path, watch: Watch) -> None:
    place = make_place(tmp_path)
    watch.allowed = allowed_places(place)
    findings = fuzz_hooks(place, range(EVENTS), SEED, watch)
    assert findings.wrong == []
    assert not watch.seen


def test_a_file_opened_outside_is_seen(tmp_path: Path, watch: Watch) -> None:
    place = make_place(tmp_path)
    watch.allowed, watch.is_on = allowed_places(place), True
    try:
        place.canaries[0].read_text()
    finally:
        watch.is_on = False
    assert any("canary.py" in what for what in watch.seen)
    watch.seen.clear()
