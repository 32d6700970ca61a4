"""Asking a model for one JSON object: the shape forced where the provider can, one repair of a reply out of shape, the
account."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from live_memory.agent.seat import Scribe
from live_memory.clock import Clock
from live_memory.llm.base import BadReply, CompletionRequest, Purpose
from live_memory.llm.retry import complete_with_retry
from live_memory.store.base import Account
from live_memory.window.messages import Prompt, Text
from live_memory.window.messages import Turn as Message

REPLY_MAX_TOKENS = 4096
TIMEOUT_S = 120.0  # of one prompt, its retries and its repair included
PROBLEM_CHARS = 300

Shape = TypeVar("Shape")


class BadShape(ValueError):
    """A reply that does not hold what was asked for; the text says what is wrong with it."""


class NoProposal(BadReply):
    """The model answered, and made nothing of it: it refused, or wrote something else, twice."""


class TooMuch(Exception):
    """There is more than one reply can tell."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How requests are made: what for, in which shape, with which words for a repair ({problem} stands for what is wrong)."""

    purpose: Purpose
    cache_key: str
    schema: Mapping[str, object]
    repair: str


class Asking:
    """Puts prompts to a model. `account` is what that took so far."""

    def __init__(self, scribe: Scribe, clock: Clock, manner: Manner) -> None:
        self._scribe = scribe
        self._clock = clock
        self._manner = manner
        self.account = Account()

    async def ask(self, prompt: Prompt, parse: Callable[[str], Shape]) -> Shape:
        """What `parse` makes of the reply (it raises BadShape). TooMuch, NoProposal and other ModelErrors; PromptTooLong where
        the prompt does not fit."""
        deadline_s = self._clock.monotonic_s() + TIMEOUT_S
        reply = await self._reply(prompt, deadline_s)
        try:
            return parse(reply)
        except BadShape as problem:
            asked = Message("user", (Text(self._manner.repair.replace("{problem}", str(problem))),))
            said = Message("assistant", (Text(reply or "(nothing)"),))
            again = Prompt(prompt.system, (*prompt.turns, said, asked), (), 0)
        try:
            return parse(await self._reply(again, deadline_s))
        except BadShape as problem:
            raise NoProposal(f"The model {self._scribe.model.name} wrote nothing in shape: {problem}.") from problem

    async def _reply(self, prompt: Prompt, deadline_s: float) -> str:
        request = CompletionRequest(
            prompt,
            REPLY_MAX_TOKENS,
            max(0.0, deadline_s - self._clock.monotonic_s()),
            self._manner.cache_key,
            purpose=self._manner.purpose,
            json_schema=self._manner.schema,
        )
        sent_s = self._clock.wall_s()
        completion = await complete_with_retry(
            self._scribe.model, request, deadline_s, self._clock, _unheard, backoff=self._scribe.backoff
        )
        self.account += self._scribe.account(completion.usage, sent_s)
        if completion.stop_reason == "max_tokens":
            raise TooMuch
        if completion.stop_reason == "refusal":
            raise NoProposal(f"The model {self._scribe.model.name} refused.")
        return completion.text


def one_prompt(instructions: str, texts: Sequence[str]) -> Prompt:
    """Instructions, which are the same each time, and what they are about."""
    return Prompt((instructions,), (Message("user", tuple(map(Text, texts))),), (), 0)


def object_in(text: str) -> Mapping[str, Any]:
    """The JSON object in a reply, whatever stands around it. BadShape."""
    start = text.find("{")
    if start < 0:
        raise BadShape("it holds no JSON object")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise BadShape(f"its JSON is broken ({error})"[:PROBLEM_CHARS]) from error
    if not isinstance(value, dict):
        raise BadShape("it holds no JSON object")
    return value


def closed(properties: Mapping[str, object]) -> dict[str, object]:
    """The schema of an object of these members and no other."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _unheard(_piece: str) -> None:
    """Nobody reads a proposal while it is written."""
