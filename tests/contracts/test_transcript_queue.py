"""What every queue of transcripts does, whatever it is kept in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from live_memory.store.database import Database
from live_memory.store.in_memory_transcript_queue import InMemoryTranscriptQueue
from live_memory.store.sqlite_transcript_queue import SqliteTranscriptQueue
from live_memory.store.transcript_queue import Due, Rest, Sighting, Step, Tally, TranscriptQueue

NOW_S = 1000.0
DUE = Due(NOW_S, idle_s=600.0, stale_s=300.0)
ENDED = Sighting("aaa-1", "/t/aaa-1.jsonl", "/repo", "path:/repo", 500, True, NOW_S - 10)
OPEN = replace(ENDED, session_id="bbb-2", path="/t/bbb-2.jsonl", is_ended=False)


@pytest.fixture(params=["in_memory", "sqlite"])
def queue(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TranscriptQueue]:
    if request.param == "in_memory":
        yield InMemoryTranscriptQueue()
        return
    database = Database(tmp_path / "live-memory.db")
    yield SqliteTranscriptQueue(database)
    database.close()


def test_a_session_that_is_over_is_due_at_once_and_an_open_one_when_it_has_been_quiet(queue: TranscriptQueue) -> None:
    queue.see(OPEN)
    assert queue.claim("me", DUE) is None
    queue.see(ENDED)
    first = queue.claim("me", DUE)
    assert first is not None
    assert (first.path, first.owner, first.claimed_at_s) == (ENDED.path, "me", NOW_S)
    assert queue.claim("me", DUE) is None
    later = queue.claim("me", replace(DUE, now_s=NOW_S + 599))
    assert later is not None
    assert later.session_id == ENDED.session_id  # its claim is stale by then, and an ended session goes first
    later = queue.claim("me", replace(DUE, now_s=NOW_S + 599))
    assert later is not None
    assert later.path == OPEN.path


def test_a_claim_is_held_by_one_until_it_is_given_back_or_stale(queue: TranscriptQueue) -> None:
    queue.see(ENDED)
    assert queue.claim("one", DUE) is not None
    assert queue.claim("other", replace(DUE, now_s=NOW_S + 299)) is None
    renewed = queue.renew(ENDED.path, "one", NOW_S + 299)
    assert renewed is not None
    assert renewed.claimed_at_s == NOW_S + 299
    assert queue.claim("other", replace(DUE, now_s=NOW_S + 500)) is None
    assert queue.claim("other", replace(DUE, now_s=NOW_S + 600)) is not None
    assert queue.renew(ENDED.path, "one", NOW_S + 601) is None
    assert not queue.keep_harvest(ENDED.path, "one", "{}")
    assert not queue.advance(ENDED.path, "one", Step(1, "", "", Tally()))
    assert not queue.release(ENDED.path, "one", Rest(NOW_S, judged_bytes=500))
    assert queue.release(ENDED.path, "other", Rest(NOW_S))
    assert not queue.release(ENDED.path, "", Rest(NOW_S))


def test_what_is_done_is_kept_and_comes_back_only_when_the_file_has_grown(queue: TranscriptQueue) -> None:
    queue.see(ENDED)
    queue.claim("me", DUE)
    assert queue.keep_harvest(ENDED.path, "me", '{"notes": []}')
    held = queue.renew(ENDED.path, "me", NOW_S)
    assert held is not None
    assert held.harvest == '{"notes": []}'
    assert queue.advance(ENDED.path, "me", Step(400, "mark", "account", Tally(2, 1, 0, 3)))
    assert queue.advance(ENDED.path, "me", Step(450, "mark2", "account2", Tally(1, 0, 1, 0)))
    assert queue.note_requests(ENDED.path, "me", 480, Tally())
    assert not queue.note_requests(ENDED.path, "other", 490, Tally(1))
    assert queue.waiting() == 1
    assert queue.release(ENDED.path, "me", Rest(NOW_S, judged_bytes=510))
    (row,) = queue.sessions(10)
    assert (row.offset_bytes, row.mark, row.account, row.harvest) == (450, "mark2", "account2", "")
    assert row.requested_bytes == 480
    assert (row.tally, row.size_bytes, row.done_at_s) == (Tally(3, 1, 1, 3), 510, NOW_S)
    assert queue.totals() == (Tally(3, 1, 1, 3), NOW_S)
    assert queue.waiting() == 0
    assert queue.claim("me", DUE) is None
    queue.see(ENDED)
    assert queue.claim("me", DUE) is not None  # it is smaller than it was: another file by now
    queue.release(ENDED.path, "me", Rest(NOW_S, judged_bytes=510))
    queue.see(replace(ENDED, size_bytes=511))
    assert queue.claim("me", DUE) is not None


def test_a_transcript_that_failed_waits_unless_it_has_grown(queue: TranscriptQueue) -> None:
    queue.see(ENDED)
    queue.claim("me", DUE)
    queue.release(ENDED.path, "me", Rest(NOW_S, "the model is down", tries=2, next_try_at_s=NOW_S + 60))
    (row,) = queue.find("aaa")
    assert (row.why, row.tries, row.next_try_at_s, row.owner) == ("the model is down", 2, NOW_S + 60, "")
    assert queue.claim("me", DUE) is None
    queue.see(ENDED)
    assert queue.claim("me", DUE) is None
    queue.see(replace(ENDED, size_bytes=501))
    again = queue.claim("me", DUE)
    assert again is not None
    assert again.tries == 0


def test_a_resumed_session_is_open_again_and_keeps_its_place_and_its_size(queue: TranscriptQueue) -> None:
    queue.see(ENDED)
    queue.claim("me", DUE)
    queue.advance(ENDED.path, "me", Step(400, "mark", "", Tally()))
    queue.release(ENDED.path, "me", Rest(NOW_S, judged_bytes=500))
    queue.see(replace(ENDED, is_ended=False, size_bytes=0, at_s=NOW_S))
    (row,) = queue.unended(5)
    assert (row.size_bytes, row.offset_bytes, row.judged_bytes, row.first_at_s) == (500, 400, 500, NOW_S - 10)


def test_sessions_are_listed_newest_first_and_found_by_the_beginning_of_their_id(queue: TranscriptQueue) -> None:
    queue.see(ENDED)
    queue.see(replace(OPEN, at_s=NOW_S, root="/other"))
    assert [row.session_id for row in queue.sessions(10)] == ["bbb-2", "aaa-1"]
    assert [row.session_id for row in queue.sessions(1)] == ["bbb-2"]
    assert [row.session_id for row in queue.sessions(10, "/repo")] == ["aaa-1"]
    assert [row.session_id for row in queue.find("a")] == ["aaa-1"]
    assert queue.find("") == ()
    assert queue.find("%") == ()


def test_old_sessions_are_forgotten_unless_somebody_is_at_them(queue: TranscriptQueue) -> None:
    queue.see(ENDED)
    queue.see(replace(OPEN, is_ended=True))
    queue.claim("me", DUE)
    assert queue.forget(NOW_S) == 1
    assert [row.session_id for row in queue.sessions(10)] == ["aaa-1"]
    assert InMemoryTranscriptQueue().totals() == (Tally(), 0.0)
