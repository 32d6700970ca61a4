"""The tool loop: one question put to the model, with rounds of tool calls, until it answers or its time is up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from live_memory.agent.prompting import prompt_text
from live_memory.agent.seat import ModelSeat
from live_memory.agent.toolbelt import Toolbelt
from live_memory.agent.trees import TREE_RATIO
from live_memory.clock import Clock
from live_memory.llm.base import CacheLifetime, Completion, CompletionRequest, Model, PromptTooLong, Usage
from live_memory.llm.retry import complete_with_retry
from live_memory.text.calibration import Size
from live_memory.text.surrogates import whole_characters
from live_memory.text.tokens import truncate_to_tokens
from live_memory.window.budget import FLOOR_RATIO, Budget, first_entry_below
from live_memory.window.messages import Block, Prompt, Text, ToolResult, Turn
from live_memory.window.prompt import build_prompt, fixed_tokens, prefix_tokens, wide_tokens
from live_memory.window.rounds import Round, fit_rounds, turns_tokens
from live_memory.window.window import Window

logger = logging.getLogger(__name__)

FINAL_ASKS = 2  # a model that calls a tool when asked to finish is asked once more

# cut: at the answer's budget; refused: by the provider's policy; empty: no text in any reply.
Ending: TypeAlias = Literal["answered", "cut", "timed-out", "refused", "empty"]


@dataclass(frozen=True, slots=True)
class Brief:
    """What an inquiry is given: the fork of the window, the trailing turn, and its bounds. `deadline_s` and `finish_s` are
    instants: when it ends, and from when on the model is asked to finish."""

    window: Window
    trailing: Turn
    answer_tokens: int
    budget: Budget
    deadline_s: float
    finish_s: float
    max_rounds: int
    max_cost_usd: float
    cache_key: str
    cache_lifetime: CacheLifetime


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who is told: of progress, of each reply, and whether a text rests on something (asked once, of a first answer
    without any look-up; None where that does not matter)."""

    on_progress: Callable[[str], None]
    on_reply: Callable[[], None]
    rests_on_code: Callable[[str], Awaitable[bool]] | None


