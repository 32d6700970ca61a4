"""How much of a streamed reply is taken: a server that never stops must not fill the memory until the time is up."""

from __future__ import annotations

from live_memory.llm.failures import MalformedReply

MAX_CHARS_PER_TOKEN = 16  # prose has four, deep indentation more; above that no budget was kept to
SLACK_CHARS = 4096
MAX_UNSEEN_CHARS = 1 << 20  # thoughts and the arguments of tool calls, which no budget in characters bounds
CHARS_OF_CALL = 2048  # what a tool call counts beside its arguments
MAX_COUNT = 1_000_000_000  # tokens that a reply can be said to have taken


class Meter:
    """Counts what comes. `is_full` once the prose is far above its budget: then it is cut there."""

    def __init__(self, max_output_tokens: int) -> None:
        self._prose_left_chars = max_output_tokens * MAX_CHARS_PER_TOKEN + SLACK_CHARS
        self._unseen_left_chars = MAX_UNSEEN_CHARS

    @property
    def is_full(self) -> bool:
        return self._prose_left_chars < 0

    def prose(self, piece: str) -> str:
        """`piece`, counted, and cut where the budget ends."""
        left = max(0, self._prose_left_chars)
        self._prose_left_chars -= len(piece)
        return piece[:left]

    def unseen(self, chars: int) -> None:
        """Count what is not prose. MalformedReply when it has no end."""
        self._unseen_left_chars -= chars
        if self._unseen_left_chars < 0:
            raise MalformedReply


def count_of(value: object) -> int:
    """A number of tokens as a server gives it; 0 for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MAX_COUNT:
        return 0
    return int(value)
