"""The neutral summarizer: material that leaves the window in, new facts out. It never sees the question at hand.

It is given only what is dropped and the ledger, so that what it keeps favours no question. What does not fit one
request is split, not cut.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from live_memory.agent.prompting import prompt_text
from live_memory.agent.seat import FACTS_MAX_TOKENS, Scribe
from live_memory.clock import Clock
from live_memory.errors import ModelError
from live_memory.llm.base import BadReply, Completion, CompletionRequest, PromptTooLong, StopReason
from live_memory.llm.retry import complete_with_retry
from live_memory.store.base import Account
from live_memory.text.directives import is_directive
from live_memory.text.fencing import fenced
from live_memory.text.secrets import redact
from live_memory.text.tokens import estimate_tokens, truncate_to_tokens
from live_memory.window.messages import Prompt, Text, Turn

logger = logging.getLogger(__name__)

TRANSCRIPT_MAX_TOKENS = 24_000  # of one request: facts get fewer for the same material the longer it is
REQUESTS_AT_ONCE = 4
MAX_HALVINGS = 2  # of a transcript that was too long, or whose facts were for one reply
MIN_HALVED_TOKENS = 500
HALF_RATIO = 0.6  # somewhat above a half, since pieces end where lines end
MIN_FACT_CHARS = 12  # below are remnants of lists and headings
MAX_FACT_CHARS = 1000
NOTHING_NEW = "NONE"
MARKER = re.compile(r"^(?:[-*\u2022]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Material:
    """A text that leaves the window, and what it is: the path of a file, or a name for an exchange."""

    name: str
    text: str

    def rendered(self) -> str:
        return fenced("material", self.text, name=self.name)


@dataclass(frozen=True, slots=True)
class Transcript:
    """What one request holds: pieces of the materials with these numbers."""

    pieces: tuple[Material, ...]
    numbers: frozenset[int]

    def rendered(self) -> str:
        return "\n\n".join(piece.rendered() for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Learned:
    """A fact's line, and the numbers of the materials it can have come from."""

    line: str
    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Distillate:
    """What came of some materials: the facts, and which materials were read whole."""

    learned: list[Learned]
    done: frozenset[int]