class Inquiry:
    """One question in flight. What it has come to so far can be read at any time, also after an error."""

    def __init__(self, brief: Brief, seat: ModelSeat, model: Model, toolbelt: Toolbelt, clock: Clock) -> None:
        self.usage = Usage()
        self.cost_usd: float | None = 0.0
        self.saved_usd = 0.0
        self.scripts: Size | None = None  # of the first prompt that was counted
        self.requests = 0
        self.window = brief.window
        self.budget = brief.budget
        self.too_long_tokens = 0  # the estimated size of a prompt that the provider found too long
        self.toolbelt = toolbelt
        self._brief = brief
        self._seat = seat
        self._model = model
        self._clock = clock
        self._trailing = brief.trailing
        self._rounds: tuple[Round, ...] = ()
        self._pieces: list[str] = []
        self._earlier_text = ""

    @property
    def text(self) -> str:
        """The best text so far: that of the latest reply, unless an earlier one said more."""
        return whole_characters(max("".join(self._pieces), self._earlier_text, key=len).strip())

    async def run(self, listeners: Listeners) -> Ending:
        """How it ended; `text` is then the answer. ModelError's children when the model cannot be asked (any more)."""
        try:
            async with asyncio.timeout(self._left_s()) as limit:
                return await self._converse(listeners)
        except TimeoutError:
            if not limit.expired():
                raise
            return "timed-out"

    async def _converse(self, listeners: Listeners) -> Ending:
        rests_on_code, final_asks = listeners.rests_on_code, 0
        while final_asks < FINAL_ASKS:
            if self._left_s() == 0:
                return "timed-out"
            if must_finish := self._must_finish():
                final_asks += 1
                self._add(Text(prompt_text("finish")))
            completion = await self._complete()
            listeners.on_reply()
            if completion.stop_reason == "refusal":
                return "refused"
            if completion.tool_calls:
                given = self._declined(completion) if must_finish else await self._use_tools(completion, listeners)
                self._append_round(completion, given)
            elif not completion.text.strip():
                final_asks += 1
                self._add(Text(prompt_text("empty_reply")))
            elif (
                rests_on_code
                and not must_finish
                and not self.toolbelt.calls
                and not await rests_on_code(completion.text)
            ):
                rests_on_code = None
                self._send_back(completion)
            else:
                self._earlier_text = ""  # the answer is the last reply, however long an earlier one was
                return "cut" if completion.stop_reason == "max_tokens" else "answered"
        return "answered" if self.text else "empty"

    def _must_finish(self) -> bool:
        brief = self._brief
        is_spent = (self.cost_usd or 0.0) >= brief.max_cost_usd
        return is_spent or len(self._rounds) >= brief.max_rounds or self._clock.monotonic_s() >= brief.finish_s

    def _left_s(self) -> float:
        return max(0.0, self._brief.deadline_s - self._clock.monotonic_s())

    async def _complete(self) -> Completion:
        prompt = self._prompt()
        try:
            return await self._send(prompt)
        except PromptTooLong:
            logger.info("prompt too long model=%s", self._model.name)
            self._shorten(prompt)
        return await self._send(self._prompt())

    async def _send(self, prompt: Prompt) -> Completion:
        self._keep_text()
        sent_s = self._clock.wall_s()
        brief = self._brief
        request = CompletionRequest(prompt, brief.answer_tokens, self._left_s(), brief.cache_key, brief.cache_lifetime)
        completion = await complete_with_retry(
            self._model,
            request,
            self._brief.deadline_s,
            self._clock,
            self._pieces.append,
            on_restart=self._keep_text,
            backoff=self._seat.backoff,
        )
        self._pieces[:] = [completion.text]
        self._learn(prompt, completion.usage)
        self._charge(completion, sent_s)
        return completion

    def _learn(self, prompt: Prompt, usage: Usage) -> None:
        """Compare the estimate of the question's first prompt with what the provider counted."""
        if self.scripts is not None:
            return
        sent = prefix_tokens(prompt_text("system"), self.window, prompt.tools) + turns_tokens(
            prompt.turns[prompt.prefix_turns :]
        )
        wide = wide_tokens(self.window, prompt)
        self.scripts = Size(max(0, sent - wide), wide)
        self._seat.calibration = self._seat.calibration.after(self.scripts, usage.prompt_tokens)

    def _charge(self, completion: Completion, sent_s: float) -> None:
        usage = completion.usage
        cost_usd = self._seat.cost_usd(usage, sent_s)
        self.saved_usd += self._seat.saved_usd(usage, sent_s)
        self.requests += 1
        self.usage += usage
        self.cost_usd = None if cost_usd is None or self.cost_usd is None else self.cost_usd + cost_usd
        logger.info(
            "completion model=%s prompt_tokens=%d cached_tokens=%d output_tokens=%d cost_usd=%s stop=%s",
            self._model.name,
            usage.prompt_tokens,
            usage.cache_read_tokens,
            usage.output_tokens,
            "n/a" if cost_usd is None else f"{cost_usd:.6f}",
            completion.stop_reason,
        )

    def _prompt(self) -> Prompt:
        self._rounds = fit_rounds(self._rounds, self._room_tokens())
        in_flight = (self._trailing, *(turn for each in self._rounds for turn in each.turns))
        return build_prompt(prompt_text("system"), self.window, self.toolbelt.explorers.specs, in_flight)

    def _room_tokens(self) -> int:
        """What the prompt has left for rounds."""
        prefix = prefix_tokens(prompt_text("system"), self.window, self.toolbelt.explorers.specs)
        return self.budget.max_tokens - prefix - turns_tokens((self._trailing,))

    def _shorten(self, prompt: Prompt) -> None:
        """Below the size that was too long: the oldest history goes in one batch, then the tree and old rounds shrink."""
        specs = self.toolbelt.explorers.specs
        sent_tokens = prefix_tokens(prompt_text("system"), self.window, specs) + turns_tokens(
            prompt.turns[prompt.prefix_turns :]
        )
        self.too_long_tokens = sent_tokens
        self.budget = Budget(int(sent_tokens * FLOOR_RATIO))
        tree = truncate_to_tokens(self.window.tree, int(self.budget.max_tokens * TREE_RATIO))
        self.window = replace(self.window, tree=tree)
        fixed = fixed_tokens(prompt_text("system"), self.window, specs) + turns_tokens((self._trailing,))
        first = first_entry_below(self.window, self.budget.max_tokens // 2 - fixed)
        if first is not None:
            self.window = self.window.without_before(first)

    async def _use_tools(self, completion: Completion, listeners: Listeners) -> Turn:
        calls = completion.tool_calls
        names = ", ".join(dict.fromkeys(call.name for call in calls))
        listeners.on_progress(f"Round {len(self._rounds) + 1}: {names}")
        left_s = self._brief.finish_s - self._clock.monotonic_s()
        return Turn("user", await self.toolbelt.run(calls, left_s, self._room_tokens() // 2))

    def _declined(self, completion: Completion) -> Turn:
        late = "Not run: the time for tool calls is over."
        return Turn("user", tuple(ToolResult(call.id, late, is_error=True) for call in completion.tool_calls))

    def _send_back(self, completion: Completion) -> None:
        self._append_round(completion, Turn("user", (Text(prompt_text("look_first")),)))

    def _append_round(self, completion: Completion, given: Turn) -> None:
        said = (Text(completion.text),) if completion.text.strip() else ()
        self._rounds = (*self._rounds, Round(Turn("assistant", (*said, *completion.tool_calls)), given))

    def _add(self, block: Block) -> None:
        """Put a word to the model at the very end: only messages change, never what stands before them."""
        if not self._rounds:
            self._trailing = replace(self._trailing, blocks=(*self._trailing.blocks, block))
            return
        last = self._rounds[-1]
        given = replace(last.given, blocks=(*last.given.blocks, block))
        self._rounds = (*self._rounds[:-1], replace(last, given=given))

    def _keep_text(self) -> None:
        self._earlier_text = self.text
        self._pieces.clear()
