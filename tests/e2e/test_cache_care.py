"""Keep-warm, the prefix doctor and the calibrated estimate against a real model with a real prompt cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from agent.scene import make_scene
from support.llama import TOOL_TEMPLATE, llama_server, smollm2

from live_memory.clock import ManualClock
from live_memory.llm.choice import Choice, connect
from live_memory.llm.trace import Sent, numbered, pairs

CONTEXT_TOKENS = 8192
TURN_END_TOKENS = 24  # what the template puts around the last turn, and the hints that no later request repeats


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    template = tmp_path_factory.mktemp("template") / "tools.jinja"
    template.write_text(TOOL_TEMPLATE, encoding="utf-8")
    with llama_server(smollm2(), context_tokens=CONTEXT_TOKENS, template=template) as address:
        yield address


async def test_what_is_kept_warm_is_what_the_next_question_reads_and_the_doctor_says_so(
    address: str, tmp_path: Path
) -> None:
    clock, trace = ManualClock(), tmp_path / "trace"
    choice = Choice("openai", "a test", "custom", "smollm2", f"{address}/v1")
    scene = make_scene(
        tmp_path,
        model=connect(choice),
        choice=choice,
        clock=clock,
        keep_warm=True,
        trace_prompts=str(trace),
        max_context_tokens=CONTEXT_TOKENS,
        max_answer_tokens=256,
        force_explore_when_cold=False,
        max_tool_rounds=1,
        reuse_answers=False,
    )
    desk = scene.desk
    first = await scene.ask("Which port does the server listen on?")
    clock.advance(240)
    await desk._keep_warm.visit(desk._workspaces[scene.root], desk._seat)
    ping = scene.store.account(purpose="keep-warm").usage
    assert ping.output_tokens == 1
    assert ping.cache_read_tokens > ping.prompt_tokens / 2, "it continues what the first question sent"
    second = await scene.ask("And what does check compare?")
    requests = second.usage.prompt_tokens // ping.prompt_tokens  # one, or two where the model called a tool
    assert second.usage.cache_read_tokens >= requests * (ping.prompt_tokens - TURN_END_TOKENS)
    found = list(pairs(Sent.read(path) for path in numbered(trace)))
    assert len(found) >= 2
    assert all(pair.held for pair in found)
    shown = dict(desk.stats(str(scene.root)))
    assert shown["keep_warm"] != {"state": "off"}
    assert first.context_used_tokens == pytest.approx(ping.prompt_tokens, rel=0.35)  # the window that the ping sent
    await desk.close(1.0)
