"""One admitted question, from the fork of the window to the commit of its answer."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from live_memory.agent import wording
from live_memory.agent.answers import Answer, Citation, Question
from live_memory.agent.citation_check import citations_of
from live_memory.agent.drafting import LATE_SEARCH_S, Draft, Drafting
from live_memory.agent.equipment import Equipment
from live_memory.agent.inquiry import Brief, Ending, Inquiry, Listeners
from live_memory.agent.note_search import NoteSearch
from live_memory.agent.passage_search import PassageSearch
from live_memory.agent.prompting import prompt_text, render_hints, unfrozen_tokens
from live_memory.agent.recollection import recollected
from live_memory.agent.reuse import REMARK, answer_of_before, files_of, sources_of
from live_memory.agent.seat import ModelSeat
from live_memory.agent.toolbelt import Toolbelt
from live_memory.agent.upkeep import Unchecked, Upkeep
from live_memory.agent.workspace import Workspace
from live_memory.errors import ModelError, QuestionError, StoreError
from live_memory.llm.base import CacheLifetime, Model, Usage
from live_memory.llm.lifetime import cheaper_lifetime, kept_s
from live_memory.store.base import Account, Answered
from live_memory.window.budget import Budget
from live_memory.window.prompt import prefix_tokens, trailing_turn
from live_memory.window.rounds import cut_text, turns_tokens
from live_memory.window.window import Exchange, Window

logger = logging.getLogger(__name__)

MAX_RESERVE_S = 15.0  # kept back for the answer that is asked for when the time runs out
RESERVE_RATIO = 0.25
COLD_SEARCH_S = 3.0  # how long a cold question waits for its passages
LOAD_TIMEOUT_S = 20.0  # for the directory tree, and for documents
PATIENCE_RATIO = 1 / 3  # of the time left, spent at most on waiting for the one who goes ahead
COMPACTION_RATIO = 0.5  # of the time left, spent at most on waiting for summaries
PASSAGES_RATIO = 0.125  # of the window that the passages in the hints may take
QUESTION_RATIO = 0.5  # of the window that a question may take
PROVEN_RATIO = 0.8  # of a prompt that was too long: what later prompts keep to


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, when it arrived (its time runs from then), who is told of its progress, and what it may cost."""

    question: Question
    at_s: float
    on_progress: Callable[[str], None]
    max_cost_usd: float = math.inf


