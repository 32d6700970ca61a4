"""What is sent to the Messages API, and what its streams mean."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
import respx
from support.prompts import DUMMY_KEY, GREP, anthropic_choice, assistant, openai_choice, request, tool_round, user
from support.respx_httpx2 import HTTPX2
from support.wire import messages_stream

from live_memory.errors import ModelError
from live_memory.llm.anthropic import AnthropicModel
from live_memory.llm.base import BadKey, Usage
from live_memory.llm.choice import Choice, connect
from live_memory.window.messages import Text, ToolCall, ToolResult, Turn

BASE_URL = "https://provider.test"
MARK = {"type": "ephemeral"}


@pytest.fixture
def route() -> Iterator[respx.Route]:
    with respx.mock(using=HTTPX2, assert_all_called=False) as router:
        route = router.post(f"{BASE_URL}/v1/messages")
        route.mock(return_value=streamed(messages_stream(("Because.",))))
        yield route


@pytest.fixture
def model() -> AnthropicModel:
    return AnthropicModel(anthropic_choice(BASE_URL))


def streamed(chunks: tuple[bytes, ...]) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=b"".join(chunks))


def sent(route: respx.Route, index: int = -1) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(route.calls[index].request.content)
    return body


def marked_texts(body: dict[str, Any]) -> list[str]:
    """The texts (or the ids of tool results) of the blocks that carry a breakpoint, in order."""
    blocks = [*body["system"], *(block for message in body["messages"] for block in message["content"])]
    return [block.get("text") or block["tool_use_id"] for block in blocks if "cache_control" in block]


async def test_a_request_is_exactly_this(route: respx.Route, model: AnthropicModel) -> None:
    await model.complete(
        request(user("What is it?"), assistant("A server."), user("Why?", "Hints."), prefix_turns=2), print
    )
    assert sent(route) == {
        "model": "claude-without-a-card",
        "max_tokens": 256,
        "stream": True,
        "system": [
            {"type": "text", "text": "You answer.", "cache_control": MARK},
            {"type": "text", "text": "The frozen block.", "cache_control": MARK},
        ],
        "tools": [{"name": "Grep", "description": "Search the files.", "input_schema": GREP.input_schema}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "What is it?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "A server.", "cache_control": MARK}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Why?"},
                    {"type": "text", "text": "Hints.", "cache_control": MARK},
                ],
            },
        ],
    }
    headers = route.calls[0].request.headers
    assert headers["x-api-key"] == DUMMY_KEY
    assert "authorization" not in headers


async def test_tool_calls_and_their_results_go_back_as_blocks(route: respx.Route, model: AnthropicModel) -> None:
    calls = Turn(
        "assistant", (Text("Looking."), ToolCall("t1", "Grep", '{"pattern": "é"}'), ToolCall("t2", "Grep", '{"pat'))
    )
    results = Turn("user", (ToolResult("t1", "a.py:1: é"), ToolResult("t2", "That is no JSON.", is_error=True)))
    await model.complete(request(user("Why?"), calls, results), print)
    assert sent(route)["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "t1", "name": "Grep", "input": {"pattern": "é"}},
                {"type": "tool_use", "id": "t2", "name": "Grep", "input": {"unparsed": '{"pat'}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "a.py:1: é", "is_error": False},
                {"type": "tool_result", "tool_use_id": "t2", "content": "That is no JSON.", "is_error": True, "cache_control": MARK},
            ],
        },
    ]  # fmt: skip


async def test_empty_texts_are_left_out_because_the_api_takes_none(route: respx.Route, model: AnthropicModel) -> None:
    await model.complete(request(user("Why?", ""), assistant(""), user("Go on."), system=("You answer.", "")), print)
    assert [message["content"][0]["text"] for message in sent(route)["messages"]] == ["Why?", "Go on."]
    assert marked_texts(sent(route)) == ["You answer.", "Go on."]


async def test_four_breakpoints_at_most_and_the_history_s_end_is_always_one(
    route: respx.Route, model: AnthropicModel
) -> None:
    history = (user("Q1"), assistant("A1"))
    round_one, round_two = tool_round("a"), tool_round(*(f"b{n}" for n in range(15)))
    await model.complete(request(*history, user("Q2", "Hints."), prefix_turns=2), print)
    await model.complete(request(*history, user("Q2", "Hints."), *round_one, prefix_turns=2), print)
    await model.complete(request(*history, user("Q2", "Hints."), *round_one, *round_two, prefix_turns=2), print)
    assert marked_texts(sent(route, 0)) == ["You answer.", "The frozen block.", "A1", "Hints."]
    assert marked_texts(sent(route, 1)) == ["You answer.", "The frozen block.", "A1", "a"]
    # 31 blocks came since the entry at `a`, beyond the reach of a look-back: it is marked itself, for the system's first
    assert marked_texts(sent(route, 2)) == ["The frozen block.", "A1", "a", "b14"]


async def test_a_history_that_grew_a_lot_marks_where_the_last_question_ended(
    route: respx.Route, model: AnthropicModel
) -> None:
    first = (user("Q1"), assistant("A1"))
    deltas = tuple(user(f"delta {n}") for n in range(30))
    await model.complete(request(*first, user("Q2"), prefix_turns=2, cache_key="w"), print)
    await model.complete(request(*first, *deltas, user("Q3"), prefix_turns=32, cache_key="w"), print)
    assert marked_texts(sent(route)) == ["The frozen block.", "A1", "delta 29", "Q3"]


async def test_what_later_questions_begin_with_may_be_kept_for_an_hour_and_this_one_s_rounds_never_are(
    route: respx.Route, model: AnthropicModel
) -> None:
    history, rounds = (user("Q1"), assistant("A1")), tool_round("a")
    asked = request(*history, user("Q2", "Hints."), *rounds, prefix_turns=2)
    await model.complete(replace(asked, cache_lifetime="1h"), print)
    marked = [*sent(route)["system"], *(block for message in sent(route)["messages"] for block in message["content"])]
    assert [block.get("cache_control") for block in marked if "cache_control" in block] == [
        {"type": "ephemeral", "ttl": "1h"},
        {"type": "ephemeral", "ttl": "1h"},
        {"type": "ephemeral", "ttl": "1h"},
        MARK,
    ]


async def test_below_what_the_model_caches_no_breakpoint_is_set(route: respx.Route) -> None:
    model = AnthropicModel(anthropic_choice(BASE_URL, model="claude-haiku-4-5"))  # caches from 4,096 tokens on
    frozen = "A line of the frozen block.\n" * 500
    await model.complete(request(user("Why?")), print)
    await model.complete(request(user("Why?"), system=("You answer.", frozen)), print)
    assert marked_texts(sent(route, 0)) == []
    assert marked_texts(sent(route, 1)) == [frozen, "Why?"]


async def test_usage_counts_what_was_read_and_written_apart(route: respx.Route, model: AnthropicModel) -> None:
    counted = {
        "input_tokens": 5,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 40,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 30},
    }
    route.mock(return_value=streamed(messages_stream(("Yes.",), usage=counted, output_tokens=3)))
    assert (await model.complete(request(), print)).usage == Usage(5, 3, 900, 40, 30)


async def test_tool_calls_come_back_with_the_very_text_the_model_wrote(
    route: respx.Route, model: AnthropicModel
) -> None:
    calls = (("t1", "Grep", '{ "pattern":"x" }'), ("t2", "Grep", '{"pattern": "y'), ("t3", "Tree", ""))
    route.mock(return_value=streamed(messages_stream(("Looking.",), calls=calls, stop="tool_use")))
    completion = await model.complete(request(), print)
    assert completion.stop_reason == "tool_calls"
    assert completion.tool_calls == (
        ToolCall("t1", "Grep", '{ "pattern":"x" }'),
        ToolCall("t2", "Grep", '{"pattern": "y'),
        ToolCall("t3", "Tree", "{}"),
    )


async def test_thoughts_are_not_prose_and_go_back_before_the_calls_they_led_to(
    route: respx.Route, model: AnthropicModel
) -> None:
    pieces: list[str] = []
    thoughtful = messages_stream(("Looking.",), calls=(("t1", "Grep", "{}"),), stop="tool_use", thoughts="Hm.")
    route.mock(return_value=streamed(thoughtful))
    completion = await model.complete(request(), pieces.append)
    await model.complete(request(user("Why?"), Turn("assistant", completion.tool_calls), user("Go on.")), print)
    assert (completion.text, pieces) == ("Looking.", ["Looking."])
    assert sent(route)["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "signed"},
        {"type": "tool_use", "id": "t1", "name": "Grep", "input": {}},
    ]


async def test_a_model_that_thinks_by_itself_is_told_not_to_and_left_alone_where_it_must(route: respx.Route) -> None:
    model = AnthropicModel(anthropic_choice(BASE_URL, model="claude-opus-5-5"))
    refusal = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "thinking.type.disabled is not supported"},
    }
    route.side_effect = [httpx.Response(400, json=refusal), *[streamed(messages_stream(("Yes.",)))] * 2]
    await model.complete(request(), print)
    await model.complete(request(), print)
    assert [sent(route, n).get("thinking") for n in range(3)] == [{"type": "disabled"}, None, None]
    assert [sent(route, n)["max_tokens"] for n in range(3)] == [256, 256 + 4096, 256 + 4096]


async def test_the_shape_of_a_reply_is_forced_where_the_model_takes_one(
    route: respx.Route, model: AnthropicModel
) -> None:
    schema = {"type": "object", "properties": {}}
    shaped = replace(request(), json_schema=schema)
    await model.complete(shaped, print)
    assert sent(route)["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": "output_config.format: not here"}}
    route.side_effect = [httpx.Response(400, json=refusal), *[streamed(messages_stream(("{}",)))] * 2]
    assert (await model.complete(shaped, print)).text == "{}"
    await model.complete(shaped, print)
    assert ["output_config" in sent(route, n) for n in range(1, 4)] == [True, False, False]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice("anthropic", "", "anthropic", "m", BASE_URL, "bearer", "tok"), {"authorization": "Bearer tok"}),
        (
            Choice("anthropic", "", "anthropic", "m", BASE_URL, "subscription", read_token=lambda: "sub"),
            {"authorization": "Bearer sub", "anthropic-beta": "oauth-2025-04-20"},
        ),
        (Choice("anthropic", "", "anthropic", "m", BASE_URL, "none"), {}),
    ],
)
async def test_each_way_to_prove_oneself_sends_its_own_headers_and_no_others(
    route: respx.Route, choice: Choice, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-from-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "tok-from-the-environment")
    await AnthropicModel(choice).complete(request(), print)
    headers = route.calls[0].request.headers
    assert {n: headers[n] for n in ("authorization", "x-api-key", "anthropic-beta") if n in headers} == expected


async def test_the_subscription_s_token_is_read_anew_for_every_request(route: respx.Route) -> None:
    tokens = iter(["one", "two"])
    model = AnthropicModel(
        Choice("anthropic", "", "anthropic", "m", BASE_URL, "subscription", read_token=lambda: next(tokens))
    )
    await model.complete(request(), print)
    await model.complete(request(), print)
    assert [call.request.headers["authorization"] for call in route.calls] == ["Bearer one", "Bearer two"]


async def test_a_token_that_is_gone_sends_nothing(route: respx.Route) -> None:
    def gone() -> str:
        raise BadKey("No answer on the subscription: it has expired.")

    choice = replace(anthropic_choice(BASE_URL), auth="subscription", read_token=gone)
    with pytest.raises(ModelError, match="it has expired"):
        await AnthropicModel(choice).complete(request(), print)
    assert not route.called


async def test_preparing_leaves_nothing_for_the_first_request_to_wait_for(model: AnthropicModel) -> None:
    await model.prepare()
    assert model._client.is_started


@pytest.mark.parametrize("package", ["anthropic", "openai"])
async def test_a_package_that_cannot_be_imported_is_a_sentence(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    choice = anthropic_choice(BASE_URL) if package == "anthropic" else openai_choice(BASE_URL)
    with pytest.raises(ModelError, match=f"The Python package {package} cannot be imported"):
        await connect(choice).complete(request(), print)
