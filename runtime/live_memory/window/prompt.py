"""How a window becomes a prompt: what never changes first, the question at hand last. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from live_memory.text.fencing import fenced
from live_memory.text.tokens import estimate_tokens, size_of
from live_memory.window.messages import Prompt, Text, ToolCall, ToolSpec, Turn
from live_memory.window.window import TURN_OVERHEAD_TOKENS, Window


def build_prompt(instructions: str, window: Window, tools: tuple[ToolSpec, ...], in_flight: Sequence[Turn]) -> Prompt:
    """The bytes of one request, in order: tools, instructions with the tree, the frozen block where there is one, the
    history, and `in_flight` (the trailing turn and the rounds after it)."""
    return Prompt(
        system=system_texts(instructions, window),
        turns=(*window.history.turns, *in_flight),
        tools=tools,
        prefix_turns=len(window.history.turns),
    )


def system_texts(instructions: str, window: Window) -> tuple[str, ...]:
    stable = f"{instructions}\n\n{_fenced_tree(window.tree)}" if window.tree else instructions
    return (stable, window.frozen) if window.frozen else (stable,)


@lru_cache(maxsize=64)  # each question asks for it several times
def _fenced_tree(tree: str) -> str:
    return fenced("tree", tree)


def trailing_turn(question: str, hints: str) -> Turn:
    """The question first, in a block of its own: those bytes stay in the history, the hints do not."""
    return Turn("user", (Text(question), Text(hints)) if hints else (Text(question),))


def prefix_tokens(instructions: str, window: Window, tools: tuple[ToolSpec, ...]) -> int:
    """The estimated size of everything before the trailing turn."""
    return fixed_tokens(instructions, window, tools) + window.history.tokens


def wide_tokens(window: Window, prompt: Prompt) -> int:
    """The estimated tokens of the Chinese, Japanese and Korean text in a `prompt` of `window`."""
    in_flight = (block for turn in prompt.turns[prompt.prefix_turns :] for block in turn.blocks)
    said = (block.arguments_json if isinstance(block, ToolCall) else block.text for block in in_flight)
    return window.history.wide_tokens + sum(size_of(text).wide_tokens for text in (*prompt.system, *said))


def fixed_tokens(instructions: str, window: Window, tools: tuple[ToolSpec, ...]) -> int:
    """The estimated size of what stands before the history."""
    texts = (*system_texts(instructions, window), *(f"{t.name}{t.description}{dict(t.input_schema)}" for t in tools))
    return sum(estimate_tokens(text) + TURN_OVERHEAD_TOKENS for text in texts)
