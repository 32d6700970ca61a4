"""The queue of transcripts in memory, for tests and as the port's plainest meaning."""

from __future__ import annotations

from dataclasses import replace

from live_memory.store.transcript_queue import NOTHING, Due, QueuedTranscript, Rest, Sighting, Step, Tally


class InMemoryTranscriptQueue:
    """The TranscriptQueue port in a dict."""

    def __init__(self) -> None:
        self._rows: dict[str, QueuedTranscript] = {}

    def see(self, sighting: Sighting) -> None:
        s = sighting
        old = self._rows.get(s.path)
        if old is None:
            row = QueuedTranscript(s.session_id, s.path, s.root, s.repo_id, s.size_bytes, s.is_ended, s.at_s, s.at_s)
            self._rows[s.path] = row
            return
        row = replace(
            old, session_id=s.session_id, root=s.root, repo_id=s.repo_id, is_ended=s.is_ended, seen_at_s=s.at_s
        )
        if s.size_bytes != old.size_bytes:
            row = replace(row, tries=0, next_try_at_s=0.0)
        if s.size_bytes > 0:
            is_shorter = s.size_bytes < old.judged_bytes
            row = replace(row, size_bytes=s.size_bytes, judged_bytes=-1 if is_shorter else old.judged_bytes)
        self._rows[s.path] = row

    def claim(self, owner: str, due: Due) -> QueuedTranscript | None:
        candidates = [row for row in self._rows.values() if _is_due(row, due)]
        if not candidates:
            return None
        first = min(candidates, key=lambda row: (not row.is_ended, row.seen_at_s, row.path))
        self._rows[first.path] = replace(first, owner=owner, claimed_at_s=due.now_s)
        return self._rows[first.path]

    def renew(self, path: str, owner: str, now_s: float) -> QueuedTranscript | None:
        row = self._held(path, owner)
        if row is None:
            return None
        self._rows[path] = replace(row, claimed_at_s=now_s)
        return self._rows[path]

    def note_requests(self, path: str, owner: str, requested_bytes: int, tally: Tally) -> bool:
        row = self._held(path, owner)
        if row is not None:
            self._rows[path] = replace(row, requested_bytes=requested_bytes, tally=row.tally + tally)
        return row is not None

    def keep_harvest(self, path: str, owner: str, harvest: str) -> bool:
        row = self._held(path, owner)
        if row is not None:
            self._rows[path] = replace(row, harvest=harvest)
        return row is not None

    def advance(self, path: str, owner: str, step: Step) -> bool:
        row = self._held(path, owner)
        if row is not None:
            self._rows[path] = replace(
                row,
                offset_bytes=step.offset_bytes,
                mark=step.mark,
                account=step.account,
                harvest="",
                tries=0,
                tally=row.tally + step.tally,
            )
        return row is not None

    def release(self, path: str, owner: str, rest: Rest) -> bool:
        row = self._held(path, owner)
        if row is None:
            return False
        row = replace(row, owner="", claimed_at_s=0.0, why=rest.why, tries=rest.tries, next_try_at_s=rest.next_try_at_s)
        if rest.judged_bytes is not None:
            size_bytes = max(row.size_bytes, rest.judged_bytes)
            row = replace(row, judged_bytes=rest.judged_bytes, size_bytes=size_bytes, done_at_s=rest.now_s)
        self._rows[path] = row
        return True

    def sessions(self, limit: int, root: str = "") -> tuple[QueuedTranscript, ...]:
        return tuple(row for row in self._newest() if not root or row.root == root)[:limit]

    def find(self, session_id: str) -> tuple[QueuedTranscript, ...]:
        return tuple(row for row in self._newest() if session_id and row.session_id.startswith(session_id))

    def unended(self, limit: int) -> tuple[QueuedTranscript, ...]:
        return tuple(row for row in self._newest() if not row.is_ended)[:limit]

    def waiting(self) -> int:
        return sum(row.is_waiting for row in self._rows.values())

    def totals(self) -> tuple[Tally, float]:
        rows = self._rows.values()
        return sum((row.tally for row in rows), NOTHING), max((row.done_at_s for row in rows), default=0.0)

    def forget(self, before_s: float) -> int:
        old = [row.path for row in self._rows.values() if row.seen_at_s < before_s and not row.owner]
        for path in old:
            del self._rows[path]
        return len(old)

    def _held(self, path: str, owner: str) -> QueuedTranscript | None:
        row = self._rows.get(path)
        return row if row is not None and owner and row.owner == owner else None

    def _newest(self) -> list[QueuedTranscript]:
        return sorted(self._rows.values(), key=lambda row: (-row.seen_at_s, row.path))


def _is_due(row: QueuedTranscript, due: Due) -> bool:
    is_quiet = row.is_ended or row.seen_at_s <= due.now_s - due.idle_s
    is_free = not row.owner or row.claimed_at_s <= due.now_s - due.stale_s
    return row.is_waiting and row.next_try_at_s <= due.now_s and is_quiet and is_free
