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
