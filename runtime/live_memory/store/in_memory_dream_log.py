"""Dreams that are forgotten with the process."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from live_memory.store.dream_log import DreamRow


@dataclass(slots=True)
class InMemoryDreamLog:
    """The DreamLog port over a dictionary."""

    _rows: dict[str, DreamRow] = field(default_factory=dict)

    def claim(self, row: DreamRow, stale_s: float) -> DreamRow | None:
        held = self.current(row.repo_id)
        if held is None:
            self._rows[row.batch] = row
            return row
        if held.seen_at_s > row.seen_at_s - stale_s:
            return None
        self._rows[held.batch] = taken = replace(held, owner=row.owner, seen_at_s=row.seen_at_s)
        return taken

    def beat(self, batch: str, owner: str, now_s: float, report: str) -> bool:
        held = self._held(batch, owner)
        if held is not None:
            self._rows[batch] = replace(held, seen_at_s=now_s, report=report)
        return held is not None

    def finish(self, batch: str, owner: str, now_s: float, report: str) -> bool:
        held = self._held(batch, owner)
        if held is not None:
            self._rows[batch] = replace(held, seen_at_s=now_s, ended_at_s=now_s, report=report)
        return held is not None

    def drop(self, batch: str, owner: str) -> None:
        if self._held(batch, owner) is not None:
            del self._rows[batch]

    def last(self, repo_id: str) -> DreamRow | None:
        return next((row for row in self.ended(len(self._rows)) if row.repo_id == repo_id), None)

    def current(self, repo_id: str) -> DreamRow | None:
        return next((row for row in self._rows.values() if row.repo_id == repo_id and not row.ended_at_s), None)

    def ended(self, limit: int) -> tuple[DreamRow, ...]:
        over = [row for row in self._rows.values() if row.ended_at_s]
        return tuple(sorted(over, key=lambda row: -row.ended_at_s)[:limit])

    def _held(self, batch: str, owner: str) -> DreamRow | None:
        row = self._rows.get(batch)
        return row if row is not None and row.owner == owner and not row.ended_at_s else None
