"""The exception tree, by who must act.

LiveMemoryError
├── ToolRefusal         the model: becomes a tool result it can react to
├── QuestionError       the caller: a sentence and an HTTP status
├── ConfigError         the operator: a setting is wrong
├── StoreError          the operator: the database cannot be used
└── ModelError          the operator or the provider; see llm/base.py for its children
"""

from __future__ import annotations


class LiveMemoryError(Exception):
    """Base of every error this package raises on purpose; its text is one sentence that says what to do."""


class ToolRefusal(LiveMemoryError):
    """A tool call that cannot be served; the text tells the model what to try instead."""


class QuestionError(LiveMemoryError):
    """A request the caller must change or send later."""

    def __init__(self, code: str, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class ConfigError(LiveMemoryError):
    """A setting whose value cannot be used; the text names it, its value and what is allowed."""


class StoreError(LiveMemoryError):
    """The database could not be opened, read or written."""


class ModelError(LiveMemoryError):
    """A model request that brought no usable reply."""
