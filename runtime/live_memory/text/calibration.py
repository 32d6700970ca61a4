"""How far a model's own count of tokens is from the estimate, learned from the usage of its replies. Pure.

Narrow text (four characters a token) and wide text (Chinese, Japanese, Korean: one) are off by different amounts, so
they are told apart. A server starts from the plain estimate: one reply teaches it most of what there is to know.
"""

from __future__ import annotations

from dataclasses import dataclass

LEARNING_RATE = 0.5  # of the error that a reply takes away: half of it, so that one odd count does little harm
MIN_FACTOR, MAX_FACTOR = 0.4, 3.0  # no tokenizer in use is further from the estimate
MIN_TOKENS = 200  # a shorter prompt is mostly what the provider adds of its own


@dataclass(frozen=True, slots=True)
class Size:
    """A text's estimated tokens by script."""

    narrow_tokens: int
    wide_tokens: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.narrow_tokens + other.narrow_tokens, self.wide_tokens + other.wide_tokens)

    @property
    def tokens(self) -> int:
        return self.narrow_tokens + self.wide_tokens


@dataclass(frozen=True, slots=True)
class Calibration:
    """Factors from estimated to counted tokens, of one model."""

    narrow: float = 1.0
    wide: float = 1.0

    def after(self, size: Size, counted_tokens: int) -> Calibration:
        """What is known once a prompt of `size` was counted: the normalised least-mean-squares step (Widrow and Hoff)."""
        if size.tokens < MIN_TOKENS or counted_tokens <= 0:
            return self
        missed = counted_tokens - self.counted(size)
        power = size.narrow_tokens**2 + size.wide_tokens**2
        step = LEARNING_RATE * missed / power
        return Calibration(
            _within(self.narrow + step * size.narrow_tokens), _within(self.wide + step * size.wide_tokens)
        )

    def counted(self, size: Size) -> float:
        """How many tokens the model is going to count."""
        return self.narrow * size.narrow_tokens + self.wide * size.wide_tokens

    def ratio(self, size: Size) -> float:
        """Counted for estimated tokens, in a text with the scripts of `size`."""
        return self.counted(size) / size.tokens if size.tokens else self.narrow


def _within(factor: float) -> float:
    return min(max(factor, MIN_FACTOR), MAX_FACTOR)