class Summarizer:
    """Puts materials to a model, a few requests at once. `account` is what it took so far."""

    def __init__(self, scribe: Scribe, clock: Clock, cache_key: str) -> None:
        self._scribe = scribe
        self._clock = clock
        self._cache_key = cache_key
        self._places = asyncio.Semaphore(REQUESTS_AT_ONCE)
        self.account = Account()

    async def distil(self, materials: Sequence[Material], ledger: str, deadline_s: float) -> Distillate:
        """The new facts of `materials`. A material that a request failed for, or that was not read by `deadline_s`, is
        not among the done ones; nothing is raised for it."""
        transcripts = split(materials, min(TRANSCRIPT_MAX_TOKENS, self._scribe.max_prompt_tokens // 2))
        told = await asyncio.gather(*(self._told(transcript, ledger, deadline_s) for transcript in transcripts))
        learned: dict[str, Learned] = {}
        failed: set[int] = set()
        for transcript, lines in zip(transcripts, told, strict=True):
            if lines is None:
                failed |= transcript.numbers
                continue
            for line in lines:
                learned.setdefault(line, Learned(line, transcript.numbers))
        done = frozenset(range(len(materials))) - failed
        return Distillate(list(learned.values()), done)

    async def _told(self, transcript: Transcript, ledger: str, deadline_s: float) -> list[str] | None:
        """The facts of one transcript; None when the model cannot be asked, or not in time."""
        try:
            async with asyncio.timeout(max(0.0, deadline_s - self._clock.monotonic_s())):
                return await self._facts(transcript, ledger, deadline_s, MAX_HALVINGS)
        except (ModelError, TimeoutError) as error:
            logger.warning("not summarised model=%s error=%s", self._scribe.model.name, type(error).__name__)
            return None

    async def _facts(self, transcript: Transcript, ledger: str, deadline_s: float, halvings: int) -> list[str]:
        halves = halved(transcript) if halvings else ()
        try:
            completion = await self._completion(transcript, ledger, deadline_s)
        except PromptTooLong:
            if not halves:
                raise
            return await self._facts_of_all(halves, ledger, deadline_s, halvings - 1)
        if completion.stop_reason == "refusal" or not completion.text.strip():
            raise BadReply(f"The model {self._scribe.model.name} wrote no facts.")
        is_cut = completion.stop_reason == "max_tokens"
        lines = fact_lines(completion.text, completion.stop_reason)
        return lines + await self._facts_of_all(halves, ledger, deadline_s, halvings - 1) if is_cut else lines

    async def _facts_of_all(
        self, parts: Iterable[Transcript], ledger: str, deadline_s: float, halvings: int
    ) -> list[str]:
        return [line for part in parts for line in await self._facts(part, ledger, deadline_s, halvings)]

    async def _completion(self, transcript: Transcript, ledger: str, deadline_s: float) -> Completion:
        known = f"Facts already known:\n\n{ledger or '(none yet)'}"
        material = f"The material to be dropped:\n\n{transcript.rendered()}"
        prompt = Prompt((prompt_text("summarize"),), (Turn("user", (Text(known), Text(material))),), (), 0)
        request = CompletionRequest(
            prompt, FACTS_MAX_TOKENS, deadline_s - self._clock.monotonic_s(), self._cache_key, purpose="compaction"
        )
        async with self._places:
            sent_s = self._clock.wall_s()
            completion = await complete_with_retry(
                self._scribe.model, request, deadline_s, self._clock, _unheard, backoff=self._scribe.backoff
            )
        self.account += self._scribe.account(completion.usage, sent_s)
        return completion


def split(materials: Sequence[Material], max_tokens: int) -> tuple[Transcript, ...]:
    """The materials in order, as few transcripts of at most `max_tokens` as keep them whole; one that is larger by
    itself is split between lines."""
    transcripts: list[Transcript] = []
    pieces: list[Material] = []
    numbers: set[int] = set()
    used_tokens = 0
    for number, material in enumerate(materials):
        for piece in _pieces(material, max_tokens):
            tokens = estimate_tokens(piece.rendered())
            if pieces and used_tokens + tokens > max_tokens:
                transcripts.append(Transcript(tuple(pieces), frozenset(numbers)))
                pieces, numbers, used_tokens = [], set(), 0
            pieces.append(piece)
            numbers.add(number)
            used_tokens += tokens
    if pieces:
        transcripts.append(Transcript(tuple(pieces), frozenset(numbers)))
    return tuple(transcripts)


def halved(transcript: Transcript) -> tuple[Transcript, ...]:
    """The transcript in two, or nothing where it is too small to be worth it."""
    tokens = estimate_tokens(transcript.rendered())
    if tokens < MIN_HALVED_TOKENS:
        return ()
    parts = split(transcript.pieces, int(tokens * HALF_RATIO))
    return tuple(Transcript(part.pieces, transcript.numbers) for part in parts)


def fact_lines(text: str, stop_reason: StopReason) -> list[str]:
    """The facts of a reply, one a line, secrets taken out and without what only tells a reader what to do; of a reply that
    was cut, the last line is not one."""
    lines = text.strip().splitlines()
    if stop_reason == "max_tokens":
        lines = lines[:-1]
    stripped = (MARKER.sub("", line.strip()).strip() for line in lines)
    return [redact(line)[:MAX_FACT_CHARS] for line in stripped if _is_fact(line) and not is_directive(line)]


def _is_fact(line: str) -> bool:
    return len(line) >= MIN_FACT_CHARS and not line.startswith(("#", "```", "<")) and line.strip(". ") != NOTHING_NEW


def _pieces(material: Material, max_tokens: int) -> Iterator[Material]:
    rest = material.text
    if not rest:
        yield material
    room_tokens = max(MIN_FACT_CHARS, max_tokens - estimate_tokens(Material(material.name, "").rendered()) - 1)
    while rest:
        piece = truncate_to_tokens(rest, room_tokens)
        if len(piece) < len(rest) and "\n" in piece:
            piece = piece[: piece.rindex("\n") + 1]
        yield Material(material.name, piece)
        rest = rest[len(piece) :]


def _unheard(_piece: str) -> None:
    """Nobody reads a summary while it is written."""
