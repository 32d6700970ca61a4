"""Five minutes or an hour: what the pauses between questions say."""

from __future__ import annotations

import pytest

from live_memory.llm.catalog import model_card
from live_memory.llm.lifetime import cheaper_lifetime

HAIKU = model_card("anthropic", "claude-haiku-5-5")
MINUTE_S = 60.0


@pytest.mark.parametrize(
    ("pauses_min", "lifetime"),
    [
        ((1, 2, 1, 3, 2), "5m"),  # all at one go: the short cache is read every time, and is cheaper to write
        ((10, 12, 15, 9), "1h"),  # ten minutes of coding between questions
        ((1, 2, 20, 1, 25, 2), "1h"),  # bursts: two re-writes in six cost more than the dearer write
        ((90, 120, 100), "5m"),  # longer than an hour: neither lasts, and the short one is cheaper to write
        ((10, 12), "5m"),  # too few to tell
    ],
)
def test_the_pauses_decide(pauses_min: tuple[int, ...], lifetime: str) -> None:
    assert cheaper_lifetime(HAIKU, [pause * MINUTE_S for pause in pauses_min]) == lifetime


@pytest.mark.parametrize("card", [None, model_card("deepseek", "deepseek-v4-flash")])
def test_where_there_is_no_choice_the_short_one_is_taken(card: object) -> None:
    assert cheaper_lifetime(card, [600.0] * 5) == "5m"  # type: ignore[arg-type]  # None, or a card
