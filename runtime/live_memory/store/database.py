"""One SQLite file that several processes may share: opened, migrated, in write-ahead mode, moved aside when damaged.

`synchronous=NORMAL`: a killed process loses nothing that was committed, and the file cannot be torn; only a power cut
may take the last answers, which can be asked for again. FULL would wait for the disk at every answer to save those.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from live_memory.errors import StoreError
from live_memory.store.schema import migrate, version_of

logger = logging.getLogger(__name__)

# How long another process may hold the write lock; its transactions take milliseconds. The event loop stands still meanwhile,
# and a server that is silent for two seconds counts as hung.
BUSY_TIMEOUT_S = 1.0
# SQLite waits longer each time it asks for a lock, up to 100 ms, and whoever waits long goes away empty-handed while others
# come and go. Asked anew after a few milliseconds, eight writers at once wait 0.3 s at most instead of over 1 s (measured).
BUSY_SLICE_S = 0.005
# Once the wait was in vain, those that follow give up soon: a second for each of them, one after the other, would make the
# server look hung, and be replaced, for as long as somebody holds the lock.
IMPATIENT_S = 0.01
# Another process may be making the tables. Some of what opening takes is refused at once, without a wait, while it does.
OPENING_TRIES = 50
OPENING_SLICE_S = 0.1
OPENING_PAUSE_S = 0.01
SIDE_FILES = ("", "-wal", "-shm")
OWNER_ONLY = 0o600

Result = TypeVar("Result")
Parameters = Sequence["str | bytes | float | None"]


class Database:
    """The file at a path, and the one connection to it."""

    def __init__(self, path: Path) -> None:
        """StoreError when the file cannot be opened or is of a newer version. A damaged one is moved aside."""
        self.notice = ""
        self._path = path
        self._patience_s = BUSY_TIMEOUT_S
        try:
            self._connection = _opened(path)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise StoreError(_sentence(path, error)) from error
            self._connection = self._begun_anew()
        except OSError as error:
            raise StoreError(_sentence(path, error)) from error

    def execute(self, statement: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Run one statement, inside what `read` or `write` was given."""
        return self._connection.execute(statement, parameters)

    def executemany(self, statement: str, rows: Sequence[Parameters]) -> None:
        self._connection.executemany(statement, rows)

    def read(self, work: Callable[[], Result]) -> Result:
        """What `work` returns, and once more on a new file when it finds this one damaged. A file that was removed is begun
        anew. StoreError."""
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

    def write(self, work: Callable[[], Result]) -> Result:
        """As `read`, and all that `work` changes is one transaction."""

        def transact() -> Result:
            with self._transaction():
                return work()

        return self.read(transact)

    def size_bytes(self) -> int:
        total = 0
        for suffix in SIDE_FILES:
            with suppress(FileNotFoundError):
                total += self._path.with_name(self._path.name + suffix).stat().st_size
        return total

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._begin()
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _begin(self) -> None:
        """Take the write lock, or raise sqlite3.OperationalError after BUSY_TIMEOUT_S; after IMPATIENT_S until it was to be had
        again."""
        tries_left = max(1, round(self._patience_s / BUSY_SLICE_S))
        _wait_at_most(self._connection, BUSY_SLICE_S)
        try:
            while True:
                tries_left -= 1
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    if not _is_busy(error):
                        raise
                    if not tries_left:
                        self._patience_s = IMPATIENT_S
                        raise
                else:
                    self._patience_s = BUSY_TIMEOUT_S
                    return
        finally:
            _wait_at_most(self._connection, BUSY_TIMEOUT_S)

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
    """A connection to the database at `path`, its tables made, tried again for about OPENING_TRIES * OPENING_SLICE_S while
    another has the lock; the file is readable by its owner only."""
    for _ in range(OPENING_TRIES - 1):
        try:
            return _opened_at_once(path)
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
        time.sleep(OPENING_PAUSE_S)
    return _opened_at_once(path)


def _opened_at_once(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY))  # before SQLite does; -wal and -shm get the same mode
    if os.name == "posix":
        os.chmod(path, OWNER_ONLY)
    # Autocommit, so that a transaction is exactly what `_transaction` says. The desk's loop may run in another thread
    # than the one that opened the store.
    connection = sqlite3.connect(path, timeout=OPENING_SLICE_S, isolation_level=None, check_same_thread=False)
    try:
        version_of(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what is forgotten leaves the file too
        migrate(connection)
        connection.execute("SELECT count(*) FROM windows").fetchone()
        _wait_at_most(connection, BUSY_TIMEOUT_S)
    except BaseException:
        connection.close()
        raise
    return connection


def _wait_at_most(connection: sqlite3.Connection, seconds: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")


def _is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds the lock."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


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
    if isinstance(error, sqlite3.Error) and _is_busy(error):
        return f"The database {path} is locked by another program for too long: end what holds it, and try again."
    return f"The database {path} cannot be used ({error}): free disk space, or make the folder writable, and try again."


def storable(text: str) -> str:
    """`text` as SQLite can hold it: file names that are no valid Unicode are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()
