"""What one request cost. Pure: the time of the request comes in, and so do the prices an operator has set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

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
) -> float | None:
    """The price of ONE request (a tier depends on its own prompt, so sum costs, not usages) sent at `when_s` (Unix).

    None when it is not known: no card, and no override of both the input and the output price.
    """
    rates = rates_in_force(card, usage.prompt_tokens, when_s, overrides)
    if rates is None:
        return None
    total = (
        usage.input_tokens * rates.input_usd
        + usage.output_tokens * rates.output_usd
        + usage.cache_read_tokens * rates.read_usd
        + (usage.cache_write_tokens - usage.cache_write_1h_tokens) * rates.write_usd("5m")
        + usage.cache_write_1h_tokens * rates.write_usd("1h")
    )
    return total / TOKENS_PER_PRICE


def without_cache(usage: Usage) -> Usage:
    """The same request at a provider that caches nothing."""
    return Usage(input_tokens=usage.prompt_tokens, output_tokens=usage.output_tokens)


def rates_in_force(
    card: ModelCard | None, prompt_tokens: int, when_s: float, overrides: PriceOverrides = NO_OVERRIDES
) -> Rates | None:
    """What a request of this size costs by the token at `when_s`; None where no price is known."""
    return _overridden(rates_of(card, prompt_tokens, when_s) if card else None, overrides)


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
    rates = replace(
        rates,
        input_usd=rates.input_usd if overrides.input_usd is None else overrides.input_usd,
        output_usd=rates.output_usd if overrides.output_usd is None else overrides.output_usd,
        cache_read_usd=rates.cache_read_usd if overrides.cache_read_usd is None else overrides.cache_read_usd,
    )
    if overrides.cache_write_usd is None:
        return rates
    return replace(rates, cache_write_usd=overrides.cache_write_usd, cache_write_1h_usd=overrides.cache_write_usd)
