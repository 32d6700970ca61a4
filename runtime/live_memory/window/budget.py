"""How large a prompt may become, and which entries no longer fit. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from live_memory.window.window import Window

THRESHOLD_RATIO = 0.85  # above this the window is cut, so that a question still has room for what its tools bring back
FLOOR_RATIO = 0.60  # and cut down to this in one batch: each cut costs the provider's cache (ADR-0005)


@dataclass(frozen=True, slots=True)
class Budget:
    """The largest prompt in tokens, answer excluded, and its two watermarks."""

    max_tokens: int
    threshold_ratio: float = THRESHOLD_RATIO
    floor_ratio: float = FLOOR_RATIO

    @property
    def threshold_tokens(self) -> int:
        return int(self.max_tokens * self.threshold_ratio)

    @property
    def floor_tokens(self) -> int:
        return int(self.max_tokens * self.floor_ratio)


def first_entry_below(window: Window, history_tokens: int) -> int | None:
    """The id of the oldest of the newest entries that together take at most `history_tokens`; None for an empty window."""
    if not window.history.entries:
        return None
    room_tokens, first = history_tokens, window.history.entries[-1].id + 1
    for entry in reversed(window.history.entries):
        room_tokens -= entry.tokens
        if room_tokens < 0:
            break
        first = entry.id
    return first
