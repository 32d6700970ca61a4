"""How long a workspace's prefix should be kept by the provider, by the rhythm of its questions. Pure arithmetic.

An hour's cache costs more to write and is written less often. Which is cheaper depends on how long the pauses between
questions are, so the pauses decide: what the last ones would have cost either way, at the model's own rates.
"""

from __future__ import annotations

from collections.abc import Sequence

from live_memory.llm.base import CacheLifetime
from live_memory.llm.catalog import ModelCard

LIFETIME_S: dict[CacheLifetime, float] = {"5m": 300.0, "1h": 3600.0}
DISK_CACHE_S = {"deepseek": 6 * 3600.0}  # kept on disk for hours to days; this much is safe to say
MIN_PAUSES = 3  # before that many are known, the short lifetime is taken
MAX_PAUSES = 16  # older ones say little about now


def cheaper_lifetime(card: ModelCard | None, pauses_s: Sequence[float]) -> CacheLifetime:
    """The lifetime under which questions after pauses like these cost less; the short one where no price is known, where
    there is no other, and where it makes no difference."""
    if card is None or card.rates.cache_write_1h_usd is None or len(pauses_s) < MIN_PAUSES:
        return "5m"
    return "1h" if prefix_usd(card, pauses_s, "1h") < prefix_usd(card, pauses_s, "5m") else "5m"


def prefix_usd(card: ModelCard, pauses_s: Sequence[float], lifetime: CacheLifetime) -> float:
    """What a million tokens of prefix cost over questions with these pauses before them: read when the pause was shorter
    than the lifetime, else written again."""
    kept = sum(pause_s < LIFETIME_S[lifetime] for pause_s in pauses_s)
    return kept * card.rates.read_usd + (len(pauses_s) - kept) * card.rates.write_usd(lifetime)


def kept_s(provider: str, lifetime: CacheLifetime) -> float:
    """How long after its last use the provider keeps a prefix that was sent with this lifetime."""
    return DISK_CACHE_S.get(provider, LIFETIME_S[lifetime])
