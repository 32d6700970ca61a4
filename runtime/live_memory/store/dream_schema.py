"""The table of the dreams, as one step of the database's history."""

from __future__ import annotations

DREAMS_STEP: tuple[str, ...] = (
    """CREATE TABLE dreams (
        batch TEXT PRIMARY KEY,
        repo_id TEXT NOT NULL,
        owner TEXT NOT NULL,
        began_at_s REAL NOT NULL,
        seen_at_s REAL NOT NULL,
        ended_at_s REAL NOT NULL DEFAULT 0,
        report TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX dreams_under_way ON dreams (repo_id) WHERE ended_at_s = 0",  # one at a time
    "CREATE INDEX dreams_by_end ON dreams (repo_id, ended_at_s)",
)
