"""The database's tables, as the steps that lead to them: step n takes a database from version n to n + 1."""

from __future__ import annotations

import sqlite3

from live_memory.errors import StoreError
from live_memory.store.dream_schema import DREAMS_STEP
from live_memory.store.note_index_schema import INDEX_STEP
from live_memory.store.note_schema import BY_USE_STEP, NOTEBOOK_STEP, NOTES_STEP
from live_memory.store.note_vector_schema import VECTORS_STEP
from live_memory.store.transcript_schema import TRANSCRIPTS_STEP

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE windows (
            id INTEGER PRIMARY KEY,
            root TEXT NOT NULL UNIQUE,
            tree TEXT NOT NULL DEFAULT '',
            tree_at_s REAL NOT NULL DEFAULT 0,
            frozen TEXT NOT NULL DEFAULT '',
            first_entry_id INTEGER NOT NULL DEFAULT 0
        )""",
        """CREATE TABLE entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            window_id INTEGER NOT NULL REFERENCES windows (id) ON DELETE CASCADE,
            at_s REAL NOT NULL,
            question TEXT NOT NULL,
            answer TEXT NOT NULL
        )""",
        "CREATE INDEX entries_of_window ON entries (window_id, id)",
        """CREATE TABLE files (
            window_id INTEGER NOT NULL REFERENCES windows (id) ON DELETE CASCADE,
            path TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            size_bytes INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            read_at_s REAL NOT NULL,
            PRIMARY KEY (window_id, path)
        ) WITHOUT ROWID""",
        """CREATE TABLE accounts (
            root TEXT NOT NULL,
            day TEXT NOT NULL,
            questions INTEGER NOT NULL,
            requests INTEGER NOT NULL,
            input_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            cache_read_tokens INTEGER NOT NULL,
            cache_write_tokens INTEGER NOT NULL,
            cost_usd REAL NOT NULL,
            unpriced INTEGER NOT NULL,
            PRIMARY KEY (root, day)
        ) WITHOUT ROWID""",
        "CREATE INDEX accounts_by_day ON accounts (day)",
    ),
    (
        "ALTER TABLE windows ADD COLUMN ledger TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE entries RENAME COLUMN question TO text",
        "ALTER TABLE entries ADD COLUMN kind TEXT NOT NULL DEFAULT 'exchange'",
        "ALTER TABLE entries ADD COLUMN sources TEXT NOT NULL DEFAULT '[]'",  # JSON: [path, sha256], or paths of a delta
        """CREATE TABLE files_held (
            window_id INTEGER NOT NULL REFERENCES windows (id) ON DELETE CASCADE,
            path TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            size_bytes INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            read_at_s REAL NOT NULL,
            origin TEXT NOT NULL,
            state TEXT NOT NULL,
            content TEXT,
            used_at_s REAL NOT NULL,
            PRIMARY KEY (window_id, path)
        )""",
        """INSERT INTO files_held
            SELECT window_id, path, sha256, size_bytes, mtime_ns, read_at_s, 'read', 'fresh', NULL, read_at_s FROM files""",
        "DROP TABLE files",
        "ALTER TABLE files_held RENAME TO files",
        """CREATE TABLE observations (
            window_id INTEGER NOT NULL REFERENCES windows (id) ON DELETE CASCADE,
            path TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            size_bytes INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            at_s REAL NOT NULL,
            origin TEXT NOT NULL,
            state TEXT NOT NULL,
            text TEXT,
            changes INTEGER NOT NULL,
            PRIMARY KEY (window_id, path)
        )""",
    ),
    NOTES_STEP,
    (
        """CREATE TABLE accounts_by_purpose (
            root TEXT NOT NULL,
            day TEXT NOT NULL,
            purpose TEXT NOT NULL,
            questions INTEGER NOT NULL,
            requests INTEGER NOT NULL,
            input_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            cache_read_tokens INTEGER NOT NULL,
            cache_write_tokens INTEGER NOT NULL,
            cost_usd REAL NOT NULL,
            unpriced INTEGER NOT NULL,
            saved_usd REAL NOT NULL,
            PRIMARY KEY (root, day, purpose)
        ) WITHOUT ROWID""",
        """INSERT INTO accounts_by_purpose
            SELECT root, day, 'question', questions, requests, input_tokens, output_tokens, cache_read_tokens,
                cache_write_tokens, cost_usd, unpriced, 0 FROM accounts""",
        "DROP TABLE accounts",
        "ALTER TABLE accounts_by_purpose RENAME TO accounts",
        "CREATE INDEX accounts_by_day ON accounts (day)",
    ),
    ("ALTER TABLE entries ADD COLUMN is_carried INTEGER NOT NULL DEFAULT 0",),
    NOTEBOOK_STEP,
    TRANSCRIPTS_STEP,
    INDEX_STEP,
    BY_USE_STEP,
    DREAMS_STEP,
    VECTORS_STEP,
)


def migrate(connection: sqlite3.Connection, migrations: tuple[tuple[str, ...], ...] = MIGRATIONS) -> None:
    """Bring the database to this version's tables, each step whole or not at all; StoreError when it is a newer one's."""
    if version_of(connection, len(migrations)) == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")  # two processes may open a new database at once: one makes the tables
    try:
        version = version_of(connection, len(migrations))  # again, under the lock
        for step in migrations[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def version_of(connection: sqlite3.Connection, newest: int = len(MIGRATIONS)) -> int:
    """How many of the steps the database has taken, without a change to it; StoreError when more than `newest`."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > newest:
        raise StoreError(
            f"The database was written by a newer Live Memory (format {version}, this one knows up to {newest}): "
            "update the plugin, or point LIVE_MEMORY_DATA_DIR at another folder."
        )
    return version