class QuestionRun:
    """A question that has been admitted to `workspace`."""

    def __init__(self, asked: Asked, workspace: Workspace, seat: ModelSeat, equipment: Equipment) -> None:
        self._question = asked.question
        self._workspace = workspace
        self._seat = seat
        self._equipment = equipment
        self._clock = equipment.clock
        self._started_s = asked.at_s
        self._timeout_s = seat.settings.default_timeout_s
        self._deadline_s = asked.at_s + self._timeout_s
        self._finish_s = self._deadline_s - min(MAX_RESERVE_S, self._timeout_s * RESERVE_RATIO)
        self._answer_tokens = seat.answer_tokens(asked.question.max_answer_tokens)
        self._on_progress = asked.on_progress
        self._max_cost_usd = asked.max_cost_usd
        self._search = PassageSearch(
            equipment.explorers, equipment.threads, workspace.root, asked.question.text, workspace.redaction
        )
        self._notes = NoteSearch(equipment.find_notes, workspace.root, asked.question.text)
        self._toolbelt = Toolbelt(equipment.explorers, equipment.threads, workspace.root, workspace.redaction)
        self._inquiry: Inquiry | None = None
        self._unchecked = Unchecked()

    async def answer_by_model(self, model: Model) -> Answer:
        """The model's answer, or passages with the reason why it gave none."""
        preparing = asyncio.create_task(self._prepare(model))
        try:
            await self._load_window(model)
            generation = self._workspace.generation
            draft = self._answer_of_before(model) or await self._ask_model(model, preparing)
            return await self._finished(draft, generation)
        except asyncio.CancelledError:
            self._charge_unanswered()
            raise
        finally:
            preparing.cancel()
            await self._search.close()

    async def answer_by_passages(self, reason: str) -> Answer:
        """The places that fit the question, and `reason`, a sentence."""
        try:
            self._on_progress("Searching the code")
            passages = await self._search.passages(self._search_s())
            draft = Draft(wording.passages_answer(reason, passages, await self._notes.for_reader()))
            return await self._finished(draft, self._workspace.generation)
        finally:
            await self._search.close()

    async def _prepare(self, model: Model) -> None:
        """Have the model's package imported while the window is made ready; what fails here fails again when it is asked."""
        with suppress(ModelError, TimeoutError):
            async with asyncio.timeout(self._left_s()):
                await model.prepare()

    async def _load_window(self, model: Model) -> None:
        """Make sure that the window is there, knows what changed, and is small enough for this model."""
        workspace, budget = self._workspace, self._budget()
        question_tokens = turns_tokens((trailing_turn(self._question.text, ""),))
        if question_tokens > budget.max_tokens * QUESTION_RATIO:
            raise QuestionError(
                "question-too-long",
                f"The question takes about {question_tokens} tokens of the window's {budget.max_tokens}: shorten it, and "
                "name files rather than paste them.",
                status=413,
            )
        upkeep = Upkeep(workspace, self._equipment, self._seat, budget)
        await upkeep.load(min(LOAD_TIMEOUT_S, self._left_s() / 2), self._on_begin)
        self._unchecked = await upkeep.refresh(self._left_s() / 2)
        fixed_tokens = unfrozen_tokens(workspace.known_window(), self._equipment.explorers.specs)
        await upkeep.make_room(model, fixed_tokens + question_tokens, self._left_s() * COMPACTION_RATIO)

    def _on_begin(self) -> None:
        self._search.start()
        self._on_progress("Reading the directory tree")

    def _answer_of_before(self, model: Model) -> Draft | None:
        """The answer to the same question, while it still holds."""
        window = self._workspace.window
        if window is None or not self._seat.settings.reuse_answers:
            return None
        before = answer_of_before(window, self._question.text, self._answer_tokens)
        if before and self._unchecked.may_concern(path for path, _ in before.sources):
            return None
        return Draft(f"{before.answer}\n\n{REMARK}", model=model.name, is_reused=True) if before else None

    async def _ask_model(self, model: Model, preparing: asyncio.Task[None]) -> Draft:
        await preparing
        async with self._workspace.gate.passed(self._left_s() * PATIENCE_RATIO) as on_reply:
            window = self._workspace.window or Window("")
            hints = await self._hints(window)
            self._inquiry = Inquiry(self._brief(window, hints), self._seat, model, self._toolbelt, self._clock)
            guard = self._rests_on_code if window.is_cold and self._seat.settings.force_explore_when_cold else None
            self._on_progress(f"Asking {model.name}")
            try:
                result: Ending | ModelError = await self._inquiry.run(Listeners(self._on_progress, on_reply, guard))
            except ModelError as error:
                result = error
        self._workspace.scripts = self._inquiry.scripts or self._workspace.scripts
        self._learn_from(self._inquiry)
        text = self._workspace.redaction.clean(self._inquiry.text)
        drafting = Drafting(
            model.name, self._timeout_s, self._answer_tokens, self._search, self._search_s(), self._notes
        )
        if isinstance(result, ModelError):
            logger.info("model failed model=%s error=%s", model.name, type(result).__name__)
            return await drafting.of_failure(text, result)
        return await drafting.of_ending(text, result)

    async def _hints(self, window: Window) -> str:
        max_tokens = self._seat.budget(self._answer_tokens).max_tokens
        facts = await recollected(self._workspace, self._equipment, self._question.text, max_tokens)
        notes = await self._notes.for_model(max_tokens)
        passages = await self._passages_ahead(window)
        hints = render_hints(self._left_s(), self._answer_tokens, facts, notes, passages)
        return f"{hints}\n\n{self._unchecked.remark()}" if self._unchecked else hints

    def _brief(self, window: Window, hints: str) -> Brief:
        return Brief(
            window=window,
            trailing=trailing_turn(self._question.text, hints),
            answer_tokens=self._answer_tokens,
            budget=self._budget(),
            deadline_s=self._deadline_s,
            finish_s=self._finish_s,
            max_rounds=self._seat.settings.max_tool_rounds,
            max_cost_usd=self._max_cost_usd,
            cache_key=self._workspace.cache_key,
            cache_lifetime=self._lasting(),
        )

    def _lasting(self) -> CacheLifetime:
        """How long the provider shall keep the prefix, by the rhythm of the workspace's questions."""
        gate = self._workspace.gate
        lifetime = cheaper_lifetime(self._seat.card, gate.pauses_s)
        gate.lifetime_s = kept_s(self._seat.choice.provider, lifetime)
        return lifetime

    def _budget(self) -> Budget:
        return self._seat.budget(self._answer_tokens, self._workspace.scripts)

    async def _passages_ahead(self, window: Window) -> str:
        """The passages for the hints of a cold question; a warm one gets them only once its time runs out."""
        if window.is_cold:
            found = await self._search.passages(min(COLD_SEARCH_S, self._left_s() / 2))
            return cut_text(found, int(self._budget().max_tokens * PASSAGES_RATIO))
        self._search.start(max(0.001, self._finish_s - self._clock.monotonic_s()))
        return ""

    def _learn_from(self, inquiry: Inquiry) -> None:
        """Where the provider found the prompt too long, later ones keep below that: the next question makes room first."""
        if inquiry.too_long_tokens:
            self._seat.proven_tokens = int(inquiry.too_long_tokens * PROVEN_RATIO)

    async def _finished(self, draft: Draft, generation: int) -> Answer:
        """The answer with its citations checked, committed before it leaves."""
        citations = await self._citations(draft.text)
        text = draft.text
        try:
            self._workspace.commit(self._answered(draft, citations), generation)
        except StoreError as error:
            logger.exception("answer not saved root=%s", self._workspace.root)
            text = f"{text}\n\n{wording.not_saved(error)}"
        answer = self._answer(replace(draft, text=text), citations)
        logger.info(
            "answered root=%s model=%s latency_ms=%d requests=%d tool_calls=%d timed_out=%s cost_usd=%s",
            self._workspace.root,
            answer.model,
            answer.latency_ms,
            self._inquiry.requests if self._inquiry else 0,
            answer.tool_calls,
            answer.timed_out,
            answer.cost_usd,
        )
        return answer

    def _charge_unanswered(self) -> None:
        """Enter what was spent on a question whose caller has gone; nothing else of it is kept."""
        if self._inquiry is None or not self._inquiry.requests:
            return
        try:
            self._workspace.commit(Answered(replace(self._account(), questions=0), self._clock.wall_s()), 0)
        except StoreError:
            logger.exception("cost not saved root=%s", self._workspace.root)

    def _account(self) -> Account:
        inquiry = self._inquiry
        cost_usd = inquiry.cost_usd if inquiry else 0.0
        return Account(
            questions=1,
            requests=inquiry.requests if inquiry else 0,
            usage=inquiry.usage if inquiry else Usage(),
            cost_usd=cost_usd or 0.0,
            unpriced=int(cost_usd is None and not self._seat.is_on_subscription),
            saved_usd=inquiry.saved_usd if inquiry else 0.0,
        )

    def _answered(self, draft: Draft, citations: tuple[Citation, ...]) -> Answered:
        at_s = self._clock.wall_s()
        if draft.kept_text is None:
            return Answered(self._account(), at_s)
        read = self._toolbelt.files.values()
        sources = sources_of(citations, read, self._toolbelt.names) if draft.is_reusable else ()
        exchange = Exchange(0, self._question.text, draft.kept_text, sources)
        known = self._workspace.known_window().files
        return Answered(self._account(), at_s, exchange, files_of(citations, read, known, at_s))

    def _answer(self, draft: Draft, citations: tuple[Citation, ...]) -> Answer:
        inquiry, window = self._inquiry, self._workspace.window
        used_tokens = prefix_tokens(prompt_text("system"), window, self._equipment.explorers.specs) if window else 0
        is_metered = not (self._seat.is_on_subscription and inquiry)
        return Answer(
            text=draft.text,
            model=draft.model,
            latency_ms=round((self._clock.monotonic_s() - self._started_s) * 1000),
            timed_out=draft.timed_out,
            tool_calls=self._toolbelt.calls,
            files_read=len(self._toolbelt.files),
            usage=inquiry.usage if inquiry else Usage(),
            cost_usd=inquiry.cost_usd if inquiry else 0.0,
            is_metered=is_metered,
            context_used_tokens=self._seat.counted(used_tokens, self._workspace.scripts),
            context_max_tokens=self._seat.counted(self._budget().max_tokens, self._workspace.scripts) if window else 0,
            citations=citations,
            is_reused=draft.is_reused,
        )

    async def _citations(self, text: str) -> tuple[Citation, ...]:
        window = self._workspace.window
        known = {path: file.sha256 for path, file in window.files.items()} if window else {}
        known |= {path: stamp.sha256 for path, stamp in self._toolbelt.files.items()}
        return await citations_of(text, self._workspace.root, known, self._equipment)

    async def _rests_on_code(self, text: str) -> bool:
        return any(citation.state == "FRESH" for citation in await self._citations(text))

    def _left_s(self) -> float:
        return max(0.0, self._deadline_s - self._clock.monotonic_s())

    def _search_s(self) -> float:
        """How long to wait for passages that are the answer."""
        return max(LATE_SEARCH_S, self._left_s())
