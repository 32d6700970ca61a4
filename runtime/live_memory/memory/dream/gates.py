"""When a dream is due: hours after the last one, and once enough sessions have ended since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from live_memory.memory.place import Place
from live_memory.settings import Settings
from live_memory.store.dream_log import DreamLog
from live_memory.store.note_store import NoteStore
from live_memory.store.transcript_queue import QueuedTranscript, TranscriptQueue

HOUR_S = 3600.0
MAX_SESSIONS = 500  # looked through


@dataclass(frozen=True, slots=True)
class Gate:
    """How far a repository is from its next dream; `why` says what it waits for, empty while it is open."""

    hours_left: float
    sessions: int
    sessions_wanted: int
    why: str

    @property
    def is_open(self) -> bool:
        return not self.why

    def figures(self) -> dict[str, object]:
        return {
            "is_open": self.is_open,
            "hours_left": round(self.hours_left, 2),
            "sessions": self.sessions,
            "sessions_wanted": self.sessions_wanted,
            "why": self.why,
        }


class Kept(Protocol):
    """Where the gates look."""

    @property
    def dreams(self) -> DreamLog: ...
    @property
    def note_store(self) -> NoteStore: ...
    @property
    def transcripts(self) -> TranscriptQueue: ...


def gate(kept: Kept, place: Place, settings: Settings, now_s: float) -> Gate:
    """The gate of `place` now."""
    last = kept.dreams.last(place.repo_id)
    since_s = last.ended_at_s if last else 0.0
    hours_left = max(0.0, settings.dream_min_hours - (now_s - since_s) / HOUR_S) if last else 0.0
    roots = dict.fromkeys((str(place.root), *kept.note_store.trees(place.repo_id)))
    rows = (row for root in roots for row in kept.transcripts.sessions(MAX_SESSIONS, root))
    sessions = ended_since(rows, since_s, now_s - settings.capture_idle_s)
    missing = settings.dream_min_sessions - sessions
    reasons = []
    if settings.dream_disabled:
        reasons.append("dream_disabled is on")
    if hours_left:
        reasons.append(f"{hours_left:.1f} of {settings.dream_min_hours:g} hours are left")
    if missing > 0:
        reasons.append(f"{sessions} of {settings.dream_min_sessions} sessions have ended since the last one")
    return Gate(hours_left, sessions, settings.dream_min_sessions, ", ".join(reasons))


def ended_since(rows: Iterable[QueuedTranscript], since_s: float, quiet_since_s: float) -> int:
    """How many sessions have ended since then: those that said so, and those not heard of for long."""
    over = {
        row.session_id for row in rows if row.seen_at_s > since_s and (row.is_ended or row.seen_at_s <= quiet_since_s)
    }
    return len(over)
