"""am-memory's SQLite file, read as notes. It is only ever read, and may be anybody's: a damaged or hostile one is refused
with a sentence, after a bounded time, and nothing in it is run.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from live_memory.errors import QuestionError
from live_memory.notes.codecs.am_rows import Row, Tables, notes_of
from live_memory.notes.codecs.base import Decoded, Omission

HEADER = b"SQLite format 3\0"
MAX_FILE_BYTES = 1 << 30
MAX_VALUE_BYTES = 1 << 20  # of a text; embeddings are not read
MAX_ROWS = 100_000
MAX_STEPS = 2_000  # times STEP_INSTRUCTIONS of SQLite's machine: some seconds
STEP_INSTRUCTIONS = 100_000
COLUMNS = {
    "documents": (
        *("doc_id", "title", "summary", "key_facts", "decisions", "code_sigs", "metrics", "raw_content", "priority"),
        *("source", "file_path", "project", "created_at", "expires_at", "last_accessed_at"),
    ),
    "sessions": (
        *(
            "session_id",
            "project",
            "topic",
            "started_at",
            "ended_at",
            "summary",
            "key_facts",
            "decisions",
            "open_items",
        ),
    ),
    "state": ("key", "value", "updated_at"),
    "doc_relations": ("doc_id_a", "doc_id_b"),
}


def read(path: Path, now_s: float, project: str = "") -> Decoded:
    """The notes of the database at `path`; of a named `project` alone, and what belongs to none. QuestionError
    (`bad-file`) when it cannot be read or is not am-memory's."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise _refusal(f"is over {MAX_FILE_BYTES >> 20} MiB")
    try:
        with _opened(path) as connection:
            tables = _tables(connection)
    except sqlite3.Error as error:
        raise _refusal(f"cannot be read as a database ({error})") from error
    return notes_of(tables, now_s, project)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that reads. What am-memory has written but not yet brought into the file stands in a log beside it:
    then a copy of both is read, because whoever reads such a file itself writes beside it."""
    log = path.with_name(path.name + "-wal")
    if not (log.is_file() and log.stat().st_size):
        with closing(_connected(path, "mode=ro&immutable=1")) as connection:
            yield connection
        return
    with TemporaryDirectory(prefix="live-memory-") as folder:
        copy = Path(folder, "am.db")
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name("am.db-wal"))
        with closing(_connected(copy, "mode=rw")) as connection:
            yield connection


def _connected(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
    connection.text_factory = bytes  # a text need not be UTF-8
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_FILE_BYTES >> 4)
    steps = iter(range(MAX_STEPS))
    connection.set_progress_handler(lambda: next(steps, None) is None, STEP_INSTRUCTIONS)
    for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _tables(connection: sqlite3.Connection) -> Tables:
    known = {_plain(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "documents" not in known:
        raise _refusal("is not am-memory's: it has no table of documents")
    omissions: list[Omission] = []
    rows = {name: _rows(connection, name, omissions) if name in known else [] for name in COLUMNS}
    relations = [(_number(row.get("doc_id_a")), _number(row.get("doc_id_b"))) for row in rows["doc_relations"]]
    return Tables(rows["documents"], rows["sessions"], rows["state"], relations, omissions)


def _rows(connection: sqlite3.Connection, table: str, omissions: list[Omission]) -> list[Row]:
    """The rows of a table in their order, of the columns that this version of it has."""
    there = {_plain(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}
    names = [name for name in COLUMNS[table] if name in there]
    if not names:
        return []
    values = ", ".join(
        f"CASE WHEN length(CAST({name} AS BLOB)) > {MAX_VALUE_BYTES} THEN NULL ELSE {name} END" for name in names
    )
    found = connection.execute(f"SELECT {values} FROM {table} ORDER BY rowid LIMIT {MAX_ROWS + 1}")  # noqa: S608  # names of ours
    rows = [dict(zip(names, map(_plain, row), strict=True)) for row in found]
    if len(rows) > MAX_ROWS:
        omissions.append(Omission(table, f"only the first {MAX_ROWS} rows are read"))
    return list(rows[:MAX_ROWS])


def _plain(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _refusal(what: str) -> QuestionError:
    return QuestionError("bad-file", f"The file {what}.")
