"""The queue of transcripts in the database file."""

from __future__ import annotations

from dataclasses import replace

from live_memory.store.database import Database, Parameters, storable
from live_memory.store.transcript_queue import Due, QueuedTranscript, Rest, Sighting, Step, Tally

COLUMNS = (
    "session_id, path, root, repo_id, size_bytes, is_ended, first_at_s, seen_at_s, offset_bytes, mark, requested_bytes, judged_bytes, harvest, "
    "account, tries, next_try_at_s, why, owner, claimed_at_s, done_at_s, created, merged, disputed, refused"
)
TALLY_COLUMNS = 4
COUNT = "created = created + ?, merged = merged + ?, disputed = disputed + ?, refused = refused + ?"
SEE = """INSERT INTO transcripts (session_id, path, root, repo_id, size_bytes, is_ended, first_at_s, seen_at_s)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
    ON CONFLICT (path) DO UPDATE SET session_id = ?1, root = ?3, repo_id = ?4, is_ended = ?6, seen_at_s = ?7,
        tries = CASE WHEN size_bytes <> ?5 THEN 0 ELSE tries END,
        next_try_at_s = CASE WHEN size_bytes <> ?5 THEN 0 ELSE next_try_at_s END,
        judged_bytes = CASE WHEN ?5 > 0 AND ?5 < judged_bytes THEN -1 ELSE judged_bytes END,
        size_bytes = CASE WHEN ?5 > 0 THEN ?5 ELSE size_bytes END"""
DUE = """SELECT path FROM transcripts
    WHERE size_bytes > judged_bytes AND next_try_at_s <= ?1 AND (is_ended OR seen_at_s <= ?1 - ?2)
        AND (owner = '' OR claimed_at_s <= ?1 - ?3)
    ORDER BY is_ended DESC, seen_at_s, path LIMIT 1"""


class SqliteTranscriptQueue:
    """The TranscriptQueue port over a database that somebody else owns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def see(self, sighting: Sighting) -> None:
        row = (
            storable(sighting.session_id),
            storable(sighting.path),
            storable(sighting.root),
            storable(sighting.repo_id),
            sighting.size_bytes,
            sighting.is_ended,
            sighting.at_s,
        )
        self._database.write(lambda: self._database.execute(SEE, row))

    def claim(self, owner: str, due: Due) -> QueuedTranscript | None:
        def work() -> QueuedTranscript | None:
            row = self._database.execute(DUE, (due.now_s, due.idle_s, due.stale_s)).fetchone()
            if row is None:
                return None
            values = (owner, due.now_s, row[0])
            self._database.execute("UPDATE transcripts SET owner = ?, claimed_at_s = ? WHERE path = ?", values)
            return self._one(row[0])

        # Asked far more often than there is something to do: a look takes no write lock.
        peek = self._database.read(lambda: self._database.execute(DUE, (due.now_s, due.idle_s, due.stale_s)).fetchone())
        return self._database.write(work) if peek else None

    def renew(self, path: str, owner: str, now_s: float) -> QueuedTranscript | None:
        held = self._held(path, owner, "claimed_at_s = ?", (now_s,))
        return self._database.read(lambda: self._one(path)) if held else None

    def note_requests(self, path: str, owner: str, requested_bytes: int, tally: Tally) -> bool:
        return self._held(path, owner, f"requested_bytes = ?, {COUNT}", (requested_bytes, *_counts(tally)))

    def keep_harvest(self, path: str, owner: str, harvest: str) -> bool:
        return self._held(path, owner, "harvest = ?", (storable(harvest),))

    def advance(self, path: str, owner: str, step: Step) -> bool:
        change = f"offset_bytes = ?, mark = ?, account = ?, harvest = '', tries = 0, {COUNT}"
        values: Parameters = (step.offset_bytes, step.mark, storable(step.account), *_counts(step.tally))
        return self._held(path, owner, change, values)

    def release(self, path: str, owner: str, rest: Rest) -> bool:
        change = "owner = '', claimed_at_s = 0, why = ?, tries = ?, next_try_at_s = ?"
        values: Parameters = (storable(rest.why), rest.tries, rest.next_try_at_s)
        if rest.judged_bytes is not None:
            change += ", judged_bytes = ?, size_bytes = max(size_bytes, ?), done_at_s = ?"
            values = (*values, rest.judged_bytes, rest.judged_bytes, rest.now_s)
        return self._held(path, owner, change, values)

    def sessions(self, limit: int, root: str = "") -> tuple[QueuedTranscript, ...]:
        return self._all("?1 = '' OR root = ?1", (storable(root), limit))

    def find(self, session_id: str) -> tuple[QueuedTranscript, ...]:
        return self._all("substr(session_id, 1, length(?1)) = ?1 AND ?1 <> ''", (storable(session_id), -1))

    def unended(self, limit: int) -> tuple[QueuedTranscript, ...]:
        return self._all("NOT is_ended AND ?1 = ''", ("", limit))

    def waiting(self) -> int:
        count = "SELECT count(*) FROM transcripts WHERE size_bytes > judged_bytes"
        return int(self._database.read(lambda: self._database.execute(count).fetchone())[0])

    def totals(self) -> tuple[Tally, float]:
        summed = """SELECT total(created), total(merged), total(disputed), total(refused), coalesce(max(done_at_s), 0)
            FROM transcripts"""
        *counts, done_at_s = self._database.read(lambda: self._database.execute(summed).fetchone())
        return Tally(*map(int, counts)), float(done_at_s)

    def forget(self, before_s: float) -> int:
        drop = "DELETE FROM transcripts WHERE seen_at_s < ? AND owner = ''"
        return self._database.write(lambda: self._database.execute(drop, (before_s,)).rowcount)

    def _held(self, path: str, owner: str, change: str, values: Parameters) -> bool:
        """Change the transcript if `owner` holds it."""
        statement = f"UPDATE transcripts SET {change} WHERE path = ? AND owner = ? AND owner <> ''"  # noqa: S608  # constants

        def work() -> int:
            return self._database.execute(statement, (*values, storable(path), owner)).rowcount

        return self._database.write(work) > 0

    def _one(self, path: str) -> QueuedTranscript | None:
        select = f"SELECT {COLUMNS} FROM transcripts WHERE path = ?"  # noqa: S608  # constants
        row = self._database.execute(select, (storable(path),)).fetchone()
        return _transcript(row) if row else None

    def _all(self, condition: str, values: Parameters) -> tuple[QueuedTranscript, ...]:
        select = f"SELECT {COLUMNS} FROM transcripts WHERE {condition} ORDER BY seen_at_s DESC, path LIMIT ?2"  # noqa: S608
        rows = self._database.read(lambda: self._database.execute(select, values).fetchall())
        return tuple(map(_transcript, rows))


def _counts(tally: Tally) -> tuple[int, ...]:
    return (tally.created, tally.merged, tally.disputed, tally.refused)


def _transcript(row: tuple[object, ...]) -> QueuedTranscript:
    plain, counts = row[:-TALLY_COLUMNS], row[-TALLY_COLUMNS:]
    queued = QueuedTranscript(*plain)  # type: ignore[arg-type]  # as the columns are declared
    return replace(queued, is_ended=bool(queued.is_ended), tally=Tally(*counts))  # type: ignore[arg-type]
