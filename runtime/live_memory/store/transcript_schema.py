"""The table of the transcripts that wait to be distilled, as one step of the database's history."""

from __future__ import annotations

TRANSCRIPTS_STEP: tuple[str, ...] = (
    """CREATE TABLE transcripts (
        path TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        root TEXT NOT NULL,
        repo_id TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        is_ended INTEGER NOT NULL,
        first_at_s REAL NOT NULL,
        seen_at_s REAL NOT NULL,
        offset_bytes INTEGER NOT NULL DEFAULT 0,
        mark TEXT NOT NULL DEFAULT '',
        requested_bytes INTEGER NOT NULL DEFAULT 0,
        judged_bytes INTEGER NOT NULL DEFAULT -1,
        harvest TEXT NOT NULL DEFAULT '',
        account TEXT NOT NULL DEFAULT '',
        tries INTEGER NOT NULL DEFAULT 0,
        next_try_at_s REAL NOT NULL DEFAULT 0,
        why TEXT NOT NULL DEFAULT '',
        owner TEXT NOT NULL DEFAULT '',
        claimed_at_s REAL NOT NULL DEFAULT 0,
        done_at_s REAL NOT NULL DEFAULT 0,
        created INTEGER NOT NULL DEFAULT 0,
        merged INTEGER NOT NULL DEFAULT 0,
        disputed INTEGER NOT NULL DEFAULT 0,
        refused INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID""",
    "CREATE INDEX transcripts_by_session ON transcripts (session_id)",
    "CREATE INDEX transcripts_by_sight ON transcripts (seen_at_s)",
)
