"""How many tokens a text is taken for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.text.tokens import estimate_tokens, truncate_to_tokens


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("漢字", 2), ("한국어 ok", 4), ("ééééé", 2)]
)
def test_four_characters_or_one_ideograph_are_a_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(alphabet="ab 漢字é", max_size=200), st.integers(0, 100))
def test_a_cut_text_is_a_beginning_that_fits_and_cannot_be_longer(text: str, max_tokens: int) -> None:
    cut = truncate_to_tokens(text, max_tokens)
    assert text.startswith(cut)
    assert estimate_tokens(cut) <= max_tokens
    assert cut == text or estimate_tokens(text[: len(cut) + 1]) > max_tokens
