"""Which sessions are worth a model's time, and how long what comes of them is kept. Pure."""

from __future__ import annotations

import re

from live_memory.memory.capture.proposal import Candidate
from live_memory.memory.transcripts import Survey
from live_memory.notes.note import Priority
from live_memory.settings import Settings

SETTLED = ("decision", "preference")
FACTS_OF_P1 = 3
MIN_FACT_CHARS = 12
MIN_WIDE_FACT_CHARS = 4
_BORDER = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|[;；\n]+")


def is_substantial(survey: Survey, settings: Settings) -> bool:
    """Whether enough was said, and enough asked or edited."""
    is_long = survey.chars >= settings.capture_min_chars
    return is_long and (
        survey.turns >= settings.capture_min_turns
        or (settings.capture_min_edits > 0 and survey.edits >= settings.capture_min_edits)
    )


def priority(candidate: Candidate) -> Priority:
    """am-memory's gate: what was decided is kept for ever, three facts or more for 90 days, the rest for 30."""
    if candidate.kind in SETTLED:
        return "P0"
    facts = [each for each in _BORDER.split(candidate.body) if _is_fact(each.strip())]
    return "P1" if len(facts) >= FACTS_OF_P1 else "P2"


def _is_fact(sentence: str) -> bool:
    return len(sentence) >= (MIN_FACT_CHARS if sentence.isascii() else MIN_WIDE_FACT_CHARS)
