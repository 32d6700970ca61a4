"""What is known of each model: its context, its cacheable minimum, its prices. Read from models.json, once.

Nothing here is guessed: a model that the file does not hold has no card.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from live_memory.llm.base import CacheLifetime

MODELS_FILE = Path(__file__).with_name("models.json")
UNKNOWN_CONTEXT_TOKENS = 64_000  # for a model without a card: most serve at least this; `max_context_tokens` wins
MAKERS = ("anthropic", "openai", "gemini", "deepseek", "mistral", "xai", "moonshot", "zai")
VENDOR_NAMES = {"google": "gemini", "x-ai": "xai", "mistralai": "mistral", "moonshotai": "moonshot", "z-ai": "zai"}
DATE_SUFFIX = re.compile(r"[-@:](?:latest|free|\d{8}|\d{4}-\d{2}-\d{2}|\d{4})$")
VERSION_DOT = re.compile(r"(?<=\d)\.(?=\d)")


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per million tokens; a cache rate is None where the provider names none (the tokens then cost as input)."""

    input_usd: float
    output_usd: float
    cache_read_usd: float | None = None
    cache_write_usd: float | None = None
    cache_write_1h_usd: float | None = None

    @property
    def read_usd(self) -> float:
        return self.input_usd if self.cache_read_usd is None else self.cache_read_usd

    def write_usd(self, lifetime: CacheLifetime) -> float:
        """The rate at which a cache of that lifetime is written."""
        if lifetime == "1h" and self.cache_write_1h_usd is not None:
            return self.cache_write_1h_usd
        return self.input_usd if self.cache_write_usd is None else self.cache_write_usd


@dataclass(frozen=True, slots=True)
class Tier:
    """The rates of a request whose prompt is larger than `above_prompt_tokens`."""

    above_prompt_tokens: int
    rates: Rates


@dataclass(frozen=True, slots=True)
class CheapHours:
    """When `rates` hold: minutes of the UTC day, from (inclusive) to (exclusive), on ISO weekdays (Monday is 1)."""

    weekdays: frozenset[int]
    minutes_utc: tuple[tuple[int, int], ...]
    rates: Rates


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model at one provider. `cache_min_tokens` is the shortest prefix the provider caches, 0 where it names none."""

    provider: str
    name: str
    context_tokens: int
    max_output_tokens: int
    cache_min_tokens: int
    rates: Rates
    tiers: tuple[Tier, ...] = ()
    cheap_hours: tuple[CheapHours, ...] = ()


def model_card(provider: str, model: str) -> ModelCard | None:
    """The card of `model`, None when there is none.

    `provider` is a Choice's; the name may carry a vendor's prefix (`google/gemini-…`), a date or `-latest`, and a dot
    or a dash in its version. At a gateway the card is the maker's own: its list price, which a gateway mostly keeps.
    """
    vendor, _, bare = model.lower().rpartition("/")
    vendor = VENDOR_NAMES.get(vendor.rpartition("/")[2], vendor.rpartition("/")[2])
    hosts = (provider, vendor, *MAKERS) if provider not in MAKERS else (provider, vendor)
    for name in _spellings(model.lower(), bare):
        for host in hosts:
            if found := _cards().get(f"{host}/{name}"):
                return found
    return None


def has_model(provider: str, model: str) -> bool:
    """Whether `provider` itself is known to serve `model` (a date, `-latest` or a dot in the version aside)."""
    return any(f"{provider}/{name}" in _cards() for name in _spellings(model.lower()))


def usable_context_tokens(card: ModelCard | None, output_tokens: int) -> int:
    """How large a prompt may be: the context less the answer's budget, and no larger than the cheapest price tier."""
    if card is None:
        return UNKNOWN_CONTEXT_TOKENS - output_tokens
    return min([card.context_tokens - output_tokens, *(tier.above_prompt_tokens for tier in card.tiers)])


def _spellings(*names: str) -> list[str]:
    """The names as they stand, then without date suffixes, then with version dots as dashes; each once."""
    undated = []
    for name in names:
        shorter = name
        while (cut := DATE_SUFFIX.sub("", shorter)) != shorter:
            shorter = cut
        undated.append(shorter)
    spelled = [*names, *undated]
    return list(dict.fromkeys([*spelled, *(VERSION_DOT.sub("-", name) for name in spelled)]))


@cache
def _cards() -> Mapping[str, ModelCard]:
    content = json.loads(MODELS_FILE.read_text(encoding="utf-8"))
    return {key: _card(key, row) for key, row in content["models"].items()}


def _card(key: str, row: Mapping[str, Any]) -> ModelCard:
    off_peak = row.get("off_peak")
    return ModelCard(
        provider=row["provider"],
        name=key.partition("/")[2],
        context_tokens=row["context_tokens"],
        max_output_tokens=row["max_output_tokens"],
        cache_min_tokens=row.get("cache_min_tokens", 0),
        rates=_rates(row),
        tiers=tuple(
            Tier(int(above), _rates({**row, **_in_proportion(row, changed)}))
            for above, changed in sorted(row.get("above_prompt_tokens", {}).items(), key=lambda item: int(item[0]))
        ),
        cheap_hours=tuple(_cheap_hours(window, _rates({**row, **off_peak})) for window in off_peak["windows_utc"])
        if off_peak
        else (),
    )


def _rates(row: Mapping[str, Any]) -> Rates:
    return Rates(row["input"], row["output"], row.get("cache_read"), row.get("cache_write"), row.get("cache_write_1h"))


def _in_proportion(row: Mapping[str, Any], changed: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tier's changes; one that names no rate for an hour's cache changes it as much as that for five minutes'."""
    if "cache_write_1h" not in row or "cache_write_1h" in changed or "cache_write" not in changed:
        return changed
    return {**changed, "cache_write_1h": row["cache_write_1h"] * changed["cache_write"] / row["cache_write"]}


def _cheap_hours(window: Mapping[str, Any], rates: Rates) -> CheapHours:
    spans = window["hours_utc"]
    spans = [spans] if isinstance(spans, str) else spans
    return CheapHours(frozenset(window["weekdays"]), tuple(_span(span) for span in spans), rates)


def _span(text: str) -> tuple[int, int]:
    """`HH:MM-HH:MM` as minutes of the day; an end of 00:00 is the day's end."""
    start, end = (int(clock[:2]) * 60 + int(clock[3:]) for clock in text.split("-"))
    return start, end or 24 * 60
