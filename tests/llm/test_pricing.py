"""What one request cost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from live_memory.llm.base import Usage
from live_memory.llm.catalog import model_card
from live_memory.llm.pricing import PriceOverrides, cost_usd, without_cache
from live_memory.settings import Settings

HAIKU = model_card("anthropic", "claude-haiku-5-5")
FLASH = model_card("deepseek", "deepseek-v4-flash")
MILLION = 1_000_000


def at(day: int, clock: str) -> float:
    """A moment of the week that begins on Monday, 2026-11-30 (UTC)."""
    hour, minute = clock.split(":")
    return datetime(2026, 12, day, int(hour), int(minute), tzinfo=UTC).timestamp()


NOON = at(2, "12:00")


def test_each_kind_of_token_has_its_own_rate() -> None:
    usage = Usage(input_tokens=10_000, output_tokens=1_000, cache_read_tokens=50_000, cache_write_tokens=20_000)
    assert cost_usd(HAIKU, usage, NOON) == pytest.approx((10 * 0.1 + 1 * 0.5 + 50 * 0.01 + 20 * 0.125) / 1000)


def test_an_hour_long_cache_is_written_at_its_own_rate() -> None:
    usage = Usage(cache_write_tokens=10_000, cache_write_1h_tokens=8_000)
    assert cost_usd(HAIKU, usage, NOON) == pytest.approx((8 * 0.2 + 2 * 0.125) / 1000)


def test_above_the_tier_an_hour_long_cache_is_dearer_by_as_much_as_a_short_one() -> None:
    usage = Usage(cache_write_tokens=200_000, cache_write_1h_tokens=200_000)
    assert cost_usd(HAIKU, usage, NOON) == pytest.approx(200_000 * 1.0 / MILLION)


def test_without_a_cache_every_token_of_the_prompt_costs_as_input() -> None:
    usage = without_cache(Usage(1_000, 500, 50_000, 20_000))
    assert cost_usd(HAIKU, usage, NOON) == pytest.approx((71 * 0.1 + 0.5 * 0.5) / 1000)


@pytest.mark.parametrize(("prompt_tokens", "rate_usd"), [(100_000, 0.1), (100_001, 0.5)])
def test_a_prompt_above_the_tier_costs_its_whole_self_at_the_higher_rate(prompt_tokens: int, rate_usd: float) -> None:
    assert cost_usd(HAIKU, Usage(input_tokens=prompt_tokens), NOON) == pytest.approx(prompt_tokens * rate_usd / MILLION)


def test_what_fills_the_prompt_decides_the_tier_and_not_what_is_billed_in_full() -> None:
    usage = Usage(input_tokens=1_000, cache_read_tokens=150_000)
    assert cost_usd(HAIKU, usage, NOON) == pytest.approx((1 * 0.5 + 150 * 0.05) / 1000)


@pytest.mark.parametrize(
    ("when_s", "rate_usd"),
    [
        (at(1, "00:30"), 0.15),  # Tuesday: cheap 00-01, 04-06, 10-24
        (at(1, "01:00"), 0.3),
        (at(1, "03:59"), 0.3),
        (at(1, "04:00"), 0.15),
        (at(1, "06:00"), 0.3),
        (at(1, "23:59"), 0.15),
        (at(5, "02:00"), 0.15),  # Saturday: cheap all day
    ],
)
def test_off_peak_hours_are_those_of_utc(when_s: float, rate_usd: float) -> None:
    assert cost_usd(FLASH, Usage(input_tokens=MILLION), when_s) == pytest.approx(rate_usd)


def test_cached_tokens_cost_as_input_where_the_provider_names_no_other_rate() -> None:
    card = model_card("cerebras", "gpt-oss-120b")
    assert cost_usd(card, Usage(cache_read_tokens=MILLION), NOON) == pytest.approx(0.35)


def test_a_model_without_a_card_has_no_price() -> None:
    assert cost_usd(None, Usage(input_tokens=10), NOON) is None
    assert cost_usd(None, Usage(input_tokens=10), NOON, PriceOverrides(input_usd=1.0)) is None


def test_a_set_price_wins_over_the_table_and_stands_in_for_it() -> None:
    usage = Usage(input_tokens=MILLION, output_tokens=MILLION, cache_read_tokens=MILLION)
    assert cost_usd(HAIKU, Usage(output_tokens=1000), NOON, PriceOverrides(output_usd=3.0)) == pytest.approx(0.003)
    assert cost_usd(None, usage, NOON, PriceOverrides(input_usd=1.0, output_usd=2.0)) == pytest.approx(4.0)
    assert cost_usd(None, usage, NOON, PriceOverrides(1.0, 2.0, cache_read_usd=0.0)) == pytest.approx(3.0)


def test_the_set_prices_are_the_settings() -> None:
    settings = Settings(price_input_usd=1.0, price_cache_write_usd=0.0)
    assert PriceOverrides.from_settings(settings) == PriceOverrides(1.0, None, None, 0.0)
