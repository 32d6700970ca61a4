"""A whole desk, with its real adapters, before providers that fail on purpose: what DESIGN §5 promises in each case.

Every fault is followed by a question that the provider answers: nothing of a fault may stay behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from agent.scene import make_tree
from support.prompts import DUMMY_KEY, anthropic_choice, openai_choice
from support.provider_server import ProviderServer, WireReply, json_reply, provider_server
from support.wire import chat_stream, messages_event, messages_stream

from live_memory import wiring
from live_memory.agent.answers import Answer, Question
from live_memory.agent.desk import QuestionDesk
from live_memory.clock import SystemClock
from live_memory.configuration import Configuration
from live_memory.llm.choice import connect
from live_memory.settings import Settings

Kind: TypeAlias = Literal["anthropic", "openai"]

TIMEOUT_S = 3.0
GRACE_S = 5.0  # beyond the deadline: the passages of an answer that is due, its citations, and a machine that is busy
ANSWER = ("The port is 7711, ", "as server.py:1 says.")
WHOLE = "".join(ANSWER)
BEGINNING = "The port is 7711, "
PLACES = "server.py:"
MODELS: dict[Kind, str] = {"anthropic": "claude-without-a-card", "openai": "some-model"}


@dataclass
class Line:
    """A desk, the provider that it asks, and the tree that it is asked about."""

    kind: Kind
    server: ProviderServer
    desk: QuestionDesk
    root: Path
    asked: int = 0
    requests: int = 0  # that the fault took

    @property
    def model(self) -> str:
        return MODELS[self.kind]

    async def ask(self) -> Answer:
        """The answer to a question that was not asked before; TimeoutError when it does not come in time."""
        self.asked += 1
        async with asyncio.timeout(TIMEOUT_S + GRACE_S):
            return await self.desk.ask(Question(f"Which PORT does serve listen on? ({self.asked})", str(self.root)))

    async def ask_with(self, *replies: WireReply) -> Answer:
        """The answer while the provider replies like this, the last one again and again; and a look whether the next
        question, with the provider sound again, has its own."""
        self.server.answer(*replies)
        answer = await self.ask()
        self.requests = len(self.server.requests)
        self.server.answer(self.whole())
        after = await self.ask()
        assert (after.text, after.timed_out, after.model) == (WHOLE, False, self.model)
        return answer

    def stream(self, *pieces: str, **named: Any) -> tuple[bytes, ...]:
        return messages_stream(pieces, **named) if self.kind == "anthropic" else chat_stream(pieces, **named)

    def whole(self) -> WireReply:
        return WireReply(chunks=self.stream(*ANSWER))

    def beginning(self, ending: Literal["whole", "cut", "hangs"]) -> WireReply:
        """The first words of an answer, and then no more of it."""
        return WireReply(chunks=self.stream(*ANSWER)[: 3 if self.kind == "anthropic" else 2], ending=ending)

    def ended(self, stop: str, finish: str) -> WireReply:
        return WireReply(
            chunks=self.stream(*ANSWER, **({"stop": stop} if self.kind == "anthropic" else {"finish": finish}))
        )

    def refusal(self, status: int, kind: str, message: str, **headers: str) -> WireReply:
        if self.kind == "anthropic":
            return json_reply(status, {"type": "error", "error": {"type": kind, "message": message}}, **headers)
        return json_reply(status, {"error": {"type": kind, "code": kind, "message": message}}, **headers)

    def error_in_stream(self) -> WireReply:
        error = {"type": "overloaded_error", "message": "Overloaded"}
        event = (
            messages_event({"type": "error", "error": error})
            if self.kind == "anthropic"
            else b'data: {"error": {"type": "server_error", "message": "Overloaded"}}\n\n'
        )
        return WireReply(chunks=(*self.beginning("whole").chunks, event))

    def look_up(self) -> WireReply:
        """A few words and a tool call."""
        arguments = '{"file_path": "server.py"}'
        if self.kind == "anthropic":
            calls: tuple[Any, ...] = (("toolu_1", "Read", arguments),)
            return WireReply(chunks=messages_stream(ANSWER[:1], calls=calls, stop="tool_use"))
        call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "Read", "arguments": arguments}}
        return WireReply(chunks=chat_stream(ANSWER[:1], calls=(call,), finish="tool_calls"))


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server() as server:
        yield server


@pytest.fixture(params=["anthropic", "openai"])
async def line(request: pytest.FixtureRequest, server: ProviderServer, tmp_path: Path) -> AsyncIterator[Line]:
    kind: Kind = request.param
    await _import_sdk(kind, server.address)
    settings = Settings(
        provider=kind,
        api_key=DUMMY_KEY,
        base_url=server.address,
        model=MODELS[kind],
        default_timeout_s=TIMEOUT_S,
        force_explore_when_cold=False,
    )
    configuration = Configuration(settings, {}, {}, home=tmp_path / "home")
    desk = wiring.assemble(tmp_path, configuration, clock=SystemClock()).desk
    yield Line(kind, server, desk, make_tree(tmp_path / "repo"))
    await desk.close(1.0)


async def test_a_rate_limit_that_asks_for_a_short_wait_is_waited_for(line: Line) -> None:
    answer = await line.ask_with(line.refusal(429, "rate_limit_error", "Slow down", retry_after="1"), line.whole())
    assert (answer.text, answer.timed_out, line.requests) == (WHOLE, False, 2)
    assert answer.latency_ms >= 1000, "the wait that the provider asked for"


async def test_a_rate_limit_that_lasts_beyond_the_deadline_is_told_at_once_with_passages(line: Line) -> None:
    answer = await line.ask_with(line.refusal(429, "rate_limit_error", "Slow down", retry_after="60"))
    assert (
        _said(line, answer)
        == f"The model {line.model} did not answer: {_host(line)} limits the rate of requests now: Slow down."
    )
    assert (answer.timed_out, answer.model, line.requests) == (False, "passages", 1)


async def test_an_overloaded_provider_is_asked_again(line: Line) -> None:
    overloaded = line.refusal(529, "overloaded_error", "Overloaded")
    answer = await line.ask_with(overloaded, overloaded, line.whole())
    assert (answer.text, answer.timed_out, line.requests) == (WHOLE, False, 3)


async def test_a_provider_that_stays_overloaded_is_named_and_passages_answer(line: Line) -> None:
    answer = await line.ask_with(line.refusal(529, "overloaded_error", "Overloaded"))
    assert (
        _said(line, answer)
        == f"The model {line.model} did not answer: {_host(line)} cannot answer now (529): Overloaded."
    )
    assert (answer.timed_out, answer.model) == (False, "passages")
    assert line.requests > 1


@pytest.mark.parametrize("ending", ["cut", "whole"], ids=["dropped", "ended too early"])
async def test_a_stream_that_breaks_off_is_asked_for_again_and_told_once(
    line: Line, ending: Literal["cut", "whole"]
) -> None:
    answer = await line.ask_with(line.beginning(ending), line.whole())
    assert (answer.text, answer.timed_out, line.requests) == (WHOLE, False, 2)


async def test_an_error_inside_a_stream_is_asked_for_again(line: Line) -> None:
    answer = await line.ask_with(line.error_in_stream(), line.whole())
    assert (answer.text, answer.timed_out, line.requests) == (WHOLE, False, 2)


async def test_of_streams_that_always_break_off_the_words_so_far_are_kept_and_marked(line: Line) -> None:
    answer = await line.ask_with(line.beginning("cut"))
    assert answer.text.startswith(f"{BEGINNING.strip()}\n\n[The model {line.model} did not answer: ")
    assert "broke off before its end.]" in answer.text
    assert PLACES in answer.text
    assert (answer.timed_out, answer.model) == (False, line.model)


async def test_words_that_arrived_before_the_provider_went_down_are_not_lost_in_trying_again(line: Line) -> None:
    answer = await line.ask_with(line.beginning("cut"), line.refusal(529, "overloaded_error", "Overloaded"))
    assert answer.text.startswith(f"{BEGINNING.strip()}\n\n[The model {line.model} did not answer: ")
    assert "cannot answer now (529)" in answer.text
    assert line.requests > 1


async def test_a_prompt_that_was_too_long_is_shortened_and_sent_again(line: Line) -> None:
    answer = await line.ask_with(_too_long(line), line.whole())
    assert (answer.text, answer.timed_out, line.requests) == (WHOLE, False, 2)


async def test_a_prompt_that_stays_too_long_is_told_with_passages(line: Line) -> None:
    answer = await line.ask_with(_too_long(line))
    assert _said(line, answer).startswith(
        f"The model {line.model} did not answer: The prompt is larger than {line.model} takes: "
    )
    assert (answer.timed_out, answer.model, line.requests) == (False, "passages", 2)


async def test_an_answer_that_is_cut_at_its_budget_says_so(line: Line) -> None:
    answer = await line.ask_with(line.ended("max_tokens", "length"))
    assert answer.text.startswith(
        f"{WHOLE}\n\n[Cut at the answer's budget of 2048 tokens: ask again with max_answer_tokens"
    )
    assert (answer.timed_out, answer.model, line.requests) == (False, line.model, 1)


async def test_a_refusal_says_what_to_do_and_passages_answer(line: Line) -> None:
    answer = await line.ask_with(line.ended("refusal", "content_filter"))
    sentence = f"The model {line.model} declined to answer this question: rephrase it, or set another model."
    assert _said(line, answer) == sentence
    assert WHOLE not in answer.text
    assert (answer.timed_out, answer.model, line.requests) == (False, "passages", 1)


async def test_a_refused_key_names_the_setting_and_never_the_key(line: Line) -> None:
    answer = await line.ask_with(line.refusal(401, "authentication_error", f"invalid x-api-key {DUMMY_KEY}"))
    said = _said(line, answer)
    assert said.startswith(f"The model {line.model} did not answer: {_host(line)} refused the key in ")
    assert "api_key" in said
    assert DUMMY_KEY not in answer.text
    assert (answer.timed_out, answer.model, line.requests) == (False, "passages", 1)


@pytest.mark.parametrize("ending", ["silent", "hangs"], ids=["no header", "no event"])
async def test_a_first_byte_that_does_not_come_is_waited_for_until_the_deadline(
    line: Line, ending: Literal["silent", "hangs"]
) -> None:
    answer = await line.ask_with(WireReply(ending=ending))
    assert _said(line, answer) == (
        f"The model {line.model} had no answer within {TIMEOUT_S:g} s: ask again, or raise default_timeout_s."
    )
    assert (answer.timed_out, answer.model, line.requests) == (True, "passages", 1)
    assert answer.latency_ms >= TIMEOUT_S * 1000


async def test_a_stream_that_stands_still_gives_the_words_so_far_at_the_deadline(line: Line) -> None:
    answer = await line.ask_with(line.beginning("hangs"))
    assert answer.text.startswith(f"{BEGINNING.strip()}\n\n[Stopped at the time limit of {TIMEOUT_S:g} s: ")
    assert PLACES in answer.text
    assert (answer.timed_out, answer.model, line.requests) == (True, line.model, 1)


@pytest.mark.parametrize(
    "chunks",
    [
        (b"<html>Please log in to the Wi-Fi</html>",),
        (b"event: message_start\ndata: {]\n\n",),
        (b"\xff\xfe\x00\x01",),
        (),
    ],
    ids=["a web page", "broken JSON", "bytes", "nothing"],
)
async def test_a_reply_that_makes_no_sense_is_asked_for_once_more_and_then_told(
    line: Line, chunks: tuple[bytes, ...]
) -> None:
    answer = await line.ask_with(WireReply(chunks=chunks))
    assert _said(line, answer).startswith(
        f"The model {line.model} did not answer: {line.server.address} sent a reply that makes no sense; check that the setting base_url "
    )
    assert (answer.timed_out, answer.model, line.requests) == (False, "passages", 2)


async def test_a_reply_that_makes_no_sense_once_costs_nothing_but_a_request(line: Line) -> None:
    answer = await line.ask_with(WireReply(chunks=(b"<html></html>",)), line.whole())
    assert (answer.text, answer.timed_out, line.requests) == (WHOLE, False, 2)


async def test_a_provider_that_fails_after_a_look_up_leaves_what_was_said_before_it(line: Line) -> None:
    answer = await line.ask_with(line.look_up(), line.refusal(529, "overloaded_error", "Overloaded"))
    assert answer.text.startswith(f"{BEGINNING.strip()}\n\n[The model {line.model} did not answer: ")
    assert "cannot answer now (529)" in answer.text
    assert (answer.timed_out, answer.model, answer.tool_calls) == (False, line.model, 1)


async def test_a_provider_that_falls_silent_after_a_look_up_leaves_what_was_said_at_the_deadline(line: Line) -> None:
    answer = await line.ask_with(line.look_up(), WireReply(ending="silent"))
    assert answer.text.startswith(f"{BEGINNING.strip()}\n\n[Stopped at the time limit of {TIMEOUT_S:g} s: ")
    assert (answer.timed_out, answer.model, answer.tool_calls) == (True, line.model, 1)


async def _import_sdk(kind: Kind, address: str) -> None:
    """What takes seconds in the first test of a run would take them from its deadline."""
    model = connect((anthropic_choice if kind == "anthropic" else openai_choice)(address))
    await model.prepare()
    await model.close()


def _said(line: Line, answer: Answer) -> str:
    """The sentence before the places that fit the question."""
    sentence, _, places = answer.text.partition(" These places in the code fit the question best:\n\n")
    assert PLACES in places, answer.text
    return sentence


def _host(line: Line) -> str:
    return line.server.address.removeprefix("http://")


def _too_long(line: Line) -> WireReply:
    return line.refusal(400, "invalid_request_error", "prompt is too long: 213000 tokens > 200000 maximum")
