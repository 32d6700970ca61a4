"""A database as am-memory 0.1.0 makes it, without am-memory: its tables, and rows of each kind."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

NOW_S = 1_800_000_000.0
DAY_S = 86_400.0
JULIAN = NOW_S / DAY_S + 2_440_587.5  # NOW_S as the default of the tables writes it
TABLES = """
CREATE TABLE sessions (session_id TEXT PRIMARY KEY, project TEXT, topic TEXT, started_at REAL DEFAULT (julianday('now')),
    ended_at REAL, summary TEXT, key_facts TEXT, decisions TEXT, open_items TEXT, source TEXT);
CREATE TABLE documents (doc_id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, summary TEXT, key_facts TEXT,
    decisions TEXT, code_sigs TEXT, metrics TEXT, raw_content TEXT, priority TEXT DEFAULT 'P1', source TEXT DEFAULT 'explicit',
    generator TEXT DEFAULT 'rule', embedding BLOB, file_path TEXT, created_at REAL DEFAULT (julianday('now')), expires_at REAL,
    last_accessed_at REAL, project TEXT);
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at REAL DEFAULT (julianday('now')));
CREATE TABLE doc_relations (id INTEGER PRIMARY KEY AUTOINCREMENT, doc_id_a INTEGER NOT NULL, doc_id_b INTEGER NOT NULL,
    relation_type TEXT NOT NULL);
"""
DOCUMENTS = (
    {"title": "Ports are the lock", "source": "architectural_decision", "priority": "P0", "expires_at": None,
     "raw_content": "# Ports\n\nWhoever binds is the server.", "key_facts": ["Port: 7711"], "summary": "Whoever binds.",
     "code_sigs": ["def claim(port): ...", "serve_forever()", "Server"]},
    {"title": "YARN ignores the limit", "source": "debug_solution", "project": "harbour", "raw_content": "Use the hard one."},
    {"title": "Twin", "source": "routine", "priority": "P2", "project": "harbour", "raw_content": "one"},
    {"title": "Twin", "source": "routine", "priority": "P2", "project": "other", "raw_content": "two"},
    {"title": "Old", "source": "technical_insight", "raw_content": "gone", "expires_at": NOW_S - DAY_S},
    {"title": "Edited serve.py", "source": "hook", "priority": "P2", "file_path": "/src/serve.py", "raw_content": "class S"},
    {"title": "Import day", "source": "session_extract", "file_path": "session:s1", "raw_content": "# Import day",
     "decisions": ["copies"]},
)  # fmt: skip


def make(path: Path) -> Path:
    """The database at `path`."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
        for given in DOCUMENTS:
            row = {"created_at": JULIAN, "expires_at": NOW_S + DAY_S, "last_accessed_at": NOW_S, **given}
            row = {name: json.dumps(value) if isinstance(value, list) else value for name, value in row.items()}
            columns, marks = ", ".join(row), ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO documents ({columns}) VALUES ({marks})", tuple(row.values()))
        session = (
            "INSERT INTO sessions (session_id, project, topic, ended_at, summary, open_items) VALUES (?, ?, ?, ?, ?, ?)"
        )
        connection.execute(session, ("s1", "harbour", "Import day", NOW_S, "Moved.", "[]"))
        connection.execute(session, ("s2", "harbour", "Half done", NOW_S, "Began.", '["test it"]'))
        connection.execute("INSERT INTO state VALUES ('active_work', ?, ?)", ('{"ticket": "LM-12"}', NOW_S))
        connection.execute("INSERT INTO state VALUES ('current_session_id', '\"s2\"', ?)", (NOW_S,))
        connection.execute("INSERT INTO doc_relations (doc_id_a, doc_id_b, relation_type) VALUES (1, 2, 'related')")
        connection.commit()
    return path
