"""The store in one SQLite file: rows appended in one short transaction each, in write-ahead mode.

`synchronous=NORMAL`: a killed process loses nothing that was committed, and the file cannot be torn; only a power cut
may take the last answers, which can be asked for again. FULL would wait for the disk at every answer to save those.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, replace
from pathlib import Path
from typing import TypeVar

from live_memory.errors import StoreError
from live_memory.llm.base import Usage
from live_memory.store.base import Account, Answered, SavedWindow, first_id, utc_day
from live_memory.store.schema import migrate, version_of
from live_memory.window.files import FileContext, Observation
from live_memory.window.window import Delta, Entry, Exchange, History, Window

logger = logging.getLogger(__name__)

BUSY_TIMEOUT_S = 5.0  # how long another process may hold the write lock; its transactions take milliseconds
SIDE_FILES = ("", "-wal", "-shm")
OWNER_ONLY = 0o600

Result = TypeVar("Result")

CHARGE = """INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (root, day) DO UPDATE SET
        questions = questions + excluded.questions,
        requests = requests + excluded.requests,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
        cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
        cost_usd = cost_usd + excluded.cost_usd,
        unpriced = unpriced + excluded.unpriced"""
ACCOUNT = """SELECT total(questions), total(requests), total(input_tokens), total(output_tokens),
        total(cache_read_tokens), total(cache_write_tokens), total(cost_usd), total(unpriced)
    FROM accounts WHERE (?1 = '' OR root = ?1) AND (?2 = '' OR day = ?2)"""

FILE_COLUMNS = (
    "path, sha256, size_bytes, mtime_ns, read_at_s, origin, state, content, used_at_s"  # as FileContext's fields
)
SEEN_COLUMNS = "path, sha256, size_bytes, mtime_ns, at_s, origin, state, text, changes"  # as Observation's fields


class SqliteStore:
    """The Store port over one database file, which it owns; several processes may share it."""

    def __init__(self, path: Path) -> None:
        """StoreError when the file cannot be opened or is of a newer version. A damaged one is moved aside."""
        self.notice = ""
        self._path = path
        try:
            self._connection = _opened(path)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise StoreError(_sentence(path, error)) from error
            self._connection = self._begun_anew()
        except OSError as error:
            raise StoreError(_sentence(path, error)) from error

    def load(self, root: str) -> SavedWindow | None:
        return self._run(lambda: self._load(_storable(root)))

    def begin(self, root: str, window: Window, at_s: float) -> None:
        def work() -> None:
            with self._transaction():
                window_id = self._window_id(_storable(root))
                self._keep_texts(window_id, window)
                self._connection.execute("UPDATE windows SET tree_at_s = ? WHERE id = ?", (at_s, window_id))
                self._keep_files(window_id, window.files.values())

        self._run(work)

    def refreeze(self, root: str, window: Window, tree_at_s: float | None = None) -> None:
        def work() -> None:
            with self._transaction():
                window_id = self._window_id(_storable(root))
                self._keep_texts(window_id, window)
                self._keep_entries(window_id, window)
                write = self._connection.execute
                if tree_at_s is not None:
                    write("UPDATE windows SET tree_at_s = ? WHERE id = ?", (tree_at_s, window_id))
                write("DELETE FROM files WHERE window_id = ?", (window_id,))
                self._keep_files(window_id, window.files.values())
                write("DELETE FROM observations WHERE window_id = ?", (window_id,))
                self._keep_observations(window_id, window.pending.values())

        self._run(work)

    def observe(self, root: str, seen: Mapping[str, Observation | None]) -> None:
        def work() -> None:
            with self._transaction():
                window_id = self._window_id(_storable(root))
                self._connection.executemany(
                    "DELETE FROM observations WHERE window_id = ? AND path = ?",
                    [(window_id, _storable(path)) for path, each in seen.items() if each is None],
                )
                self._keep_observations(window_id, [each for each in seen.values() if each is not None])

        self._run(work)

    def append_deltas(
        self, root: str, deltas: Sequence[Delta], files: Iterable[FileContext], at_s: float
    ) -> tuple[Delta, ...]:
        def work() -> tuple[Delta, ...]:
            with self._transaction():
                window_id = self._window_id(_storable(root))
                saved = tuple(
                    replace(delta, id=self._insert(window_id, at_s, "delta", (delta.text, "", json.dumps(delta.paths))))
                    for delta in deltas
                )
                self._keep_files(window_id, files)
                self._connection.execute("DELETE FROM observations WHERE window_id = ?", (window_id,))
                return saved

        return self._run(work)

    def record(self, root: str, answered: Answered) -> Exchange | None:
        def work() -> Exchange | None:
            with self._transaction():
                self._connection.execute(CHARGE, _account_row(root, answered))
                return self._append(_storable(root), answered)

        return self._run(work)

    def clear(self, root: str) -> None:
        def work() -> None:
            with self._transaction():
                self._connection.execute("DELETE FROM windows WHERE root = ?", (_storable(root),))

        self._run(work)

    def account(self, root: str = "", day: str = "") -> Account:
        row = self._run(lambda: self._connection.execute(ACCOUNT, (_storable(root), day)).fetchone())
        questions, requests, *tokens = (int(number) for number in row[:6])
        return Account(questions, requests, Usage(*tokens), float(row[6]), int(row[7]))

    def size_bytes(self) -> int:
        total = 0
        for suffix in SIDE_FILES:
            with suppress(FileNotFoundError):
                total += self._path.with_name(self._path.name + suffix).stat().st_size
        return total

    def close(self) -> None:
        self._connection.close()

    def _load(self, root: str) -> SavedWindow | None:
        rows = self._connection.execute
        found = rows(
            "SELECT id, tree, tree_at_s, frozen, ledger, first_entry_id FROM windows WHERE root = ?", (root,)
        ).fetchone()
        if found is None:
            return None
        window_id, tree, tree_at_s, frozen, ledger, first = found
        entries = rows(
            "SELECT id, kind, text, answer, sources FROM entries WHERE window_id = ? AND id >= ? ORDER BY id",
            (window_id, first),
        )
        history = History.of(_entry(*row) for row in entries)
        (left_out,) = rows(
            "SELECT count(*) FROM entries WHERE window_id = ? AND id < ? AND kind = 'exchange'", (window_id, first)
        ).fetchone()
        files = rows(f"SELECT {FILE_COLUMNS} FROM files WHERE window_id = ? ORDER BY path", (window_id,))  # noqa: S608  # a constant
        known = {row[0]: FileContext(*row) for row in files}
        seen = rows(f"SELECT {SEEN_COLUMNS} FROM observations WHERE window_id = ? ORDER BY path", (window_id,))  # noqa: S608  # a constant
        pending = {row[0]: Observation(*row) for row in seen}
        return SavedWindow(Window(tree, frozen, history, known, left_out, ledger, pending), tree_at_s)

    def _append(self, root: str, answered: Answered) -> Exchange | None:
        exchange = answered.exchange
        if exchange is None:
            return None
        window_id = self._window_id(root)
        columns = (exchange.question, exchange.answer, json.dumps(exchange.sources))
        entry_id = self._insert(window_id, answered.at_s, "exchange", columns)
        for file in answered.files:
            touched = self._connection.execute(
                """UPDATE files SET used_at_s = max(used_at_s, ?, ?)
                WHERE window_id = ? AND path = ? AND content IS NOT NULL""",
                (file.used_at_s, file.read_at_s, window_id, _storable(file.path)),
            )
            if touched.rowcount == 0:  # prompts carry no text of it
                self._keep_files(window_id, (file,))
        return replace(exchange, id=entry_id)

    def _window_id(self, root: str) -> int:
        write = self._connection.execute
        write("INSERT INTO windows (root) VALUES (?) ON CONFLICT (root) DO NOTHING", (root,))
        return int(write("SELECT id FROM windows WHERE root = ?", (root,)).fetchone()[0])

    def _insert(self, window_id: int, at_s: float, kind: str, columns: tuple[str, str, str]) -> int:
        inserted = self._connection.execute(
            "INSERT INTO entries (window_id, at_s, kind, text, answer, sources) VALUES (?, ?, ?, ?, ?, ?)",
            (window_id, at_s, kind, *columns),
        )
        return int(inserted.lastrowid or 0)

    def _keep_texts(self, window_id: int, window: Window) -> None:
        self._connection.execute(
            "UPDATE windows SET tree = ?, frozen = ?, ledger = ? WHERE id = ?",
            (_storable(window.tree), _storable(window.frozen), _storable(window.ledger), window_id),
        )

    def _keep_entries(self, window_id: int, window: Window) -> None:
        """Which entries prompts carry; the others stay where they are exchanges."""
        write = self._connection.execute
        (newest,) = write("SELECT coalesce(max(id), 0) FROM entries WHERE window_id = ?", (window_id,)).fetchone()
        write("UPDATE windows SET first_entry_id = ? WHERE id = ?", (first_id(window, newest), window_id))
        kept = json.dumps([entry.id for entry in window.history.entries if isinstance(entry, Delta)])
        write(
            """DELETE FROM entries
            WHERE window_id = ? AND kind = 'delta' AND id NOT IN (SELECT value FROM json_each(?))""",
            (window_id, kept),
        )

    def _keep_files(self, window_id: int, files: Iterable[FileContext]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(window_id, _storable(file.path), *astuple(file)[1:]) for file in files],
        )

    def _keep_observations(self, window_id: int, seen: Iterable[Observation]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO observations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(window_id, _storable(each.path), *astuple(each)[1:]) for each in seen],
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _run(self, work: Callable[[], Result]) -> Result:
        """`work`, and once more on a new file when it finds this one damaged."""
        try:
            return work()
        except sqlite3.Error as error:
            if not _is_damage(error):
                raise StoreError(_sentence(self._path, error)) from error
        self._connection.close()
        self._connection = self._begun_anew()
        try:
            return work()
        except sqlite3.Error as error:
            raise StoreError(_sentence(self._path, error)) from error

    def _begun_anew(self) -> sqlite3.Connection:
        aside = _move_aside(self._path)
        self.notice = f"The database was damaged; it was moved to {aside} and a new one was begun."
        logger.warning("database damaged moved_to=%s", aside)
        try:
            return _opened(self._path)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(_sentence(self._path, error)) from error


def _entry(entry_id: int, kind: str, text: str, answer: str, sources: str) -> Entry:
    if kind == "delta":
        return Delta(entry_id, text, tuple(json.loads(sources)))
    return Exchange(entry_id, text, answer, tuple((path, sha256) for path, sha256 in json.loads(sources)))


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to the database at `path`, its tables made; the file is readable by its owner only."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY))  # before SQLite does; -wal and -shm get the same mode
    if os.name == "posix":
        os.chmod(path, OWNER_ONLY)
    # Autocommit, so that a transaction is exactly what `_transaction` says. The desk's loop may run in another thread
    # than the one that opened the store.
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        version_of(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection)
        connection.execute("SELECT count(*) FROM windows").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, as against locked, full or out of reach (which are operational)."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _move_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in SIDE_FILES:
        with suppress(FileNotFoundError):
            os.replace(path.with_name(path.name + suffix), aside.with_name(aside.name + suffix))
    return aside


def _sentence(path: Path, error: Exception) -> str:
    return f"The database {path} cannot be used ({error}): free disk space, or make the folder writable, and try again."


def _account_row(root: str, answered: Answered) -> tuple[str | float, ...]:
    account, usage = answered.account, answered.account.usage
    tokens = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    day = utc_day(answered.at_s)
    return (_storable(root), day, account.questions, account.requests, *tokens, account.cost_usd, account.unpriced)


def _storable(text: str) -> str:
    """`text` as SQLite can hold it: file names that are no valid Unicode are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()
