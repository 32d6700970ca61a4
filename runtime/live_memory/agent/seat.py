"""The model in force: which one, why, what it may be sent, what it costs; or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from live_memory.errors import ConfigError
from live_memory.llm.base import Model, Usage
from live_memory.llm.catalog import ModelCard, model_card, usable_context_tokens
from live_memory.llm.choice import Choice
from live_memory.llm.pricing import PriceOverrides, cost_usd
from live_memory.llm.retry import DEFAULT_BACKOFF, Backoff
from live_memory.settings import Configuration, Settings
from live_memory.window.budget import Budget

MIN_ANSWER_TOKENS = 256
MAX_ANSWER_TOKENS = 16384
MIN_PROMPT_TOKENS = 1024  # however small the context is said to be


@dataclass(frozen=True, slots=True)
class Models:
    """The model port's makers, as wiring gives them. Both raise ConfigError; `choose` may read Claude Code's login."""

    choose: Callable[[Configuration, float], Choice]
    connect: Callable[[Choice], Model]
    absence: str | None = None  # why no model can be used at all
    backoff: Backoff = DEFAULT_BACKOFF


@dataclass(slots=True)
class ModelSeat:
    """A choice and its model, None where passages answer, because of `why`. `users` are the questions at work with it;
    `proven_tokens` is below the smallest prompt that the provider found too long, 0 while it found none."""

    choice: Choice
    why: str
    model: Model | None
    settings: Settings
    card: ModelCard | None
    backoff: Backoff
    users: int = 0
    proven_tokens: int = 0

    @property
    def is_on_subscription(self) -> bool:
        return self.choice.auth == "subscription"

    def answer_tokens(self, wished: int) -> int:
        """The answer's budget: what the caller wished, else the setting, within what is allowed and the model can."""
        tokens = min(max(wished or self.settings.max_answer_tokens, MIN_ANSWER_TOKENS), MAX_ANSWER_TOKENS)
        return min(tokens, self.card.max_output_tokens) if self.card and self.card.max_output_tokens else tokens

    def budget(self, answer_tokens: int) -> Budget:
        """How large a prompt may be when its answer may take `answer_tokens`."""
        if self.settings.max_context_tokens:
            tokens = self.settings.max_context_tokens - answer_tokens
        else:
            tokens = usable_context_tokens(self.card, answer_tokens)
        if self.proven_tokens:
            tokens = min(tokens, self.proven_tokens)
        return Budget(max(tokens, MIN_PROMPT_TOKENS))

    def cost_usd(self, usage: Usage, when_s: float) -> float | None:
        """The price of one request; None where it is not known, or nothing is billed by tokens."""
        if self.is_on_subscription:
            return None
        return cost_usd(self.card, usage, when_s, PriceOverrides.from_settings(self.settings))


def take_seat(models: Models, configuration: Configuration, now_s: float) -> ModelSeat:
    """The seat for `configuration`; ConfigError when its settings name a provider that cannot be reached as set."""
    choice = models.choose(configuration, now_s)
    why, model = choice.why, None
    if choice.kind != "passages":
        if models.absence is None:
            model = models.connect(choice)
        else:
            why = models.absence
    card = model_card(choice.provider, choice.model) if choice.model else None
    return ModelSeat(choice, why, model, configuration.settings, card, models.backoff)


def seat_or_passages(models: Models, configuration: Configuration, now_s: float) -> ModelSeat:
    """As `take_seat`, but what is wrong with the settings becomes the reason why passages answer."""
    try:
        return take_seat(models, configuration, now_s)
    except ConfigError as error:
        why = f"the settings do not allow it: {error}"
        return ModelSeat(Choice("passages", why), why, None, configuration.settings, None, models.backoff)
