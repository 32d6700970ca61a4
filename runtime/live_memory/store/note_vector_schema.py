"""The tables of the notes' vectors, as one step of the database's history."""

from __future__ import annotations

# What a note says has changed or is new: its vector is gone, and wanted. Triggers, so that no way of writing a note forgets
# it; NOT EXISTS, for an upsert's own way with conflicts would override OR IGNORE in them. The row's signs stand in an index of their own: all of them are read at a start, the vectors are not.
VECTORS_STEP: tuple[str, ...] = (
    """CREATE TABLE note_vectors (
        note INTEGER PRIMARY KEY REFERENCES notes (number) ON DELETE CASCADE,
        model TEXT NOT NULL,
        text_sha256 BLOB NOT NULL,
        signs BLOB NOT NULL,
        vector BLOB NOT NULL
    )""",
    "CREATE INDEX note_vectors_by_model ON note_vectors (model, note, signs)",
    "CREATE TABLE note_vectors_wanted (note INTEGER PRIMARY KEY REFERENCES notes (number) ON DELETE CASCADE)",
    "INSERT INTO note_vectors_wanted SELECT number FROM notes",
    """CREATE TRIGGER note_vector_of_new AFTER INSERT ON notes BEGIN
        INSERT INTO note_vectors_wanted SELECT new.number
            WHERE NOT EXISTS (SELECT 1 FROM note_vectors_wanted WHERE note = new.number);
    END""",
    """CREATE TRIGGER note_vector_of_changed AFTER UPDATE OF title, description, body ON notes
        WHEN old.title <> new.title OR old.description <> new.description OR old.body <> new.body BEGIN
        DELETE FROM note_vectors WHERE note = new.number;
        INSERT INTO note_vectors_wanted SELECT new.number
            WHERE NOT EXISTS (SELECT 1 FROM note_vectors_wanted WHERE note = new.number);
    END""",
)
