"""What a few replies teach about a model's tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.text.calibration import MAX_FACTOR, MIN_FACTOR, Calibration, Size
from live_memory.text.tokens import estimate_tokens, size_of

SIZES = st.builds(Size, st.integers(0, 500_000), st.integers(0, 500_000))


def taught(narrow: float, wide: float, *sizes: Size) -> Calibration:
    """What is known after a model with these true factors has counted `sizes`."""
    calibration = Calibration()
    for size in sizes:
        calibration = calibration.after(size, round(narrow * size.narrow_tokens + wide * size.wide_tokens))
    return calibration


def test_the_estimate_stands_until_a_reply_says_otherwise() -> None:
    assert Calibration().ratio(Size(1_000, 50)) == 1.0


def test_five_replies_bring_the_estimate_within_two_percent() -> None:
    code = Size(40_000)
    assert taught(1.35, 1.0, *[code] * 5).ratio(code) == pytest.approx(1.35, rel=0.02)


def test_latin_and_chinese_text_are_learned_apart() -> None:
    code, prose = Size(40_000), Size(1_000, 30_000)
    known = taught(1.3, 0.6, *[code, prose] * 6)
    assert known.ratio(code) == pytest.approx(1.3, rel=0.02)
    assert known.ratio(prose) == pytest.approx((1.3 + 30 * 0.6) / 31, rel=0.02)


def test_a_prompt_of_a_few_words_teaches_nothing() -> None:
    assert Calibration().after(Size(20), 400) == Calibration()
    assert Calibration().after(Size(40_000), 0) == Calibration()


@given(st.lists(st.tuples(SIZES, st.integers(0, 10_000_000)), max_size=20))
def test_no_counts_lead_out_of_the_bounds(replies: list[tuple[Size, int]]) -> None:
    calibration = Calibration()
    for size, counted in replies:
        calibration = calibration.after(size, counted)
    assert MIN_FACTOR <= calibration.narrow <= MAX_FACTOR
    assert MIN_FACTOR <= calibration.wide <= MAX_FACTOR


@given(st.text(max_size=200))
def test_the_scripts_of_a_text_add_up_to_its_estimate(text: str) -> None:
    assert size_of(text).tokens == estimate_tokens(text)
