"""What a model, a provider or the end of a server may do to a capture: nothing is lost, nothing is kept twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from memory.capture.day import DECISION, OTHER, SECOND, WORDS, Made, note, reply, sent, talk

from live_memory.llm.base import BadKey, PromptTooLong, Unavailable
from live_memory.llm.scripted import ScriptedReply
from live_memory.store.in_memory import InMemoryStore


async def test_a_provider_that_is_down_is_tried_again_later_and_nothing_is_lost(day: Made) -> None:
    today = day(*[Unavailable("down")] * 4, reply(DECISION))
    await today.tell(talk(today.session("aaaa1111"), "Where?", WORDS))
    await today.look()
    assert await today.look() == 0
    today.notes.clock.advance(31)
    await today.look()
    today.notes.clock.advance(31)
    assert await today.look() == 0  # the second wait is longer
    today.notes.clock.advance(30)
    await today.look()
    (row,) = await today.capture.sessions("")
    assert str(row["why"]).startswith("waits after 3 tries")
    today.notes.clock.advance(1700)
    assert await today.look() == 0
    for _ in range(2):
        today.notes.clock.advance(3601)
        today.spend.note_client()
        await today.look()
    assert list(today.kept()) == ["Sessions live in Redis"]
    assert len(today.requests()) == 5


async def test_a_server_that_ends_between_two_notes_is_followed_by_one_that_saves_the_same_words(day: Made) -> None:
    store = InMemoryStore()
    killed = day(reply(DECISION, SECOND), store=store)
    save = killed.notes.notebook.save

    async def dying(place: Any, draft: Any, actor: str = "claude") -> Any:
        if draft.title == "Deploys are on Tuesdays":
            raise KeyboardInterrupt
        return await save(place, draft, actor)

    killed.notes.notebook.save = dying  # type: ignore[method-assign]
    killed.capture._bench.queue.release = lambda *_arguments: True  # type: ignore[method-assign]  # the dead release nothing
    await killed.tell(talk(killed.session("aaaa1111"), WORDS, OTHER))
    with pytest.raises(KeyboardInterrupt):
        await killed.look()
    del killed.capture._bench.queue.release
    after = day(reply(note("decision", "Redis holds the sessions", WORDS)), store=store, now_s=killed.now_s + 100)
    assert await after.look() == 0  # the claim is not stale yet
    after.notes.clock.advance(300)
    assert await after.look() == 1
    assert set(after.kept()) == {"Sessions live in Redis", "Deploys are on Tuesdays"}
    assert after.requests() == []  # the model was not asked again


async def test_closing_gives_the_claim_back_and_the_next_server_goes_on_at_once(day: Made) -> None:
    store = InMemoryStore()
    hangs = ScriptedReply((reply(DECISION),), hold=asyncio.Event())
    today = day(hangs, store=store)
    await today.tell(talk(today.session("aaaa1111"), "Where?", WORDS))
    today.capture.start()
    while not today.requests():
        await asyncio.sleep(0)
    await today.capture.close()
    after = day(reply(DECISION), store=store)
    assert await after.look() == 1
    assert list(after.kept()) == ["Sessions live in Redis"]


async def test_a_reply_out_of_shape_is_asked_for_once_more_and_then_tried_again_later(day: Made) -> None:
    today = day("Here you go!", reply(DECISION))
    await today.tell(talk(today.session("aaaa1111"), "Where?", WORDS))
    await today.look()
    assert "That was not one JSON object" in sent(today.requests()[1])
    assert list(today.kept()) == ["Sessions live in Redis"]


async def test_a_part_that_the_model_never_makes_anything_of_is_given_up_at_last_and_the_rest_is_kept(
    day: Made,
) -> None:
    refusal = ScriptedReply(("no",), stop_reason="refusal")
    today = day(*[refusal] * 3, reply(DECISION))
    await today.tell(talk(today.session("aaaa1111"), *["y " * 10_000] * 8, WORDS))
    for _ in range(3):
        await today.look()
        today.notes.clock.advance(100)
    assert list(today.kept()) == ["Sessions live in Redis"]
    (row,) = await today.capture.sessions("")
    assert (row["state"], row["why"]) == ("done", "partly")


async def test_a_bad_key_is_no_reason_to_give_anything_up(day: Made) -> None:
    today = day(*[BadKey("no")] * 9)
    await today.tell(talk(today.session("aaaa1111"), "Where?", WORDS))
    for _ in range(9):
        today.notes.clock.advance(3601)
        today.spend.note_client()
        await today.look()
    (row,) = await today.capture.sessions("")
    assert (row["state"], row["distilled_bytes"]) == ("queued", 0)


@pytest.mark.parametrize("failure", [PromptTooLong("too long"), ScriptedReply(("{",), stop_reason="max_tokens")])
async def test_a_part_that_is_too_much_is_made_smaller(day: Made, failure: Any) -> None:
    today = day(failure, reply(DECISION), reply(SECOND), reply(), reply())
    await today.tell(talk(today.session("aaaa1111"), WORDS, *["z " * 10_000] * 5, OTHER))
    await today.look()
    sizes = [len(sent(request)) for request in today.requests()]
    assert sizes[1] < sizes[0] * 0.7
    assert "Sessions live in Redis" in today.kept()
    (row,) = await today.capture.sessions("")
    assert row["state"] == "done"


async def test_a_report_is_kept_although_the_hook_did_not_wait(day: Made) -> None:
    today = day(reply(DECISION))
    session = talk(today.session("aaaa1111"), "Where?", WORDS)
    telling = asyncio.create_task(today.tell(session))
    await asyncio.sleep(0)
    telling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await telling
    await today.capture.close()
    assert await today.look() == 1
    assert list(today.kept()) == ["Sessions live in Redis"]
