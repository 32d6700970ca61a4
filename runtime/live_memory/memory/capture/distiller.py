"""One transcript from claim to release: read, gated, put to a model part by part, checked, saved.

Each part is one step: the model's checked proposals are kept in the queue, saved, and only then the part counts as done.
Whoever loses the claim, or the model, leaves everything so that the next one can go on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from live_memory.agent.background import Background, NoModelNow
from live_memory.agent.explorers import Threads
from live_memory.agent.seat import Scribe
from live_memory.clock import Clock
from live_memory.errors import ModelError
from live_memory.llm.base import PromptTooLong
from live_memory.memory import transcripts
from live_memory.memory.asking import NoProposal, TooMuch
from live_memory.memory.capture import remember
from live_memory.memory.capture.checks import Spoken, folded, is_among, objection
from live_memory.memory.capture.extraction import Extraction, Known
from live_memory.memory.capture.gate import is_substantial
from live_memory.memory.capture.harvest import Harvest, parse_harvest
from live_memory.memory.capture.keeping import Keeping, draft_of
from live_memory.memory.capture.proposal import SessionAccount, parse_account
from live_memory.memory.capture.session_note import SESSION_NOTE, plain_account, session_draft
from live_memory.memory.place import Place
from live_memory.memory.transcripts import Part, Survey, TranscriptGone
from live_memory.memory.turns import Hearing
from live_memory.notes.note import Note
from live_memory.settings import Settings
from live_memory.store.transcript_queue import NOTHING, QueuedTranscript, Rest, Step, Tally, TranscriptQueue

logger = logging.getLogger(__name__)

READ_TIMEOUT_S = 60.0  # of one pass over a transcript
UNWRITTEN_S = 86_400.0  # how long a session may be open before its transcript has a first line
PART_MAX_TOKENS = 16_000  # notes get fewer for the same speech the longer a part is
PART_MIN_TOKENS = 500
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

RESTING_S = 3600.0  # after the last try
WAIT_S: dict[str, float] = {"no-client": 60.0, "no-model": 300.0}
OTHER_WAIT_S = 600.0


class SessionGoesOn(Exception):
    """The session has been taken up again; at `quiet_at_s` it counts as over, if nothing more is heard of it."""

    def __init__(self, quiet_at_s: float) -> None:
        super().__init__(quiet_at_s)
        self.quiet_at_s = quiet_at_s


class ClaimLost(Exception):
    """Another server has taken the transcript over."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What a distiller works with."""

    queue: TranscriptQueue
    keeping: Keeping
    background: Background
    threads: Threads
    clock: Clock


