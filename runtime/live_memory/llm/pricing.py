"""What one request cost. Pure: the time of the request comes in, and so do the prices an operator has set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from live_memory.llm.base import Usage
from live_memory.llm.catalog import ModelCard, Rates
from live_memory.settings import Settings

TOKENS_PER_PRICE = 1_000_000


@dataclass(frozen=True, slots=True)
class PriceOverrides:
    """The `price_*_usd` settings: each, where set, wins over the price table."""

    input_usd: float | None = None
    output_usd: float | None = None
    cache_read_usd: float | None = None
    cache_write_usd: float | None = None

    @classmethod
    def from_settings(cls, settings: Settings) -> PriceOverrides:
        return cls(
            settings.price_input_usd,
            settings.price_output_usd,
            settings.price_cache_read_usd,
            settings.price_cache_write_usd,
        )


NO_OVERRIDES = PriceOverrides()


def cost_usd(
    card: ModelCard | None,
    usage: Usage,
    when_s: float,
    overrides: PriceOverrides = NO_OVERRIDES,
    *,
    cache_lifetime: Literal["5m", "1h"] = "5m",
) -> float | None:
    """The price of ONE request (a tier depends on its own prompt, so sum costs, not usages) sent at `when_s` (Unix).

    None when it is not known: no card, and no override of both the input and the output price.
    """
    rates = _overridden(rates_of(card, usage.prompt_tokens, when_s) if card else None, overrides)
    if rates is None:
        return None
    write_usd = rates.cache_write_usd
    if cache_lifetime == "1h" and overrides.cache_write_usd is None:
        write_usd = rates.cache_write_1h_usd if rates.cache_write_1h_usd is not None else write_usd
    total = (
        usage.input_tokens * rates.input_usd
        + usage.output_tokens * rates.output_usd
        + usage.cache_read_tokens * _or(rates.cache_read_usd, rates.input_usd)
        + usage.cache_write_tokens * _or(write_usd, rates.input_usd)
    )
    return total / TOKENS_PER_PRICE


def rates_of(card: ModelCard, prompt_tokens: int, when_s: float) -> Rates:
    """The rates in force: those of the highest tier the prompt is above, else those of the hour, else the plain ones."""
    for tier in reversed(card.tiers):
        if prompt_tokens > tier.above_prompt_tokens:
            return tier.rates
    now = datetime.fromtimestamp(when_s, UTC)
    minute = now.hour * 60 + now.minute
    for hours in card.cheap_hours:
        if now.isoweekday() in hours.weekdays and any(start <= minute < end for start, end in hours.minutes_utc):
            return hours.rates
    return card.rates


def _overridden(rates: Rates | None, overrides: PriceOverrides) -> Rates | None:
    if rates is None:
        if overrides.input_usd is None or overrides.output_usd is None:
            return None
        rates = Rates(overrides.input_usd, overrides.output_usd)
    return replace(
        rates,
        input_usd=_or(overrides.input_usd, rates.input_usd),
        output_usd=_or(overrides.output_usd, rates.output_usd),
        cache_read_usd=overrides.cache_read_usd if overrides.cache_read_usd is not None else rates.cache_read_usd,
        cache_write_usd=overrides.cache_write_usd if overrides.cache_write_usd is not None else rates.cache_write_usd,
    )


def _or(value: float | None, fallback: float) -> float:
    return fallback if value is None else value
