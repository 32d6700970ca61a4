"""The very bytes that a long tool loop sends to the Messages API, against the rules of its prompt cache."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
import respx
from agent.scene import Scene, make_scene
from support.anthropic_cache import AnthropicCache
from support.prompts import anthropic_choice
from support.respx_httpx2 import HTTPX2
from support.wire import messages_stream

from live_memory.llm.anthropic import AnthropicModel

BASE_URL = "https://provider.test"
ROUNDS = 40
CALLS = (1, 3, 12, 2, 40, 1, 10, 11, 60, 5)  # calls a round: below, at and far beyond the reach of a look-back
PARTS_BEFORE_TURNS = 2  # the tool and the system prompt


class Provider:
    """Answers every question after forty rounds of tool calls; `cache` has seen every request."""

    def __init__(self) -> None:
        self.cache = AnthropicCache()
        self.rounds = 0
        self.calls = 0

    def reply(self, request: httpx.Request) -> httpx.Response:
        usage = self.cache.take(json.loads(request.content)).usage
        if self.rounds == ROUNDS:
            self.rounds = 0
            chunks = messages_stream(("The port is set in server.py:1.",), usage=usage)
        else:
            count = CALLS[self.rounds % len(CALLS)]
            calls = tuple((self._call_id(), "Read", '{"file_path": "server.py"}') for _ in range(count))
            thoughts = "Hm." if self.rounds % 3 == 0 else ""
            pieces = ("Looking.",) if self.rounds % 2 else ()
            chunks = messages_stream(pieces, calls=calls, stop="tool_use", thoughts=thoughts, usage=usage)
            self.rounds += 1
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=b"".join(chunks))

    def _call_id(self) -> str:
        self.calls += 1
        return f"call-{self.calls}"


@pytest.fixture
def provider() -> Iterator[Provider]:
    provider = Provider()
    with respx.mock(using=HTTPX2) as router:
        router.post(f"{BASE_URL}/v1/messages").mock(side_effect=provider.reply)
        yield provider


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    choice = anthropic_choice(BASE_URL)
    return make_scene(
        tmp_path, model=AnthropicModel(choice), choice=choice, max_tool_rounds=ROUNDS, default_timeout_s=170.0
    )


async def test_every_request_of_a_forty_round_loop_reads_all_that_the_one_before_it_sent(
    provider: Provider, scene: Scene
) -> None:
    for question in ("Where is the port?", "And the token?", "And the notes?"):
        assert not (await scene.ask(question)).timed_out
    seen = provider.cache.seen
    assert len(seen) == 3 * (ROUNDS + 1)
    for before, after in pairwise(seen):
        if after.blocks > before.blocks:  # the next round of the same question
            assert after.read_blocks == before.blocks
    for earlier in (0, 1):  # the next question's first request reads tools, system and every exchange but the newest
        assert seen[(earlier + 1) * (ROUNDS + 1)].read_blocks == PARTS_BEFORE_TURNS + 2 * earlier


async def test_rounds_that_shrink_for_want_of_room_still_read_the_history(provider: Provider, tmp_path: Path) -> None:
    choice = anthropic_choice(BASE_URL)
    scene = make_scene(
        tmp_path,
        model=AnthropicModel(choice),
        choice=choice,
        max_tool_rounds=ROUNDS,
        max_context_tokens=40_000,
        default_timeout_s=170.0,
    )
    (scene.root / "server.py").write_text("PORT = 7711  # a line of some length, again and again\n" * 20)
    await scene.ask("Where is the port?")
    shrunk = [after for before, after in pairwise(provider.cache.seen)
              if after.read_blocks < before.blocks]  # fmt: skip
    assert 0 < len(shrunk) < ROUNDS / 2
    assert all(each.read_blocks >= PARTS_BEFORE_TURNS for each in shrunk)
