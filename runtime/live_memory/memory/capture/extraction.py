"""Asking a model what is worth keeping of a part of a session: the prompt, one repair of a reply out of shape, the account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from live_memory.agent.seat import Scribe
from live_memory.clock import Clock
from live_memory.llm.base import BadReply, CompletionRequest
from live_memory.llm.retry import complete_with_retry
from live_memory.memory.capture.proposal import SCHEMA, BadShape, Proposal, parse_proposal
from live_memory.memory.turns import Turn
from live_memory.notes.note import Note
from live_memory.store.base import Account
from live_memory.text.fencing import fenced, one_line
from live_memory.window.messages import Prompt, Text
from live_memory.window.messages import Turn as Message

REPLY_MAX_TOKENS = 4096
TIMEOUT_S = 120.0  # of one part, its retries included
FOLDER = Path(__file__).with_name("prompts")
TURN_TAG = "turn"  # one tag for all speakers: what is defused in one turn cannot open another's
PromptName: TypeAlias = Literal["extract", "shape", "repair"]


class NoProposal(BadReply):
    """The model answered, and made nothing of the part: it refused, or wrote something else, twice."""


class TooMuch(Exception):
    """The part holds more than one reply can tell."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the model is told beside the part: notes that are kept already, and the session's account so far (JSON)."""

    notes: Sequence[Note] = ()
    account: str = ""


@cache
def prompt_text(name: PromptName) -> str:
    """The text of prompts/`name`.md."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


def rendered(turns: Sequence[Turn]) -> str:
    """The part as a model reads it: each turn in a fence that names its speaker."""
    return "\n".join(fenced(TURN_TAG, turn.text, by=turn.speaker) for turn in turns)


def prompt_of(turns: Sequence[Turn], known: Known) -> Prompt:
    """The whole prompt; of it, the instructions are the same for all parts of all sessions."""
    lines = "\n".join(f"- {one_line(note.title)}: {one_line(note.description)}".rstrip(": ") for note in known.notes)
    blocks = (
        Text("Kept already:\n\n" + (fenced("kept", lines) if lines else "(nothing yet)")),
        Text("The account so far:\n\n" + (fenced("account", known.account) if known.account else "(none yet)")),
        Text("The part of the session:\n\n" + rendered(turns)),
    )
    instructions = f"{prompt_text('extract')}\n\n{prompt_text('shape')}"
    return Prompt((instructions,), (Message("user", blocks),), (), 0)


class Extraction:
    """Puts parts to a model. `account` is what that took so far."""

    def __init__(self, scribe: Scribe, clock: Clock, cache_key: str) -> None:
        self._scribe = scribe
        self._clock = clock
        self._cache_key = cache_key
        self.account = Account()

    async def propose(self, turns: Sequence[Turn], known: Known) -> Proposal:
        """What the model would keep. TooMuch, NoProposal and other ModelErrors; PromptTooLong where the part does not fit."""
        deadline_s = self._clock.monotonic_s() + TIMEOUT_S
        prompt = prompt_of(turns, known)
        reply = await self._reply(prompt, deadline_s)
        try:
            return parse_proposal(reply)
        except BadShape as problem:
            asked = Message("user", (Text(prompt_text("repair").replace("{problem}", str(problem))),))
            said = Message("assistant", (Text(reply or "(nothing)"),))
            again = Prompt(prompt.system, (*prompt.turns, said, asked), (), 0)
        try:
            return parse_proposal(await self._reply(again, deadline_s))
        except BadShape as problem:
            raise NoProposal(f"The model {self._scribe.model.name} wrote no notes in shape: {problem}.") from problem

    async def _reply(self, prompt: Prompt, deadline_s: float) -> str:
        request = CompletionRequest(
            prompt,
            REPLY_MAX_TOKENS,
            max(0.0, deadline_s - self._clock.monotonic_s()),
            self._cache_key,
            purpose="capture",
            json_schema=SCHEMA,
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


def _unheard(_piece: str) -> None:
    """Nobody reads a proposal while it is written."""
