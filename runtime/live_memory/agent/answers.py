"""What goes in and what comes out: a question, the answer to it, and how both look to a caller."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from live_memory.errors import QuestionError
from live_memory.explore.base import FileStamp
from live_memory.llm.base import Usage

CitationState: TypeAlias = Literal["FRESH", "STALE", "UNVERIFIED"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the tree that `cwd` lies in; `max_answer_tokens` 0 takes the setting."""

    text: str
    cwd: str
    max_answer_tokens: int = 0

    def cleaned(self) -> Question:
        """Without characters that no provider and no database takes; QuestionError when it is empty."""
        text = self.text.encode("utf-8", "replace").decode().strip()
        if not text:
            raise QuestionError("no-question", "The question is empty: say what you want to know about the code.")
        return replace(self, text=text)


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that an answer names. `path` is relative to the root where it could be resolved; a place without line
    numbers has `line_start` 0. FRESH: exists, unchanged since it was read; STALE: changed since; else UNVERIFIED.
    `stamp` is of the file as it was found, where it was found."""

    path: str
    line_start: int
    line_end: int
    state: CitationState
    stamp: FileStamp | None = field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, object]:
        return {"path": self.path, "line_start": self.line_start, "line_end": self.line_end, "state": self.state}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and its account. `usage` sums over all requests of the question; `cost_usd` is None where no price is
    known; `is_metered` is False on a subscription, which is not billed by tokens; `is_reused` marks an answer given before."""

    text: str
    model: str
    latency_ms: int
    timed_out: bool
    tool_calls: int
    files_read: int
    usage: Usage
    cost_usd: float | None
    is_metered: bool
    context_used_tokens: int
    context_max_tokens: int
    citations: tuple[Citation, ...]
    is_reused: bool = False

    @property
    def context_ratio(self) -> float:
        return self.context_used_tokens / self.context_max_tokens if self.context_max_tokens else 0.0

    def to_json(self) -> dict[str, object]:
        """The body of `POST /ask`."""
        return {
            "answer": self.text,
            "model": self.model,
            "latency_ms": self.latency_ms,
            "timed_out": self.timed_out,
            "tool_calls": self.tool_calls,
            "files_read": self.files_read,
            "usage": {
                "input_tokens": self.usage.input_tokens,
                "cache_read_tokens": self.usage.cache_read_tokens,
                "cache_write_tokens": self.usage.cache_write_tokens,
                "output_tokens": self.usage.output_tokens,
            },
            "cost_usd": self.cost_usd,
            "context": {
                "used_tokens": self.context_used_tokens,
                "max_tokens": self.context_max_tokens,
                "ratio": round(self.context_ratio, 4),
            },
            "citations": [citation.to_json() for citation in self.citations],
        } | ({"reused": True} if self.is_reused else {})

    def with_trailer(self) -> str:
        """The text for a calling model: the answer, and one line of account below it."""
        return f"{self.text}\n\n---\n[live-memory] {self.trailer()}"

    def trailer(self) -> str:
        """The account as `name=value` words; `tokens` is the whole prompt against the output."""
        states = Counter(citation.state for citation in self.citations)
        return " ".join(
            (
                *(("reused=yes",) if self.is_reused else ()),
                f"model={self.model}",
                f"latency={self.latency_ms / 1000:.1f}s",
                f"tokens={self.usage.prompt_tokens}/{self.usage.output_tokens}(in/out)",
                f"cached={self.usage.cache_read_tokens}",
                f"tool_calls={self.tool_calls}",
                f"files_read={self.files_read}",
                f"cost={self._shown_cost()}",
                f"context={self.context_ratio:.0%}",
                f"citations={states['FRESH']} fresh, {states['STALE']} stale, {states['UNVERIFIED']} unverified",
            )
        )

    def _shown_cost(self) -> str:
        if not self.is_metered:
            return "n/a(subscription)"
        return "n/a" if self.cost_usd is None else f"${self.cost_usd:.4f}"
