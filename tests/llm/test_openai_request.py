"""What is sent to a /chat/completions endpoint, and what its streams mean."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
import respx
from support.prompts import DUMMY_KEY, GREP, assistant, openai_choice, request, tool_round, user
from support.respx_httpx2 import HTTPX2
from support.wire import chat_stream

from live_memory.llm.base import Usage
from live_memory.llm.choice import Choice
from live_memory.llm.openai import OpenAIModel
from live_memory.window.messages import Text, ToolCall, ToolResult, Turn

BASE_URL = "https://provider.test/v1"


@pytest.fixture
def route() -> Iterator[respx.Route]:
    with respx.mock(using=HTTPX2) as router:
        route = router.post(f"{BASE_URL}/chat/completions")
        route.mock(return_value=streamed(chat_stream(("Because.",))))
        yield route


@pytest.fixture
def model() -> OpenAIModel:
    return OpenAIModel(openai_choice(BASE_URL))


def streamed(chunks: tuple[bytes, ...]) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=b"".join(chunks))


def sent(route: respx.Route, index: int = -1) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(route.calls[index].request.content)
    return body


async def test_a_request_is_exactly_this(route: respx.Route, model: OpenAIModel) -> None:
    calls = Turn(
        "assistant", (Text("Looking."), ToolCall("t1", "Grep", '{ "pattern":"é" }'), ToolCall("t2", "Grep", '{"pat'))
    )
    results = Turn("user", (ToolResult("t1", "a.py:1: é"), ToolResult("t2", "No JSON."), Text("Time is up.")))
    await model.complete(
        request(user("What?"), assistant("A server."), user("Why?", "Hints."), calls, results, prefix_turns=2), print
    )
    assert sent(route) == {
        "model": "some-model",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 256,
        "tools": [
            {
                "type": "function",
                "function": {"name": "Grep", "description": "Search the files.", "parameters": GREP.input_schema},
            }
        ],
        "messages": [
            {"role": "system", "content": "You answer.\n\nThe frozen block."},
            {"role": "user", "content": "What?"},
            {"role": "assistant", "content": "A server."},
            {"role": "user", "content": "Why?\n\nHints."},
            {
                "role": "assistant",
                "content": "Looking.",
                "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "Grep", "arguments": '{ "pattern":"é" }'}},
                    {"id": "t2", "type": "function", "function": {"name": "Grep", "arguments": '{"unparsed": "{\\"pat"}'}},
                ],
            },
            {"role": "tool", "tool_call_id": "t1", "content": "a.py:1: é"},
            {"role": "tool", "tool_call_id": "t2", "content": "No JSON."},
            {"role": "user", "content": "Time is up."},
        ],
    }  # fmt: skip
    assert route.calls[0].request.headers["authorization"] == f"Bearer {DUMMY_KEY}"


async def test_the_bytes_of_a_history_are_a_prefix_of_the_next_request_s_bytes(
    route: respx.Route, model: OpenAIModel
) -> None:
    first = (user("A delta."), user("Why?"))
    await model.complete(request(user("A delta."), user("Why?", "Hints."), prefix_turns=1), print)
    await model.complete(
        request(*first, assistant("Because."), user("Another delta."), user("How?", "More hints."), prefix_turns=4),
        print,
    )
    before, after = (route.calls[n].request.content.split(b'"messages":')[1] for n in range(2))
    through_the_question = before.index(rb"\n\nHints.")
    assert before[:through_the_question] == after[:through_the_question]
    assert after[through_the_question:].startswith(b'"},{"role":"assistant","content":"Because."}')


async def test_without_a_key_no_key_is_sent(route: respx.Route, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    await OpenAIModel(Choice("openai", "", "custom", "m", BASE_URL)).complete(request(tools=()), print)
    assert "authorization" not in route.calls[0].request.headers
    assert "tools" not in sent(route)


async def test_each_provider_gets_the_parameters_that_it_knows(route: respx.Route) -> None:
    expected: dict[tuple[str, str], dict[str, object]] = {
        ("openai", "gpt-6-luna"): {"max_completion_tokens": 256, "reasoning_effort": "none", "prompt_cache_key": "hidden"},
        ("openai", "gpt-4o-mini"): {"max_completion_tokens": 256, "prompt_cache_key": "hidden"},
        ("deepseek", "deepseek-v4-flash"): {"max_tokens": 256, "thinking": {"type": "disabled"}},
        ("groq", "openai/gpt-oss-120b"): {"max_tokens": 256, "reasoning_effort": "low"},
        ("mistral", "mistral-small-latest"): {"max_tokens": 256},
    }  # fmt: skip
    for (provider, name), parameters in expected.items():
        await OpenAIModel(openai_choice(BASE_URL, provider, name)).complete(request(cache_key="/home/me/secret"), print)
        body = sent(route)
        own = {
            key: value
            for key, value in body.items()
            if key not in ("model", "messages", "stream", "stream_options", "tools")
        }
        if "prompt_cache_key" in own:
            assert "secret" not in str(own.pop("prompt_cache_key"))
            own["prompt_cache_key"] = "hidden"
        assert own == parameters, (provider, name)


async def test_a_parameter_that_the_server_refuses_by_name_is_left_out_from_then_on(route: respx.Route) -> None:
    model = OpenAIModel(openai_choice(BASE_URL, "openai", "gpt-6-luna"))
    refusal = {"error": {"type": "invalid_request_error", "message": "Unrecognized request argument: prompt_cache_key"}}
    route.side_effect = [httpx.Response(400, json=refusal), *[streamed(chat_stream(("Yes.",)))] * 2]
    await model.complete(request(cache_key="w"), print)
    await model.complete(request(cache_key="w"), print)
    assert ["prompt_cache_key" in sent(route, n) for n in range(3)] == [True, False, False]
    assert all("reasoning_effort" in sent(route, n) for n in range(3))


async def test_a_gateway_to_openai_is_told_the_length_by_the_name_that_it_wants(
    route: respx.Route, model: OpenAIModel
) -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    route.side_effect = [httpx.Response(400, json={"error": {"message": message}}), streamed(chat_stream(("Yes.",)))]
    assert (await model.complete(request(), print)).text == "Yes."
    assert sent(route)["max_completion_tokens"] == 256
    assert "max_tokens" not in sent(route)


async def test_the_shape_of_a_reply_is_forced_where_the_server_takes_one(
    route: respx.Route, model: OpenAIModel
) -> None:
    schema = {"type": "object", "properties": {}}
    shaped = replace(request(), json_schema=schema)
    await model.complete(shaped, print)
    named = {"name": "reply", "strict": True, "schema": schema}
    assert sent(route)["response_format"] == {"type": "json_schema", "json_schema": named}
    refusal = {"error": {"message": "response_format of type json_schema is not supported"}}
    route.side_effect = [httpx.Response(400, json=refusal), *[streamed(chat_stream(("{}",)))] * 2]
    await model.complete(shaped, print)
    await model.complete(shaped, print)
    assert ["response_format" in sent(route, n) for n in range(1, 4)] == [True, False, False]


async def test_a_complaint_in_a_shape_of_its_own_is_understood_too(route: respx.Route, model: OpenAIModel) -> None:
    complaint = {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs"}]}
    route.side_effect = [httpx.Response(422, json=complaint), streamed(chat_stream(("Yes.",)))]
    assert (await model.complete(request(), print)).text == "Yes."
    assert "stream_options" not in sent(route)


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 80}}, Usage(20, 7, 80)),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}}, Usage(10, 7, 60, 30)),
        ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}, Usage(36, 7, 64)),
        ({"prompt_tokens": 100, "cached_tokens": 50}, Usage(50, 7, 50)),
        ({"prompt_tokens": 100}, Usage(100, 7)),
    ],
)  # fmt: skip
async def test_cached_tokens_are_read_wherever_a_provider_counts_them(
    route: respx.Route, model: OpenAIModel, counted: dict[str, Any], expected: Usage
) -> None:
    route.mock(return_value=streamed(chat_stream(("Yes.",), usage=counted)))
    assert (await model.complete(request(), print)).usage == expected


async def test_a_server_that_counts_nothing_is_counted_by_size(route: respx.Route, model: OpenAIModel) -> None:
    route.mock(return_value=streamed((*chat_stream(("Yes indeed.",))[:-2], b"data: [DONE]\n\n")))
    usage = (await model.complete(request(), print)).usage
    assert usage.input_tokens > 10
    assert usage.output_tokens == len("Yes indeed.") // 4


async def test_tool_calls_come_back_with_the_very_text_the_model_wrote(route: respx.Route, model: OpenAIModel) -> None:
    fragments = (
        {"index": 0, "id": "t1", "type": "function", "function": {"name": "Grep", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{ "pat'}},
        {"index": 0, "function": {"arguments": 'tern":"x" }'}},
        {"index": 1, "id": "t2", "type": "function", "function": {"name": "Grep", "arguments": '{"pattern": "y'}},
    )
    route.mock(return_value=streamed(chat_stream(calls=fragments, finish="tool_calls")))
    completion = await model.complete(request(), print)
    assert completion.stop_reason == "tool_calls"
    assert completion.tool_calls == (
        ToolCall("t1", "Grep", '{ "pattern":"x" }'),
        ToolCall("t2", "Grep", '{"pattern": "y'),
    )


async def test_calls_that_share_an_index_or_lack_an_id_are_still_told_apart(
    route: respx.Route, model: OpenAIModel
) -> None:
    same_index = (
        {"index": 0, "id": "a", "function": {"name": "Grep", "arguments": "{}"}},
        {"index": 0, "id": "b", "function": {"name": "Glob", "arguments": "{}"}},
    )
    no_ids = ({"index": 0, "function": {"name": "Grep"}}, {"index": 1, "function": {"name": "Glob"}})
    for fragments, ids in ((same_index, ["a", "b"]), (no_ids, ["call_1", "call_2"])):
        route.mock(return_value=streamed(chat_stream(calls=fragments, finish="stop")))
        completion = await model.complete(request(), print)
        assert [(call.id, call.name) for call in completion.tool_calls] == [*zip(ids, ["Grep", "Glob"], strict=True)]
        assert completion.stop_reason == "tool_calls"


async def test_what_a_provider_wants_back_with_a_call_goes_back_word_for_word(
    route: respx.Route, model: OpenAIModel
) -> None:
    signed = {"google": {"thought_signature": "c2lnbmVk"}}
    fragment = {"index": 0, "id": "t1", "function": {"name": "Grep", "arguments": "{}"}, "extra_content": signed}
    thinking = b'data: {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}}]}\n\n'
    route.mock(return_value=streamed((thinking, *chat_stream(calls=(fragment,), finish="tool_calls"))))
    await model.complete(request(), print)
    await model.complete(request(user("Why?"), *tool_round("t1")), print)
    message = sent(route)["messages"][2]
    assert message["reasoning_content"] == "Hm."
    assert message["tool_calls"][0]["extra_content"] == signed


async def test_a_refusal_in_words_is_prose_with_its_own_stop_reason(route: respx.Route, model: OpenAIModel) -> None:
    refused = b'data: {"choices": [{"index": 0, "delta": {"refusal": "I cannot."}}]}\n\n'
    route.mock(return_value=streamed((refused, *chat_stream())))
    completion = await model.complete(request(), print)
    assert (completion.text, completion.stop_reason) == ("I cannot.", "refusal")
