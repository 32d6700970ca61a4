"""Sessions that are not captured, or not yet: open, trivial, switched off, without a model or money."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from memory.capture.day import DECISION, SECOND, WORDS, Made, note, reply, talk

from live_memory.errors import QuestionError
from live_memory.llm.base import CompletionRequest


async def test_a_session_that_was_never_closed_counts_as_over_when_it_has_been_quiet(day: Made) -> None:
    today = day(reply(DECISION))
    session = talk(today.session("aaaa1111"), "Where?")
    await today.tell(session, "stop")
    talk(session, WORDS)  # and the CLI is killed: nobody tells of it
    os.utime(session.path, (today.now_s, today.now_s))
    today.notes.clock.advance(800)
    assert await today.look() == 0
    today.notes.clock.advance(200)
    today.spend.note_client()
    assert await today.look() == 1
    assert list(today.kept()) == ["Sessions live in Redis"]


async def test_a_session_whose_client_was_killed_is_over_at_once(day: Made) -> None:
    today = day(reply(DECISION))
    session = talk(today.session("aaaa1111"), "Where?", WORDS)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        await today.tell(session, "session-start", client.pid)
        assert await today.look() == 0
        client.kill()
    assert await today.look() == 1
    assert list(today.kept()) == ["Sessions live in Redis"]


async def test_a_client_that_cannot_be_seen_says_nothing_about_its_session(day: Made) -> None:
    today = day(reply(DECISION))
    with subprocess.Popen([sys.executable, "-c", ""]) as elsewhere:
        pass
    await today.tell(talk(today.session("aaaa1111"), "Where?", WORDS), "session-start", elsewhere.pid)
    assert await today.look() == 0


async def test_an_open_session_whose_file_still_grows_is_left_alone(day: Made) -> None:
    today = day(reply(DECISION))
    session = talk(today.session("aaaa1111"), "Where?", WORDS)
    await today.tell(session, "stop")
    today.notes.clock.advance(1000)
    os.utime(session.path, (today.now_s + 990, today.now_s + 990))
    today.spend.note_client()
    await today.look()
    assert today.requests() == []
    (row,) = await today.capture.sessions("")
    assert (row["state"], row["captured"]) == ("open", 0)


async def test_a_session_taken_up_again_while_it_is_distilled_is_left_after_the_part_at_hand(day: Made) -> None:
    today = day()
    session = talk(today.session("aaaa1111"), "Where?", WORDS, *["x " * 6000] * 8)

    async def resume() -> None:
        await today.tell(session, "session-start")

    tasks = []

    def answer(_request: CompletionRequest) -> str:
        tasks.append(asyncio.get_running_loop().create_task(resume()))
        return reply(DECISION)

    again = day(answer, reply(SECOND), reply(SECOND), reply(SECOND), store=today.store)
    await today.tell(session)
    await again.look()
    assert len(again.requests()) == 1
    assert list(again.kept()) == ["Sessions live in Redis"]
    (row,) = await again.capture.sessions("")
    assert row["why"] == "the session goes on"


@pytest.mark.parametrize("words", [("Thanks.",), ("Hi", "Bye")])
async def test_a_trivial_session_costs_no_model_call(day: Made, words: tuple[str, ...]) -> None:
    today = day(reply(DECISION))
    session = today.session("aaaa1111")
    for word in words:
        session.user(word).claude("Ok.")
    await today.tell(session)
    assert await today.look() == 1
    assert (today.requests(), today.notes.notes()) == ([], ())
    (row,) = await today.capture.sessions(str(today.folder))
    assert (row["state"], row["why"]) == ("done", "too little to keep")


async def test_switched_off_nothing_is_noted_and_nothing_read(day: Made) -> None:
    today = day(reply(DECISION))
    today.set(capture=False)
    await today.tell(talk(today.session("aaaa1111"), "Where?", WORDS))
    assert await today.look() == 0
    assert await today.capture.sessions("") == ()


async def test_without_a_model_only_what_the_user_asked_for_is_kept_and_the_queue_waits(day: Made) -> None:
    today = day()
    session = talk(today.session("aaaa1111"), "Mend the port.", "Remember that we use pnpm here.")
    session.tool("Edit", "ok", file_path=str(today.folder / "server.py"))
    await today.tell(session)
    await today.look()
    kept = today.kept()
    assert [(each.kind, each.body) for each in kept.values()] == [("preference", "we use pnpm here.")]
    (own,) = today.sessions()
    assert (own.title, own.body) == (
        "Mend the port.",
        "Done:\n- edited server.py\n- last asked: Remember that we use pnpm here.",
    )
    (row,) = await today.capture.sessions("")
    assert (row["state"], row["why"], row["captured"]) == ("queued", "waits: there is no model", 1)
    count = len(today.store.note_store.log([kept["we use pnpm here."].scope], 99))
    today.notes.clock.advance(301)
    await today.look()
    assert len(today.store.note_store.log([kept["we use pnpm here."].scope], 99)) == count  # nothing is written again
    later = day(
        reply(note("preference", "pnpm it is", "we use pnpm here"), topic="Port"),
        store=today.store,
        now_s=today.now_s + 700,
    )
    assert await later.look() == 1
    assert list(later.kept()) == ["we use pnpm here."]  # the user's own words stand
    assert [each.title for each in later.sessions()] == ["Port"]


async def test_without_a_client_or_money_nothing_is_asked(day: Made) -> None:
    today = day(reply(DECISION))
    await today.tell(talk(today.session("aaaa1111"), "Where?", WORDS))
    today.notes.clock.advance(2000)
    assert await today.look() == 0
    today.spend.note_client()
    today.set(background_budget_ratio=0.0)
    await today.look()
    assert today.requests() == []
    (row,) = await today.capture.sessions("")
    assert row["why"] == "waits: the background's share of the day's budget is spent"


async def test_a_transcript_that_is_gone_is_done_with(day: Made) -> None:
    today = day(reply(DECISION))
    session = talk(today.session("aaaa1111"), "Where?", WORDS)
    await today.tell(session)
    session.path.unlink()
    await today.look()
    (row,) = await today.capture.sessions("")
    assert (row["state"], row["why"]) == ("done", "its transcript is gone")


async def test_a_session_that_has_said_nothing_yet_stays_open(day: Made) -> None:
    today = day(reply(DECISION))
    session = today.session("aaaa1111")
    await today.tell(session, "session-start")
    today.notes.clock.advance(901)
    await today.look()
    (row,) = await today.capture.sessions("")
    assert (row["state"], row["why"]) == ("open", "the session goes on")
    talk(session, "Where?", WORDS)
    os.utime(session.path, (today.now_s, today.now_s))
    today.notes.clock.advance(901)
    today.spend.note_client()
    await today.look()
    assert list(today.kept()) == ["Sessions live in Redis"]


@pytest.mark.parametrize("path", ["relative.jsonl", "/etc/passwd"])
async def test_a_path_that_is_no_transcripts_is_refused(day: Made, path: str) -> None:
    today = day()
    session = today.session("aaaa1111")
    session.path = Path(path)
    with pytest.raises(QuestionError, match="transcript_path"):
        await today.tell(session, "stop")