class Distiller:
    """Distils one claimed transcript."""

    def __init__(self, bench: Bench, claimed: QueuedTranscript, settings: Settings) -> None:
        self._bench = bench
        self._claimed = self._row = claimed
        self._settings = settings
        self._place = Place(Path(claimed.root), claimed.repo_id)
        self._hearing = Hearing("heard" if settings.capture_subagents else "unheard")
        self._room_tokens = PART_MAX_TOKENS

    async def run(self) -> Rest:
        """Do all there is to do, and say how to give the claim back. ClaimLost, StoreError."""
        now_s = self._bench.clock.wall_s()
        try:
            return await self._distil(await self._size_of_quiet())
        except TranscriptGone as error:
            return Rest(now_s, str(error), judged_bytes=self._row.size_bytes)
        except SessionGoesOn as error:
            return Rest(now_s, "the session goes on", next_try_at_s=error.quiet_at_s)
        except NoModelNow as error:
            wait_s = WAIT_S.get(error.cause, OTHER_WAIT_S)
            return Rest(now_s, f"waits: {error}", tries=self._row.tries, next_try_at_s=now_s + wait_s)
        except ModelError as error:
            return self._failed(error)

    async def _size_of_quiet(self) -> int:
        """How large the file is. TranscriptGone; SessionGoesOn where it is still being written."""
        seen = await self._read(transcripts.modified, self._row.path)
        if seen is None:
            now_s = self._bench.clock.wall_s()
            if not self._row.is_ended and now_s < self._row.seen_at_s + UNWRITTEN_S:
                raise SessionGoesOn(now_s + self._settings.capture_idle_s)  # it begins with the first prompt
            raise TranscriptGone("its transcript is gone")
        size_bytes, changed_at_s = seen
        if not self._row.is_ended:
            self._require_quiet(changed_at_s)
        return size_bytes

    async def _distil(self, size_bytes: int) -> Rest:
        row = self._row
        offset = await self._read(transcripts.resumed_offset, row.path, row.offset_bytes, row.mark)
        survey = await self._read(transcripts.survey, row.path, offset, self._hearing)
        is_news = await self._save_requests(survey, offset)
        now_s = self._bench.clock.wall_s()
        if not is_substantial(survey, self._settings):
            if row.account and offset == row.offset_bytes:
                await self._save_account(parse_account(row.account))
            return Rest(now_s, "too little to keep", judged_bytes=size_bytes)
        try:
            account, is_whole = await self._distil_parts(offset, parse_account(row.account))
        except (NoModelNow, ModelError):
            if is_news and not row.account:
                await self._save_account(plain_account(survey, self._place.root))
            raise
        await self._save_account(account)
        return Rest(self._bench.clock.wall_s(), "" if is_whole else "partly", judged_bytes=size_bytes)

    async def _distil_parts(self, offset: int, account: SessionAccount) -> tuple[SessionAccount, bool]:
        """All parts behind `offset`; the account, and whether no part had to be given up."""
        is_whole = True
        async with self._bench.background.lent(self._settings.capture_model) as scribe:
            while True:
                self._row = self._renewed()
                harvest = parse_harvest(self._row.harvest, offset) if self._row.harvest else None
                if harvest is None:
                    part = await self._next_part(scribe, offset)
                    if part is None:
                        return account, is_whole
                    await self._bench.background.check()
                    harvest = await self._harvested(scribe, part, offset, account)
                    if harvest is None:
                        continue  # once more, with less
                    self._require(self._bench.queue.keep_harvest(self._row.path, self._row.owner, harvest.to_json()))
                is_whole = is_whole and not harvest.is_given_up
                tally = await self._bench.keeping.keep(
                    self._place, [draft_of(each, self._place) for each in harvest.candidates]
                )
                account = harvest.account if harvest.account.topic else account
                offset = harvest.end_bytes
                tally += Tally(refused=harvest.refused)
                step = Step(offset, harvest.mark, account.to_json() if account.topic else "", tally)
                self._require(self._bench.queue.advance(self._row.path, self._row.owner, step))

    async def _next_part(self, scribe: Scribe, offset: int) -> Part | None:
        room = max(PART_MIN_TOKENS, min(self._room_tokens, scribe.max_prompt_tokens // 2))
        return await self._read(transcripts.next_part, self._row.path, offset, self._hearing, room)

    async def _harvested(self, scribe: Scribe, part: Part, offset: int, account: SessionAccount) -> Harvest | None:
        """What the part brings; None where it has to be a smaller one."""
        if all(turn.speaker == "tool" for turn in part.turns):
            return Harvest(offset, part.end_bytes, part.mark, (), account)
        prose = "\n".join(turn.text for turn in part.turns if turn.speaker != "tool")
        known = Known(
            self._bench.keeping.known(self._place, prose, self._row.first_at_s),
            account.to_json() if account.topic else "",
        )
        extraction = Extraction(scribe, self._bench.clock, f"capture {self._place.repo_id}")
        try:
            proposal = await extraction.propose(part.turns, known)
        except (PromptTooLong, TooMuch):
            if self._room_tokens <= PART_MIN_TOKENS:
                return Harvest(offset, part.end_bytes, part.mark, (), account, is_given_up=True)
            self._room_tokens = max(PART_MIN_TOKENS, self._room_tokens // 2)
            return None
        except NoProposal:
            if self._row.tries + 1 < self._settings.capture_retries:
                raise
            # It never will; the session's other parts are not lost for it.
            logger.warning("part given up bytes=%d", part.end_bytes - offset)
            return Harvest(offset, part.end_bytes, part.mark, (), account, is_given_up=True)
        finally:
            self._bench.background.charge(self._row.root, "capture", extraction.account, self._bench.clock)
        spoken = Spoken(part.turns)
        asked = remember.requests(turn.text for turn in part.turns if turn.speaker == "user")
        said_so = [folded(draft.body) for draft in asked]  # kept already, in the user's own words
        proposed = [each for each in proposal.candidates if not is_among(each, said_so)]
        objections = [objection(each, spoken) for each in proposed]
        for reason in filter(None, objections):
            logger.info("not captured reason=%s", reason.replace(" ", "-"))
        kept = tuple(each for each, reason in zip(proposed, objections, strict=True) if not reason)
        refused = len(proposed) - len(kept)
        return Harvest(offset, part.end_bytes, part.mark, kept, proposal.account, refused)

    async def _save_requests(self, survey: Survey, offset: int) -> bool:
        """Save what the user asked to have remembered, which needs no model; whether anything was read for the first time."""
        known_bytes = self._row.requested_bytes if self._row.requested_bytes >= offset else offset
        if survey.end_bytes <= known_bytes and self._row.requested_bytes == known_bytes:
            return False
        drafts = remember.requests(text for end_bytes, text in survey.user_texts if end_bytes > known_bytes)
        if drafts:
            drafts = self._bench.keeping.unsaid(self._place, drafts, self._row.first_at_s)
        tally = await self._bench.keeping.keep(self._place, drafts) if drafts else NOTHING
        self._row = self._renewed()
        done_bytes = max(known_bytes, survey.end_bytes)
        self._require(self._bench.queue.note_requests(self._row.path, self._row.owner, done_bytes, tally))
        return True

    async def _save_account(self, account: SessionAccount) -> None:
        draft = session_draft(self._row.session_id, account)
        if draft is None or transcripts.is_subagents(self._row.path):
            return
        before = [note for note in self._bench.keeping.sessions(self._place) if note.id != draft.id]
        if not any(map(self._is_later, before)):  # distilled late: others have gone on from here
            await self._bench.keeping.keep_session(self._place, draft, before)

    def _is_later(self, note: Note) -> bool:
        """Whether the session of that note was heard of after this one."""
        others = self._bench.queue.find(note.id.removeprefix(SESSION_NOTE))
        return any(other.seen_at_s > self._row.seen_at_s for other in others)

    def _failed(self, error: ModelError) -> Rest:
        now_s, tries = self._bench.clock.wall_s(), self._row.tries + 1
        logger.warning("not distilled tries=%d error=%s", tries, type(error).__name__)
        if tries >= self._settings.capture_retries:
            return Rest(now_s, f"waits after {tries} tries: {error}", tries=0, next_try_at_s=now_s + RESTING_S)
        wait_s = tries * self._settings.capture_backoff_s
        return Rest(
            now_s,
            f"tried {'once' if tries == 1 else f'{tries} times'}: {error}",
            tries=tries,
            next_try_at_s=now_s + wait_s,
        )

    def _renewed(self) -> QueuedTranscript:
        row = self._bench.queue.renew(self._row.path, self._row.owner, self._bench.clock.wall_s())
        if row is None:
            raise ClaimLost
        is_news = self._claimed.is_ended or row.seen_at_s > self._claimed.seen_at_s
        if not row.is_ended and is_news:
            self._require_quiet(row.seen_at_s)
        return row

    def _require_quiet(self, heard_at_s: float) -> None:
        quiet_at_s = heard_at_s + self._settings.capture_idle_s
        if quiet_at_s > self._bench.clock.wall_s():
            raise SessionGoesOn(quiet_at_s)

    def _require(self, is_held: bool) -> None:
        if not is_held:
            raise ClaimLost

    async def _read(self, call: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """What a blocking call returns; TranscriptGone where the disk does not answer."""
        try:
            return await self._bench.threads.run(READ_TIMEOUT_S, call, *arguments)
        except TimeoutError:
            raise TranscriptGone("its transcript does not answer") from None
