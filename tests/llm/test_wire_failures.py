"""Both adapters against a real socket that misbehaves in every way a provider does."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from support.prompts import DUMMY_KEY, anthropic_choice, openai_choice, request
from support.provider_server import ProviderServer, WireReply, json_reply, provider_server
from support.wire import chat_stream, messages_event, messages_stream

from live_memory.errors import ModelError
from live_memory.llm.base import (
    BadKey,
    BadReply,
    BadRequest,
    Completion,
    Model,
    PromptTooLong,
    Unavailable,
    UnknownModel,
)
from live_memory.llm.choice import Choice, connect

KINDS = ("anthropic", "openai")


@dataclass
class Line:
    """A server, the model that talks to it, and the prose that has arrived."""

    kind: str
    server: ProviderServer
    choice: Choice
    model: Model
    pieces: list[str]

    async def ask(self, timeout_s: float = 60.0) -> Completion:
        return await self.model.complete(request(timeout_s=timeout_s), self.pieces.append)

    def stream(self, *pieces: str, **named: Any) -> tuple[bytes, ...]:
        return messages_stream(pieces, **named) if self.kind == "anthropic" else chat_stream(pieces, **named)

    def refusal(self, status: int, kind: str, message: str, **headers: str) -> WireReply:
        if self.kind == "anthropic":
            return json_reply(status, {"type": "error", "error": {"type": kind, "message": message}}, **headers)
        return json_reply(status, {"error": {"type": kind, "code": kind, "message": message}}, **headers)


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server() as server:
        yield server


@pytest.fixture(params=KINDS)
async def line(request: pytest.FixtureRequest, server: ProviderServer) -> AsyncIterator[Line]:
    make: Callable[[str], Choice] = anthropic_choice if request.param == "anthropic" else openai_choice
    choice = make(server.address)
    model = connect(choice)
    yield Line(request.param, server, choice, model, [])
    await model.close()


async def test_the_prose_arrives_piece_by_piece_and_the_whole_comes_back(line: Line) -> None:
    line.server.answer(WireReply(chunks=line.stream("It ", "works", ".")))
    completion = await line.ask()
    assert [piece for piece in line.pieces if piece] == ["It ", "works", "."]
    assert (completion.text, completion.stop_reason) == ("It works.", "end")
    assert (completion.usage.input_tokens, completion.usage.output_tokens) == (11, 7)


async def test_a_rate_limit_carries_the_wait_that_the_provider_asks_for(line: Line) -> None:
    line.server.answer(line.refusal(429, "rate_limit_error", "Slow down", retry_after="7"))
    with pytest.raises(Unavailable, match=r"limits the rate of requests now: Slow down\.") as raised:
        await line.ask()
    assert raised.value.retry_after_s == 7.0
    assert len(line.server.requests) == 1, "the SDK must not retry by itself"


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 529])
async def test_a_provider_that_cannot_answer_now_is_unavailable(line: Line, status: int) -> None:
    line.server.answer(line.refusal(status, "overloaded_error", "Overloaded"))
    with pytest.raises(Unavailable, match="cannot answer now"):
        await line.ask()


async def test_a_connection_that_drops_in_the_middle_keeps_the_prose_so_far(line: Line) -> None:
    chunks = line.stream("It ", "works", ".")
    line.server.answer(WireReply(chunks=chunks[:4], ending="cut"))
    with pytest.raises(Unavailable, match="broke off"):
        await line.ask()
    assert "".join(line.pieces).startswith("It ")


async def test_a_stream_that_ends_too_early_is_not_taken_for_a_whole_reply(line: Line) -> None:
    line.server.answer(WireReply(chunks=line.stream("It ", "works", ".")[:4]))
    with pytest.raises(Unavailable, match="broke off"):
        await line.ask()


async def test_a_reply_that_does_not_begin_in_time_is_given_up(line: Line) -> None:
    await connect_once(line)
    line.server.answer(WireReply(ending="hangs"))
    with pytest.raises(Unavailable, match=r"did not finish within 0\.3 s"):
        await line.ask(timeout_s=0.3)


async def test_a_reply_that_does_not_end_in_time_keeps_the_prose_so_far(line: Line) -> None:
    await connect_once(line)
    line.server.answer(WireReply(chunks=line.stream("It ", "works", ".")[:4], ending="hangs"))
    with pytest.raises(Unavailable, match=r"did not finish within 0\.5 s"):
        await line.ask(timeout_s=0.5)
    assert "".join(line.pieces).startswith("It ")


async def test_a_caller_who_stops_waiting_ends_the_request(line: Line) -> None:
    line.server.answer(WireReply(chunks=line.stream("It ")[:3], ending="hangs"))
    arrived = asyncio.Event()
    asking = asyncio.create_task(line.model.complete(request(), lambda _: arrived.set()))
    await asyncio.wait_for(arrived.wait(), 10)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_server_that_is_not_there_is_unavailable_and_says_what_to_check(line: Line) -> None:
    with provider_server() as gone:
        address = gone.address
    model = connect(replace(line.choice, base_url=address))
    with pytest.raises(Unavailable, match="cannot be reached; check the network, the proxy, or the setting base_url"):
        await model.complete(request(), line.pieces.append)
    await model.close()


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 213000 tokens > 200000 maximum",
        "This model's maximum context length is 200000 tokens. However, your messages resulted in 213000 tokens.",
        "the request exceeds the available context size (200000 tokens), try increasing it",
    ],
)
async def test_a_prompt_that_is_too_long_names_the_limit_where_the_provider_does(line: Line, message: str) -> None:
    line.server.answer(line.refusal(400, "invalid_request_error", message))
    with pytest.raises(PromptTooLong, match=f"larger than {line.choice.model} takes") as raised:
        await line.ask()
    assert raised.value.limit_tokens in (200000, None)
    assert raised.value.limit_tokens or "exceeds" in message


async def test_a_request_too_large_for_the_provider_s_door_is_too_long_a_prompt(line: Line) -> None:
    line.server.answer(line.refusal(413, "request_too_large", "Request exceeds the maximum size"))
    with pytest.raises(PromptTooLong):
        await line.ask()


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_names_where_the_key_is_and_never_the_key(line: Line, status: int) -> None:
    line.server.answer(line.refusal(status, "authentication_error", f"invalid x-api-key {DUMMY_KEY}"))
    with pytest.raises(BadKey, match=f"refused the key in {line.choice.key_source}; set a valid one") as raised:
        await line.ask()
    assert DUMMY_KEY not in str(raised.value)


async def test_no_sentence_ever_holds_a_key_that_the_provider_repeats(line: Line) -> None:
    line.server.answer(line.refusal(400, "invalid_request_error", f"bad header {DUMMY_KEY}, also sk-live-abcdef123456"))
    with pytest.raises(BadRequest, match=r"bad header \(key\), also \(key\)"):
        await line.ask()


@pytest.mark.parametrize(
    ("status", "message"),
    [(402, "Payment required"), (400, "Your credit balance is too low"), (429, "insufficient_quota")],
)
async def test_an_empty_account_is_no_reason_to_try_again(line: Line, status: int, message: str) -> None:
    line.server.answer(line.refusal(status, "billing", message))
    with pytest.raises(BadKey, match="no credit left"):
        await line.ask()


async def test_an_unknown_model_says_how_to_name_another(line: Line) -> None:
    line.server.answer(line.refusal(404, "not_found_error", f"model: {line.choice.model}"))
    with pytest.raises(UnknownModel, match="`live-memory config set model=…`"):
        await line.ask()


async def test_a_wrong_address_is_told_from_an_unknown_model(line: Line) -> None:
    line.server.answer(WireReply(404, {"content-type": "text/html"}, (b"<h1>Not Found</h1>",)))
    with pytest.raises(BadRequest, match="no such endpoint"):
        await line.ask()


@pytest.mark.parametrize(
    "chunks",
    [
        (b"<html>Please log in to the Wi-Fi</html>",),
        (b"event: message_start\ndata: {]\n\n",),
        (b'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 3, "choices": 1}\n\n',),
        (b"\xff\xfe\x00garbage",),
        (),
    ],
)
async def test_a_reply_that_makes_no_sense_is_a_bad_reply(line: Line, chunks: tuple[bytes, ...]) -> None:
    line.server.answer(WireReply(chunks=chunks))
    with pytest.raises(BadReply, match="makes no sense; check that the setting base_url"):
        await line.ask()


async def test_a_full_answer_budget_is_a_stop_reason_and_no_error(line: Line) -> None:
    ending = {"stop": "max_tokens"} if line.kind == "anthropic" else {"finish": "length"}
    line.server.answer(WireReply(chunks=line.stream("It wor", **ending)))
    completion = await line.ask()
    assert (completion.text, completion.stop_reason) == ("It wor", "max_tokens")


async def test_a_refusal_is_a_stop_reason_and_no_error(line: Line) -> None:
    ending = {"stop": "refusal"} if line.kind == "anthropic" else {"finish": "content_filter"}
    line.server.answer(WireReply(chunks=line.stream("I can", **ending)))
    assert (await line.ask()).stop_reason == "refusal"


async def test_an_error_inside_a_stream_keeps_the_prose_and_is_worth_a_retry(line: Line) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    broken = (
        messages_event(error)
        if line.kind == "anthropic"
        else b'data: {"error": {"type": "server_error", "message": "x"}}\n\n'
    )
    line.server.answer(WireReply(chunks=(*line.stream("It ", "works")[:4], broken)))
    with pytest.raises(Unavailable):
        await line.ask()
    assert "".join(line.pieces).startswith("It ")


async def test_the_key_is_in_the_request_and_in_no_traceback(line: Line) -> None:
    line.server.answer(line.refusal(500, "api_error", "Boom"))
    with pytest.raises(ModelError) as raised:
        await line.ask()
    assert DUMMY_KEY in "".join(line.server.requests[0].headers.values())
    assert DUMMY_KEY not in "".join(traceback.format_exception(raised.value))


async def connect_once(line: Line) -> None:
    """Have the SDK imported and a connection made, so that a short time limit measures the server alone."""
    line.server.answer(WireReply(chunks=line.stream("ready")))
    await line.ask()
    line.pieces.clear()


async def test_halves_of_a_surrogate_pair_come_out_as_characters(line: Line) -> None:
    line.server.answer(WireReply(chunks=line.stream("see \ud83d", "\ude00 and \ud800.")))
    assert (await line.ask()).text == "see \U0001f600 and \ufffd."


async def test_a_tool_call_with_half_a_surrogate_pair_can_be_sent_back(line: Line) -> None:
    odd = ("\ud800", "Gr\ud800ep", '{"pattern": "\ud800"}')
    call = {"index": 0, "id": odd[0], "function": {"name": odd[1], "arguments": odd[2]}}
    calls: Any = (odd,) if line.kind == "anthropic" else (call,)
    line.server.answer(WireReply(chunks=line.stream(calls=calls)))
    (kept,) = (await line.ask()).tool_calls
    assert (kept.id, kept.name, kept.arguments_json) == ("\ufffd", "Gr\ufffdep", '{"pattern": "\ufffd"}')


async def test_prose_that_never_stops_is_cut_far_above_its_budget(line: Line) -> None:
    line.server.answer(WireReply(chunks=line.stream(*["word " * 1000] * 20)[:-3], ending="hangs"))
    completion = await line.ask()
    assert completion.stop_reason == "max_tokens"
    assert len(completion.text) == len("".join(line.pieces)) < 10_000


async def test_a_tool_call_that_never_stops_makes_no_sense(line: Line) -> None:
    arguments = "a" * 3_000_000
    call = {"index": 0, "id": "t", "function": {"name": "Grep", "arguments": arguments}}
    calls: Any = (("t", "Grep", arguments),) if line.kind == "anthropic" else (call,)
    line.server.answer(WireReply(chunks=line.stream(calls=calls)))
    with pytest.raises(BadReply, match="makes no sense"):
        await line.ask()


async def test_tool_calls_without_end_make_no_sense(line: Line) -> None:
    call = [{"index": n, "id": f"t{n}", "function": {"name": "Grep", "arguments": "{}"}} for n in range(2000)]
    calls: Any = tuple((f"t{n}", "Grep", "{}") for n in range(2000)) if line.kind == "anthropic" else tuple(call)
    line.server.answer(WireReply(chunks=line.stream(calls=calls)))
    with pytest.raises(BadReply, match="makes no sense"):
        await line.ask()


@pytest.mark.parametrize("tokens", [-5, 10**30, "many", 1.5e300])
async def test_a_count_of_tokens_that_cannot_be_one_does_not_cost_the_answer(line: Line, tokens: object) -> None:
    usage = {"input_tokens": tokens} if line.kind == "anthropic" else {"prompt_tokens": tokens}
    line.server.answer(WireReply(chunks=line.stream("It works.", usage=usage)))
    completion = await line.ask()
    assert (completion.text, completion.usage.input_tokens) == ("It works.", 0)


async def test_a_piece_that_is_nested_too_deeply_makes_no_sense(line: Line) -> None:
    deep = b"event: message_start\ndata: " + b"[" * 100_000 + b"\n\n"
    line.server.answer(WireReply(chunks=(deep,)))
    with pytest.raises(BadReply, match="makes no sense"):
        await line.ask()
