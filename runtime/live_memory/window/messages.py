"""The neutral values a conversation is made of. Pure: no provider's wire format, no I/O.

Every value is immutable; JSON arguments are kept as the text the model wrote, so that what was sent once
can be sent again byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text:
    """Prose."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool; `arguments_json` is a JSON object as text."""

    id: str
    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call brought back; `is_error` marks a refusal the model should react to."""

    call_id: str
    text: str
    is_error: bool = False


Block: TypeAlias = Text | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Turn:
    """One side's contribution; tool results travel in a user turn."""

    role: Role
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `input_schema` is a JSON Schema object (Anthropic's shape is the canonical one)."""

    name: str
    description: str
    input_schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What one request sends.

    `system` holds the stable text and then the frozen block, each a cache breakpoint of its own;
    `turns[:prefix_turns]` is the append-only history (the third breakpoint), the rest is the trailing turn and the
    tool rounds of the question in flight.
    """

    system: tuple[str, ...]
    turns: tuple[Turn, ...]
    tools: tuple[ToolSpec, ...]
    prefix_turns: int
