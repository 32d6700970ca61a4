"""The tables of the notes' index, as one step of the database's history."""

from __future__ import annotations

INDEX_STEP: tuple[str, ...] = (
    """CREATE TABLE note_scopes (
        number INTEGER PRIMARY KEY,
        scope TEXT NOT NULL UNIQUE,
        notes INTEGER NOT NULL DEFAULT 0,
        terms INTEGER NOT NULL DEFAULT 0
    )""",
    # All but ASCII is part of a token there, and the signs that the term maker leaves in a term.
    """CREATE VIRTUAL TABLE note_index USING fts5 (
        title, description, body, tokenize = "ascii tokenchars '$_-+#:./>\\'"
    )""",
    "CREATE VIRTUAL TABLE note_vocabulary USING fts5vocab (note_index, 'row')",
    "INSERT INTO note_scopes (scope) SELECT DISTINCT scope FROM notes",
    """INSERT INTO note_index (rowid, title, description, body)
        SELECT notes.number, '', '',
            note_scopes.number || ':' || replace(note_terms.terms, ' ', ' ' || note_scopes.number || ':')
        FROM note_terms JOIN notes ON notes.number = note_terms.rowid
        JOIN note_scopes ON note_scopes.scope = notes.scope WHERE note_terms.terms <> ''""",
    """UPDATE note_scopes SET (notes, terms) = (
        SELECT count(*), ifnull(sum(length(i.body) - length(replace(i.body, ' ', '')) + 1), 0)
        FROM note_index i JOIN notes ON notes.number = i.rowid WHERE notes.scope = note_scopes.scope)""",
    "DROP TABLE note_terms",
)
