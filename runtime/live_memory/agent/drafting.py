"""What the caller gets, by how the inquiry ended: the model's text, whole or marked, or passages and the reason why there is
none. Absent: where it goes from here."""

from __future__ import annotations

from dataclasses import dataclass

from live_memory.agent import wording
from live_memory.agent.inquiry import Ending
from live_memory.agent.note_search import NoteSearch
from live_memory.agent.passage_search import PassageSearch
from live_memory.errors import ModelError

LATE_SEARCH_S = 1.0  # how long an answer that is due waits for passages
OUT_OF_TIME_MARK = "\n\n[Stopped here: the time was up.]"
FAILED_MARK = "\n\n[Stopped here: the model failed.]"


@dataclass(slots=True)
class Draft:
    """An answer in the making: its text for the caller, and the text that enters the window (None: nothing does)."""

    text: str
    kept_text: str | None = None
    timed_out: bool = False
    model: str = "passages"
    is_reusable: bool = False
    is_reused: bool = False


@dataclass(frozen=True, slots=True)
class Drafting:
    """The making of one question's draft. `search_s` is how long passages that are the answer are waited for."""

    model_name: str
    timeout_s: float
    answer_tokens: int
    search: PassageSearch
    search_s: float
    notes: NoteSearch

    async def of_ending(self, text: str, ending: Ending) -> Draft:
        """The draft when the model has come to an end, with `text`."""
        if ending == "timed-out":
            passages = await self.search.passages(LATE_SEARCH_S)
            if not text:
                reason = wording.nothing_in_time(self.model_name, self.timeout_s)
                notes = await self.notes.for_reader()
                return Draft(wording.passages_answer(reason, passages, notes), timed_out=True)
            unfinished = wording.unfinished_answer(text, wording.timed_out(self.timeout_s), passages)
            return Draft(unfinished, text + OUT_OF_TIME_MARK, timed_out=True, model=self.model_name)
        if ending == "refused" or not text:
            reason = wording.refused(self.model_name) if ending == "refused" else wording.empty(self.model_name)
            passages = await self.search.passages(self.search_s)
            return Draft(wording.passages_answer(reason, passages, await self.notes.for_reader()))
        if ending == "cut":
            return Draft(f"{text}\n\n{wording.cut(self.answer_tokens)}", text, model=self.model_name)
        return Draft(text, text, model=self.model_name, is_reusable=True)

    async def of_failure(self, text: str, error: ModelError) -> Draft:
        """The draft when the model failed, with `text` so far."""
        passages = await self.search.passages(self.search_s)
        reason = wording.model_failed(self.model_name, error)
        if text:
            return Draft(wording.unfinished_answer(text, reason, passages), text + FAILED_MARK, model=self.model_name)
        return Draft(wording.passages_answer(reason, passages, await self.notes.for_reader()))
