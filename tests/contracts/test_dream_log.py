"""What every log of dreams must do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from live_memory.store.base import Store
from live_memory.store.dream_log import DreamLog, DreamRow
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.sqlite import SqliteStore

STALE_S = 60.0
ROW = DreamRow("dream-1", "git:host/one", "me", 1000.0, 1000.0)
OTHER = DreamRow("dream-2", "git:host/one", "you", 1010.0, 1010.0)


@pytest.fixture(params=["sqlite", "in memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DreamLog]:
    store: Store = SqliteStore(tmp_path / "live-memory.db") if request.param == "sqlite" else InMemoryStore()
    yield store.dreams
    store.close()


def test_a_repository_is_dreamt_of_by_one_at_a_time(log: DreamLog) -> None:
    assert log.claim(ROW, STALE_S) == ROW
    assert log.claim(OTHER, STALE_S) is None
    elsewhere = replace(OTHER, repo_id="git:host/two")
    assert log.claim(elsewhere, STALE_S) == elsewhere
    assert log.current("git:host/one") == ROW


def test_a_run_that_gave_no_sign_of_life_is_taken_over_under_its_batch(log: DreamLog) -> None:
    log.claim(ROW, STALE_S)
    log.beat("dream-1", "me", 1005.0, "half")
    late = replace(OTHER, seen_at_s=1005.0 + STALE_S)
    assert log.claim(late, STALE_S) == replace(ROW, owner="you", seen_at_s=1005.0 + STALE_S, report="half")
    assert not log.beat("dream-1", "me", 1100.0, "")
    assert not log.finish("dream-1", "me", 1100.0, "")
    assert log.finish("dream-1", "you", 1100.0, "whole")


def test_the_last_run_is_the_one_that_ended_last(log: DreamLog) -> None:
    assert log.last(ROW.repo_id) is None
    log.claim(ROW, STALE_S)
    log.finish("dream-1", "me", 1001.0, "first")
    log.claim(OTHER, STALE_S)
    log.finish("dream-2", "you", 1011.0, "second")
    last = log.last(ROW.repo_id)
    assert last is not None
    assert (last.batch, last.ended_at_s, last.report) == ("dream-2", 1011.0, "second")
    assert [row.batch for row in log.ended(10)] == ["dream-2", "dream-1"]
    assert log.current(ROW.repo_id) is None


def test_a_run_that_wrote_nothing_leaves_no_trace(log: DreamLog) -> None:
    log.claim(ROW, STALE_S)
    log.drop("dream-1", "you")
    assert log.current(ROW.repo_id) == ROW
    log.drop("dream-1", "me")
    assert log.current(ROW.repo_id) is None
    assert log.ended(10) == ()


def test_many_runs_are_kept_to_the_newest(log: DreamLog) -> None:
    for number in range(30):
        log.claim(replace(ROW, batch=f"dream-{number}", began_at_s=number + 1, seen_at_s=number + 1), STALE_S)
        log.finish(f"dream-{number}", "me", number + 1.0, "")
    assert log.ended(1)[0].batch == "dream-29"
