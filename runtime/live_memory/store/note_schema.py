"""The tables of the notes, as one step of the database's history."""

from __future__ import annotations

# Terms are made by text/terms.py, for the index and for the question alike; FTS5 only has to keep them whole.
NOTES_STEP: tuple[str, ...] = (
    """CREATE TABLE notes (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        root TEXT NOT NULL,
        kind TEXT NOT NULL DEFAULT 'fact',
        body TEXT NOT NULL,
        created_at_s REAL NOT NULL,
        verified_at_s REAL NOT NULL,
        use_count INTEGER NOT NULL DEFAULT 0,
        UNIQUE (root, id)
    )""",
    """CREATE TABLE note_sources (
        note INTEGER NOT NULL REFERENCES notes (number) ON DELETE CASCADE,
        path TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        is_changed INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (note, path)
    ) WITHOUT ROWID""",
    "CREATE INDEX note_sources_by_path ON note_sources (path)",
    """CREATE VIRTUAL TABLE note_terms USING fts5 (
        terms, tokenize = "unicode61 remove_diacritics 0 tokenchars '$_-+#:./>\\'"
    )""",
)

# Covers what the table of contents asks of ten thousand notes before it reads the fifty that it shows.
BY_USE_STEP: tuple[str, ...] = (
    """CREATE INDEX notes_by_use ON notes
        (scope, kind, status, use_count, used_at_s, updated_at_s, expires_at_s, id, number)""",
)

# A fact's scope is the root it was learned in; every other note's a repo id, or `global`.
NOTEBOOK_STEP: tuple[str, ...] = (
    "ALTER TABLE notes RENAME COLUMN root TO scope",
    "ALTER TABLE notes ADD COLUMN title TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE notes ADD COLUMN description TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE notes ADD COLUMN status TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE notes ADD COLUMN priority TEXT NOT NULL DEFAULT 'P1'",
    "ALTER TABLE notes ADD COLUMN origin TEXT NOT NULL DEFAULT 'compaction'",
    "ALTER TABLE notes ADD COLUMN symbols TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE notes ADD COLUMN updated_at_s REAL NOT NULL DEFAULT 0",
    "ALTER TABLE notes ADD COLUMN used_at_s REAL NOT NULL DEFAULT 0",
    "ALTER TABLE notes ADD COLUMN expires_at_s REAL",
    "UPDATE notes SET updated_at_s = verified_at_s",
    "CREATE INDEX notes_by_update ON notes (scope, updated_at_s)",
    """CREATE TABLE note_refs (
        note INTEGER NOT NULL REFERENCES notes (number) ON DELETE CASCADE,
        relation TEXT NOT NULL,
        target TEXT NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (note, relation, target)
    ) WITHOUT ROWID""",
    "CREATE INDEX note_refs_by_target ON note_refs (target)",
    """CREATE TABLE note_log (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at_s REAL NOT NULL,
        scope TEXT NOT NULL,
        id TEXT NOT NULL,
        action TEXT NOT NULL,
        actor TEXT NOT NULL,
        reason TEXT NOT NULL,
        batch TEXT NOT NULL,
        before TEXT,
        after TEXT
    )""",
    "CREATE INDEX note_log_by_scope ON note_log (scope, number)",
    "CREATE INDEX note_log_by_batch ON note_log (batch) WHERE batch <> ''",
    """CREATE TABLE trees (
        root TEXT PRIMARY KEY,
        repo_id TEXT NOT NULL,
        seen_at_s REAL NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX trees_by_repo ON trees (repo_id)",
)
