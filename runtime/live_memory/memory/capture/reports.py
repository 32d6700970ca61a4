"""What hooks tell of sessions, and what is told back of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias, get_args

from live_memory.errors import QuestionError
from live_memory.memory.place import Place
from live_memory.memory.transcripts import checked_path
from live_memory.store.transcript_queue import QueuedTranscript, Sighting

SessionEvent: TypeAlias = Literal["session-start", "stop", "session-end", "pre-compact"]
EVENTS: tuple[SessionEvent, ...] = get_args(SessionEvent)
MAX_ID_CHARS = 200
MAX_BYTES = 1 << 62
MAX_PID = 1 << 31


@dataclass(frozen=True, slots=True)
class SessionReport:
    """A hook's report. `source` and `reason` say why a session starts or ends; `transcript_path` may be empty;
    `client_pid` is the Claude Code that began the session, 0 where that is not known."""

    cwd: str
    session_id: str
    event: SessionEvent
    transcript_path: str = ""
    size_bytes: int = 0
    source: str = ""
    reason: str = ""
    client_pid: int = 0

    def sighting(self, place: Place, at_s: float) -> Sighting | None:
        """What the queue is told; None where no transcript is named. QuestionError for a path that can be none."""
        if not self.transcript_path:
            return None
        return Sighting(
            self.session_id,
            checked_path(self.transcript_path),
            str(place.root),
            place.repo_id,
            self.size_bytes,
            self.event == "session-end",
            at_s,
        )


def session_report(fields: Mapping[str, object]) -> SessionReport:
    """The report in a request's fields; QuestionError names the first bad one."""
    event = next((each for each in EVENTS if each == fields.get("event")), None)
    if event is None:
        raise _bad("event must be one of " + ", ".join(EVENTS))
    session_id = _text(fields, "session_id")
    if not session_id.strip() or len(session_id) > MAX_ID_CHARS:
        raise _bad(f"session_id must be the session's id, of at most {MAX_ID_CHARS} characters")
    size_bytes, client_pid = _whole(fields, "size_bytes", MAX_BYTES), _whole(fields, "client_pid", MAX_PID)
    cwd = _text(fields, "cwd")
    if not cwd.strip():
        raise _bad("cwd is missing: pass the session's folder")
    path, source, reason = (_text(fields, name) for name in ("transcript_path", "source", "reason"))
    return SessionReport(cwd, session_id, event, path, size_bytes, source, reason, client_pid)


def session_figures(row: QueuedTranscript) -> dict[str, object]:
    """A session as `GET /sessions` and `live-memory session` show it; nothing of what was said in it."""
    return {
        "session_id": row.session_id,
        "transcript": row.path,
        "root": row.root,
        "state": state_of(row),
        "why": row.why,
        "first_seen": _instant(row.first_at_s),
        "last_seen": _instant(row.seen_at_s),
        "size_bytes": row.size_bytes,
        "distilled_bytes": row.offset_bytes,
        "tries": row.tries,
        "captured": row.tally.created,
        "merged": row.tally.merged,
        "disputed": row.tally.disputed,
        "refused": row.tally.refused,
        "done_at": _instant(row.done_at_s) if row.done_at_s else "",
    }


def state_of(row: QueuedTranscript) -> str:
    """One word for where a session stands."""
    if row.owner:
        return "distilling"
    if not row.is_waiting:
        return "done"
    return "queued" if row.is_ended else "open"


def _whole(fields: Mapping[str, object], name: str, limit: int) -> int:
    value = fields.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < limit:
        raise _bad(f"{name} must be a whole number below {limit}")
    return value


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name, "")
    if value is None:
        return ""
    if not isinstance(value, str) or any("\ud800" <= char <= "\udfff" for char in value):
        raise _bad(f"{name} must be text")
    return value


def _instant(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _bad(message: str) -> QuestionError:
    return QuestionError("bad-field", message + ".")
