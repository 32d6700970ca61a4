"""The shipped fake behaves as a provider with a perfect prompt cache would."""

from __future__ import annotations

import asyncio

import pytest
from support.prompts import assistant, request, user

from live_memory.llm.base import Completion, Unavailable
from live_memory.llm.scripted import CANNED_ANSWER, ScriptedModel, ScriptedReply
from live_memory.window.messages import ToolCall


async def test_it_follows_its_script_and_keeps_what_it_was_asked() -> None:
    call = ToolCall("t1", "Grep", "{}")
    model = ScriptedModel(["One.", call, Unavailable("busy"), lambda asked: f"{asked.max_output_tokens} tokens."])
    pieces: list[str] = []
    assert (await model.complete(request(), pieces.append)).text == "One."
    called = await model.complete(request(), pieces.append)
    assert (called.tool_calls, called.stop_reason) == ((call,), "tool_calls")
    with pytest.raises(Unavailable):
        await model.complete(request(), pieces.append)
    assert (await model.complete(request(), pieces.append)).text == "256 tokens."
    assert (await model.complete(request(), pieces.append)).text == CANNED_ANSWER
    assert pieces == ["One.", "256 tokens.", CANNED_ANSWER]
    assert len(model.requests) == 5


async def test_it_counts_what_a_request_shares_with_an_earlier_one_as_cached() -> None:
    model = ScriptedModel()
    first = (await model.complete(request(user("Why?" * 100)), print)).usage
    again = (await model.complete(request(user("Why?" * 100), assistant("So." * 40), user("How?")), print)).usage
    assert first.cache_read_tokens == 0
    assert again.cache_read_tokens == pytest.approx(first.prompt_tokens, abs=1)
    assert again.input_tokens < 40


async def test_a_model_that_hangs_streams_first_and_ends_when_cancelled() -> None:
    pieces: list[str] = []
    model = ScriptedModel([ScriptedReply(("It wor",), hold=asyncio.Event())])
    task: asyncio.Task[Completion] = asyncio.create_task(model.complete(request(), pieces.append))
    while not pieces:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert pieces == ["It wor"]
