"""Prompts and choices for tests of the model adapters."""

from __future__ import annotations

from live_memory.llm.base import CompletionRequest
from live_memory.llm.choice import Choice
from live_memory.window.messages import Prompt, Text, ToolCall, ToolResult, ToolSpec, Turn

DUMMY_KEY = "sk-test-0123456789abcdef"
GREP = ToolSpec(
    "Grep",
    "Search the files.",
    {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
)


def user(*texts: str) -> Turn:
    return Turn("user", tuple(Text(text) for text in texts))


def assistant(text: str) -> Turn:
    return Turn("assistant", (Text(text),))


def tool_round(*call_ids: str) -> tuple[Turn, Turn]:
    """A round of Grep calls and their results."""
    calls = tuple(ToolCall(call_id, "Grep", '{"pattern": "x"}') for call_id in call_ids)
    return Turn("assistant", calls), Turn("user", tuple(ToolResult(call.id, "a.py:1: x") for call in calls))


def request(
    *turns: Turn,
    prefix_turns: int = 0,
    system: tuple[str, ...] = ("You answer.", "The frozen block."),
    tools: tuple[ToolSpec, ...] = (GREP,),
    cache_key: str = "",
    timeout_s: float = 60.0,  # the first request of a run imports an SDK
) -> CompletionRequest:
    prompt = Prompt(system, turns or (user("Why?"),), tools, prefix_turns)
    return CompletionRequest(prompt, max_output_tokens=256, timeout_s=timeout_s, cache_key=cache_key)


def anthropic_choice(base_url: str, model: str = "claude-without-a-card") -> Choice:
    return Choice("anthropic", "a test", "anthropic", model, base_url, "key", DUMMY_KEY, key_source="ANTHROPIC_API_KEY")


def openai_choice(base_url: str, provider: str = "custom", model: str = "some-model") -> Choice:
    return Choice("openai", "a test", provider, model, base_url, "key", DUMMY_KEY, key_source="OPENAI_API_KEY")
