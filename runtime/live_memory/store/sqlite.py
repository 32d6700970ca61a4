"""The store in one SQLite file: rows appended in one short transaction each, in write-ahead mode.

`synchronous=NORMAL`: a killed process loses nothing that was committed, and the file cannot be torn; only a power cut
may take the last answers, which can be asked for again. FULL would wait for the disk at every answer to save those.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, replace
from pathlib import Path
from typing import TypeVar

from live_memory.errors import StoreError
from live_memory.llm.base import Usage
from live_memory.store.base import Account, Answered, SavedWindow, utc_day
from live_memory.store.schema import migrate, version_of
from live_memory.window.files import FileContext
from live_memory.window.window import Exchange, History, Window

logger = logging.getLogger(__name__)

# How long another process may hold the write lock; its transactions take milliseconds. The event loop stands still meanwhile,
# and a server that is silent for two seconds counts as hung.
BUSY_TIMEOUT_S = 1.0
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
                self._connection.execute(
                    """INSERT INTO windows (root, tree, tree_at_s, frozen) VALUES (?, ?, ?, ?) ON CONFLICT (root)
                    DO UPDATE SET tree = excluded.tree, tree_at_s = excluded.tree_at_s, frozen = excluded.frozen""",
                    (_storable(root), _storable(window.tree), at_s, _storable(window.frozen)),
                )

        self._run(work)

    def record(self, root: str, answered: Answered) -> Exchange | None:
        def work() -> Exchange | None:
            with self._transaction():
                self._connection.execute(CHARGE, _account_row(root, answered))
                return self._append(_storable(root), answered)

        return self._run(work)

    def leave_out_before(self, root: str, entry_id: int) -> None:
        def work() -> None:
            with self._transaction():
                self._connection.execute(
                    "UPDATE windows SET first_entry_id = max(first_entry_id, ?) WHERE root = ?",
                    (entry_id, _storable(root)),
                )

        self._run(work)

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
            "SELECT id, tree, tree_at_s, frozen, first_entry_id FROM windows WHERE root = ?", (root,)
        ).fetchone()
        if found is None:
            return None
        window_id, tree, tree_at_s, frozen, first_id = found
        entries = rows(
            "SELECT id, question, answer FROM entries WHERE window_id = ? AND id >= ? ORDER BY id",
            (window_id, first_id),
        )
        history = History.of(Exchange(*row) for row in entries)
        (left_out,) = rows(
            "SELECT count(*) FROM entries WHERE window_id = ? AND id < ?", (window_id, first_id)
        ).fetchone()
        columns = "path, sha256, size_bytes, mtime_ns, read_at_s"
        files = rows(f"SELECT {columns} FROM files WHERE window_id = ? ORDER BY path", (window_id,))  # noqa: S608  # a constant
        known = {row[0]: FileContext(*row) for row in files}
        return SavedWindow(Window(tree, frozen, history, known, left_out), tree_at_s)

    def _append(self, root: str, answered: Answered) -> Exchange | None:
        if answered.exchange is None:
            return None
        write = self._connection.execute
        write("INSERT INTO windows (root) VALUES (?) ON CONFLICT (root) DO NOTHING", (root,))
        (window_id,) = write("SELECT id FROM windows WHERE root = ?", (root,)).fetchone()
        inserted = write(
            "INSERT INTO entries (window_id, at_s, question, answer) VALUES (?, ?, ?, ?)",
            (window_id, answered.at_s, answered.exchange.question, answered.exchange.answer),
        )
        self._connection.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)",
            [(window_id, _storable(f.path), *astuple(f)[1:]) for f in answered.files],
        )
        return replace(answered.exchange, id=int(inserted.lastrowid or 0))

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
        """`work`, and once more on a new file when it finds this one damaged. A file that was removed is begun anew."""
        self._reopen_if_removed()
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

    def _reopen_if_removed(self) -> None:
        """What is written to a file without a name is gone with this process."""
        if self._path.exists():
            return
        logger.warning("database removed path=%s", self._path)
        self.notice = "The database was removed while the server ran; a new one was begun."
        self._connection.close()  # first: it removes the side files by their names
        try:
            self._connection = _opened(self._path)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(_sentence(self._path, error)) from error

    def _begun_anew(self) -> sqlite3.Connection:
        aside = _move_aside(self._path)
        self.notice = f"The database was damaged; it was moved to {aside} and a new one was begun."
        logger.warning("database damaged moved_to=%s", aside)
        try:
            return _opened(self._path)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(_sentence(self._path, error)) from error


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
