"""The log of dreams in the database file."""

from __future__ import annotations

from live_memory.store.database import Database, Parameters, storable
from live_memory.store.dream_log import DreamRow

COLUMNS = "batch, repo_id, owner, began_at_s, seen_at_s, ended_at_s, report"  # as DreamRow's fields
KEPT = 20  # runs of a repository
BEGIN = f"INSERT INTO dreams ({COLUMNS}) VALUES (?, ?, ?, ?, ?, 0, '')"  # noqa: S608  # a constant
TAKE_OVER = "UPDATE dreams SET owner = ?, seen_at_s = ? WHERE batch = ?"
HELD = "WHERE batch = ? AND owner = ? AND ended_at_s = 0"
BEAT = f"UPDATE dreams SET seen_at_s = ?, report = ? {HELD}"  # noqa: S608  # a constant
FINISH = f"UPDATE dreams SET seen_at_s = ?, ended_at_s = ?, report = ? {HELD}"  # noqa: S608  # a constant
DROP = f"DELETE FROM dreams {HELD}"  # noqa: S608  # a constant
TRIM = """DELETE FROM dreams WHERE repo_id = (SELECT repo_id FROM dreams WHERE batch = ?1) AND ended_at_s > 0
    AND batch NOT IN (SELECT batch FROM dreams AS newest WHERE newest.repo_id = dreams.repo_id AND newest.ended_at_s > 0
        ORDER BY newest.ended_at_s DESC LIMIT ?2)"""


class SqliteDreamLog:
    """The DreamLog port over a database that somebody else owns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, row: DreamRow, stale_s: float) -> DreamRow | None:
        def work() -> DreamRow | None:
            found = self._rows("WHERE repo_id = ? AND ended_at_s = 0", (storable(row.repo_id),))
            if not found:
                named = (row.batch, storable(row.repo_id), row.owner, row.began_at_s, row.seen_at_s)
                self._database.execute(BEGIN, named)
                return row
            if found[0].seen_at_s > row.seen_at_s - stale_s:
                return None
            self._database.execute(TAKE_OVER, (row.owner, row.seen_at_s, found[0].batch))
            return self._rows("WHERE batch = ?", (found[0].batch,))[0]

        return self._database.write(work)

    def beat(self, batch: str, owner: str, now_s: float, report: str) -> bool:
        return self._change(BEAT, (now_s, report, batch, owner))

    def finish(self, batch: str, owner: str, now_s: float, report: str) -> bool:
        is_held = self._change(FINISH, (now_s, now_s, report, batch, owner))
        self._database.write(lambda: self._database.execute(TRIM, (batch, KEPT)))
        return is_held

    def drop(self, batch: str, owner: str) -> None:
        self._change(DROP, (batch, owner))

    def last(self, repo_id: str) -> DreamRow | None:
        rest = "WHERE repo_id = ? AND ended_at_s > 0 ORDER BY ended_at_s DESC LIMIT 1"
        return next(iter(self._read(rest, (storable(repo_id),))), None)

    def current(self, repo_id: str) -> DreamRow | None:
        return next(iter(self._read("WHERE repo_id = ? AND ended_at_s = 0", (storable(repo_id),))), None)

    def ended(self, limit: int) -> tuple[DreamRow, ...]:
        return self._read("WHERE ended_at_s > 0 ORDER BY ended_at_s DESC LIMIT ?", (limit,))

    def _change(self, statement: str, values: Parameters) -> bool:
        return self._database.write(lambda: self._database.execute(statement, values).rowcount > 0)

    def _read(self, rest: str, values: Parameters) -> tuple[DreamRow, ...]:
        return self._database.read(lambda: self._rows(rest, values))

    def _rows(self, rest: str, values: Parameters) -> tuple[DreamRow, ...]:
        rows = self._database.execute(f"SELECT {COLUMNS} FROM dreams {rest}", values)  # noqa: S608  # callers pass constants
        return tuple(DreamRow(*row) for row in rows.fetchall())
