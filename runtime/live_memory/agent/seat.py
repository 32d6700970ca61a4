"""The model in force: which one, why, what it may be sent, what it costs; or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from live_memory.configuration import Configuration
from live_memory.errors import ConfigError
from live_memory.llm.base import Model, Usage
from live_memory.llm.catalog import ModelCard, model_card, usable_context_tokens
from live_memory.llm.choice import Choice
from live_memory.llm.pricing import PriceOverrides, cost_usd, without_cache
from live_memory.llm.retry import DEFAULT_BACKOFF, Backoff
from live_memory.llm.trace import traced
from live_memory.settings import Settings
from live_memory.store.base import Account
from live_memory.text.calibration import Calibration, Size
from live_memory.window.budget import Budget

MIN_ANSWER_TOKENS = 256
MAX_ANSWER_TOKENS = 16384
MIN_PROMPT_TOKENS = 1024  # however small the context is said to be
FACTS_MAX_TOKENS = 2048  # of one summary
NO_TEXT = Size(0)


@dataclass(frozen=True, slots=True)
class Models:
    """The model port's makers, as wiring gives them. Both raise ConfigError; `choose` may read Claude Code's login."""

    choose: Callable[[Configuration, float], Choice]
    connect: Callable[[Choice], Model]
    absence: str | None = None  # why no model can be used at all
    backoff: Backoff = DEFAULT_BACKOFF


@dataclass(frozen=True, slots=True)
class Scribe:
    """The model that writes summaries, how large its prompts may be, and what one of its requests costs."""

    model: Model
    max_prompt_tokens: int
    cost_usd: Callable[[Usage, float], float | None]
    is_on_subscription: bool
    backoff: Backoff

    def account(self, usage: Usage, when_s: float) -> Account:
        """One request in the books; no question of anybody's."""
        cost_usd = self.cost_usd(usage, when_s)
        unpriced = int(cost_usd is None and not self.is_on_subscription)
        return Account(requests=1, usage=usage, cost_usd=cost_usd or 0.0, unpriced=unpriced)


@dataclass(slots=True)
class ModelSeat:
    """A choice and its model, None where passages answer, because of `why`. `users` are the questions at work with it;
    `proven_tokens` is below the smallest prompt that the provider found too long, 0 while it found none; `summary` is
    the model of the setting summary_model, None where the one that answers writes summaries too; `named` are other models
    of the same provider, by name."""

    choice: Choice
    why: str
    model: Model | None
    settings: Settings
    card: ModelCard | None
    backoff: Backoff
    users: int = 0
    proven_tokens: int = 0
    calibration: Calibration = field(default_factory=Calibration)
    summary: Scribe | None = None
    named: dict[str, Scribe] = field(default_factory=dict)

    @property
    def is_on_subscription(self) -> bool:
        return self.choice.auth == "subscription"

    async def close(self) -> None:
        """Close the models."""
        scribes = (*self.named.values(), *((self.summary,) if self.summary else ()))
        for model in (self.model, *(scribe.model for scribe in scribes)):
            if model is not None:
                await model.close()

    def answer_tokens(self, wished: int) -> int:
        """The answer's budget: what the caller wished, else the setting, within what is allowed and the model can."""
        tokens = min(max(wished or self.settings.max_answer_tokens, MIN_ANSWER_TOKENS), MAX_ANSWER_TOKENS)
        return min(tokens, self.card.max_output_tokens) if self.card and self.card.max_output_tokens else tokens

    def budget(self, answer_tokens: int, scripts: Size = NO_TEXT) -> Budget:
        """How large a prompt may be, in estimated tokens, when its answer may take `answer_tokens`. `scripts` is what
        earlier prompts consisted of: the estimate is off by different amounts for each."""
        if self.settings.max_context_tokens:
            tokens = self.settings.max_context_tokens - answer_tokens
        else:
            tokens = usable_context_tokens(self.card, answer_tokens)
        tokens = int(tokens / self.calibration.ratio(scripts))
        if self.proven_tokens:
            tokens = min(tokens, self.proven_tokens)
        settings = self.settings
        return Budget(max(tokens, MIN_PROMPT_TOKENS), settings.compaction_threshold, settings.compaction_floor)

    def scribe(self, model: Model) -> Scribe:
        """Who writes summaries while `model` answers."""
        if self.summary is not None:
            return self.summary
        max_tokens = self.budget(FACTS_MAX_TOKENS).max_tokens
        return Scribe(model, max_tokens, self.cost_usd, self.is_on_subscription, self.backoff)

    def counted(self, estimated_tokens: int, scripts: Size = NO_TEXT) -> int:
        """Estimated tokens as this model is going to count them."""
        return round(estimated_tokens * self.calibration.ratio(scripts))

    def saved_usd(self, usage: Usage, when_s: float) -> float:
        """How much more the request would have cost without any cache; 0 where no price is known."""
        cost_usd, whole_usd = self.cost_usd(usage, when_s), self.cost_usd(without_cache(usage), when_s)
        return 0.0 if cost_usd is None or whole_usd is None else whole_usd - cost_usd

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
            model = traced(models.connect(choice), configuration.settings.trace_prompts)
        else:
            why = models.absence
    card = model_card(choice.provider, choice.model) if choice.model else None
    seat = ModelSeat(choice, why, model, configuration.settings, card, models.backoff)
    name = configuration.settings.summary_model
    if model is not None and name and name != choice.model:
        seat.summary = _connected(name, models, seat)
    return seat


def scribe_named(name: str, models: Models, seat: ModelSeat) -> Scribe:
    """The scribe of that model of the seat's provider, kept with the seat; where none is named, who writes its summaries.
    The seat has a model. ConfigError."""
    assert seat.model is not None
    if not name or name == seat.choice.model:
        return seat.scribe(seat.model)
    if name not in seat.named:
        seat.named[name] = _connected(name, models, seat)
    return seat.named[name]


def _connected(name: str, models: Models, seat: ModelSeat) -> Scribe:
    """Another model of the same provider, for summaries."""
    choice = replace(seat.choice, model=name)
    card = model_card(choice.provider, name)

    def price_usd(usage: Usage, when_s: float) -> float | None:
        return None if seat.is_on_subscription else cost_usd(card, usage, when_s)

    max_tokens = max(usable_context_tokens(card, FACTS_MAX_TOKENS), MIN_PROMPT_TOKENS)
    model = traced(models.connect(choice), seat.settings.trace_prompts)
    return Scribe(model, max_tokens, price_usd, seat.is_on_subscription, models.backoff)


def seat_or_passages(models: Models, configuration: Configuration, now_s: float) -> ModelSeat:
    """As `take_seat`, but what is wrong with the settings becomes the reason why passages answer."""
    try:
        return take_seat(models, configuration, now_s)
    except ConfigError as error:
        why = f"the settings do not allow it: {error}"
        return ModelSeat(Choice("passages", why), why, None, configuration.settings, None, models.backoff)
