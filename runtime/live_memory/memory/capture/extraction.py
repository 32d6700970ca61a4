"""Asking a model what is worth keeping of a part of a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from live_memory.agent.seat import Scribe
from live_memory.clock import Clock
from live_memory.memory.asking import Asking, Manner, one_prompt
from live_memory.memory.capture.proposal import SCHEMA, Proposal, parse_proposal
from live_memory.memory.turns import Turn
from live_memory.notes.note import Note
from live_memory.store.base import Account
from live_memory.text.fencing import fenced, one_line
from live_memory.window.messages import Prompt

FOLDER = Path(__file__).with_name("prompts")
TURN_TAG = "turn"  # one tag for all speakers: what is defused in one turn cannot open another's
PromptName: TypeAlias = Literal["extract", "shape", "repair"]


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
    texts = (
        "Kept already:\n\n" + (fenced("kept", lines) if lines else "(nothing yet)"),
        "The account so far:\n\n" + (fenced("account", known.account) if known.account else "(none yet)"),
        "The part of the session:\n\n" + rendered(turns),
    )
    return one_prompt(f"{prompt_text('extract')}\n\n{prompt_text('shape')}", texts)


class Extraction:
    """Puts parts to a model."""

    def __init__(self, scribe: Scribe, clock: Clock, cache_key: str) -> None:
        self._asking = Asking(scribe, clock, Manner("capture", cache_key, SCHEMA, prompt_text("repair")))

    @property
    def account(self) -> Account:
        """What that took so far."""
        return self._asking.account

    async def propose(self, turns: Sequence[Turn], known: Known) -> Proposal:
        """What the model would keep. TooMuch, NoProposal and other ModelErrors; PromptTooLong where the part does not fit."""
        return await self._asking.ask(prompt_of(turns, known), parse_proposal)
