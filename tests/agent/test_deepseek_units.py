"""What DeepSeek's cache makes of a growing window: there a prefix is read only where it is a whole unit.

Units end where a request's input ends, where its output ends, and where two requests were seen to part (DeepSeek's
"Context Caching" guide). The ones at fixed intervals are left out here: they only help.
"""

from __future__ import annotations

from pathlib import Path

from agent.scene import make_scene
from support.prompts import openai_choice

from live_memory.llm.openai import OpenAIModel
from live_memory.llm.scripted import shared_chars
from live_memory.llm.trace import parts_of, text_of

QUESTIONS = 12
ANSWER = "The port is set in server.py:1, and nothing else in the tree names one. " * 4


def read_chars(requests: list[str]) -> list[int]:
    """How much of each request is read from the cache."""
    units: set[str] = set()
    read = []
    for number, text in enumerate(requests):
        read.append(max((len(unit) for unit in units if text.startswith(unit)), default=0))
        units |= {text, text + ANSWER} | {text[: shared_chars(text, earlier)] for earlier in requests[:number]}
    return read


async def test_all_but_the_two_newest_exchanges_is_read_from_the_second_question_on(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, [f"{number}: {ANSWER}" for number in range(QUESTIONS)], reuse_answers=False)
    for number in range(QUESTIONS):
        await scene.ask(f"Where is the port that number {number} listens on?")
    renderer = OpenAIModel(openai_choice("https://api.deepseek.com", "deepseek", "deepseek-v4-flash"))
    sent = [text_of(parts_of(renderer.wire(request))) for request in scene.requests()]
    read = read_chars(sent)
    exchange_chars = len(sent[-1]) - len(sent[-2])
    anew = [len(text) - chars for text, chars in zip(sent, read, strict=True)][2:]
    assert max(anew) < 3.5 * exchange_chars, "two exchanges, and the question at hand with its hints"
    assert max(anew) - min(anew) < exchange_chars, "it does not grow with the window"
