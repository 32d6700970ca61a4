"""Both adapters against a real model: llama.cpp's own server with SmolLM2."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.llama import TOOL_TEMPLATE, llama_server, smollm2
from support.prompts import GREP, assistant, tool_round, user

from live_memory.clock import SystemClock
from live_memory.llm.base import Completion, CompletionRequest, Model, PromptTooLong, Unavailable
from live_memory.llm.choice import Choice, connect
from live_memory.llm.retry import complete_with_retry
from live_memory.window.messages import Prompt, Turn

FACTS = "The launcher binds the port first; whoever holds the port is the server. " * 12
CONTEXT_TOKENS = 2048


@dataclass
class Line:
    """A model that runs here, and the prose that has arrived."""

    model: Model
    pieces: list[str]

    async def ask(self, *turns: Turn, with_tools: bool = False, answer_tokens: int = 24) -> Completion:
        prompt = Prompt(("You answer in one sentence.", FACTS), turns, (GREP,) if with_tools else (), len(turns) - 1)
        asked = CompletionRequest(prompt, answer_tokens, 60.0, "w")
        clock = SystemClock()
        return await complete_with_retry(
            self.model, asked, clock.monotonic_s() + 60, clock, self.pieces.append, on_restart=self.pieces.clear
        )


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    template = tmp_path_factory.mktemp("template") / "tools.jinja"
    template.write_text(TOOL_TEMPLATE, encoding="utf-8")
    with llama_server(smollm2(), context_tokens=CONTEXT_TOKENS, template=template) as address:
        yield address


@pytest.fixture(params=["anthropic", "openai"])
async def line(request: pytest.FixtureRequest, address: str) -> AsyncIterator[Line]:
    if request.param == "anthropic":
        choice = Choice("anthropic", "a test", "anthropic", "smollm2", address)
    else:
        choice = Choice("openai", "a test", "custom", "smollm2", f"{address}/v1")
    model = connect(choice)
    yield Line(model, [])
    await model.close()


async def test_a_reply_is_held_to_a_schema_where_the_server_can(line: Line) -> None:
    kinds = ["decision", "root-cause", "preference"]
    properties = {"kind": {"type": "string", "enum": kinds}, "is_new": {"type": "boolean"}}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    prompt = Prompt(("You answer in one sentence.", FACTS), (user("Who is the server?"),), (), 0)
    completion = await line.model.complete(
        CompletionRequest(prompt, 64, 60.0, "w", json_schema=schema), line.pieces.append
    )
    assert completion.text  # whatever the server makes of the parameter, it answers
    if line.model.provider != "anthropic":  # llama.cpp holds replies to schemas at its own endpoint alone
        value = json.loads(completion.text)
        assert value["kind"] in kinds
        assert isinstance(value["is_new"], bool)


async def test_a_real_model_streams_prose_and_counts_its_tokens(line: Line) -> None:
    completion = await line.ask(user("Who is the server?"))
    assert len(line.pieces) > 1
    assert "".join(line.pieces) == completion.text
    assert completion.text.strip()
    assert completion.usage.prompt_tokens > 150
    assert 0 < completion.usage.output_tokens <= 24


async def test_a_second_question_finds_the_first_one_s_prompt_in_the_cache(line: Line) -> None:
    first = await line.ask(user("Who is the server?"))
    second = await line.ask(user("Who is the server?"), assistant(first.text), user("What is bound first?"))
    assert second.usage.cache_read_tokens >= first.usage.prompt_tokens - 8  # the last few tokens are the turn's own end
    assert second.usage.input_tokens < 100


async def test_hints_after_a_question_do_not_spoil_the_cache_of_the_next(line: Line) -> None:
    first = await line.ask(user("Who is the server?", "Hint: read the launcher. " * 8))
    without_hints = (user("Who is the server?"), assistant(first.text))
    second = await line.ask(*without_hints, user("What is bound first?", "Hint: none."))
    assert second.usage.cache_read_tokens > 150


async def test_an_answer_cut_at_its_budget_says_so(line: Line) -> None:
    completion = await line.ask(user("Who is the server?"), answer_tokens=1)
    assert completion.stop_reason == "max_tokens"


async def test_a_prompt_beyond_the_context_names_the_context(line: Line) -> None:
    with pytest.raises(PromptTooLong) as raised:
        await line.ask(user("Why? " * CONTEXT_TOKENS))
    assert raised.value.limit_tokens == CONTEXT_TOKENS


async def test_rounds_of_tool_calls_are_taken_by_a_template_that_knows_tools(line: Line) -> None:
    completion = await line.ask(user("Where is x?"), *tool_round("t1", "t2"), user("Answer now."), with_tools=True)
    assert completion.usage.prompt_tokens > 150
    assert completion.text.strip() or completion.tool_calls


async def test_a_server_that_goes_away_is_unavailable(tmp_path: Path) -> None:
    with llama_server(smollm2(), context_tokens=512) as address:
        model = connect(Choice("openai", "a test", "custom", "smollm2", f"{address}/v1"))
    prompt = Prompt(("You answer.",), (user("Why?"),), (), 0)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await model.complete(CompletionRequest(prompt, 8, 10.0), print)
    await model.close()
