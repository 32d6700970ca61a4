"""The real server, as a program that notes every statement it gives to SQLite and can end itself at one of them.

    python dying_server.py STATEMENTS CHANGE NTH OFFSET <the server's own words>

From when the file `STATEMENTS.armed` exists, the NTH transaction that makes CHANGE is its last: the process sends itself
SIGKILL `OFFSET` statements after the one that tells which change it is, at the COMMIT at the latest, before SQLite
runs it. OFFSET `commit` is that COMMIT, `after` the first statement behind it. CHANGE `nothing` lets it live.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias

# An answer enters the window; a window is told what changed; the block is made anew; files were seen; a note is written; the
# queue of transcripts moves.
Change: TypeAlias = Literal["answer", "telling", "compaction", "observation", "note", "transcript", "other"]

RUNTIME = Path(__file__).resolve().parents[2] / "runtime"
NOTED_CHARS = 140


def change_of(statements: Iterable[str]) -> Change:
    """What a transaction with these statements does, as far as they tell."""
    said = tuple(statements)
    if any(s.startswith("INSERT INTO note_log") for s in said):
        return "note"
    if any(s.startswith("UPDATE transcripts") for s in said):
        return "transcript"
    if any(s.startswith(("INSERT INTO notes ", "UPDATE windows SET tree = ")) for s in said):
        return "compaction"
    entries = [s for s in said if s.startswith("INSERT INTO entries ")]
    if entries:
        return "telling" if any("'delta'" in s for s in entries) else "answer"
    if any(s.startswith("INSERT OR REPLACE INTO observations") for s in said):
        return "observation"
    return "other"


def armed(noted: Path) -> Path:
    """The file from whose existence on the moment may come."""
    return noted.with_name(f"{noted.name}.armed")


class Witness:
    """Hears each statement before SQLite runs it."""

    def __init__(self, noted: Path, change: str, nth: int, offset: str) -> None:
        self._noted = os.open(noted, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._armed = armed(noted)
        self._change, self._left, self._offset = change, nth, offset
        self._transaction: list[str] = []
        self._since = -1  # statements since the one that told the change; -1 before it
        self._is_over = False  # the transaction that was to be the last has been committed

    def __call__(self, statement: str) -> None:
        line = " ".join(statement[:NOTED_CHARS].split())
        os.write(self._noted, f"{line}\n".encode("utf-8", "backslashreplace"))  # the kernel's by now: no kill takes it
        if self._is_over:
            os.kill(os.getpid(), signal.SIGKILL)
        if line.startswith("BEGIN"):
            self._transaction, self._since = [line], -1
            return
        if not self._transaction:
            return  # a read
        self._transaction.append(line)
        if self._since >= 0 or change_of(self._transaction) == self._change:
            self._come_closer(line)
        if line in ("COMMIT", "ROLLBACK"):
            self._transaction = []

    def _come_closer(self, line: str) -> None:
        self._since += 1
        if self._since == 0 and self._armed.exists():
            self._left -= 1
        if self._left != 0:
            return
        if self._offset == "after":
            self._is_over = line == "COMMIT"
        elif line == "COMMIT" or (self._offset != "commit" and self._since >= int(self._offset)):
            os.kill(os.getpid(), signal.SIGKILL)


def watch(witness: Witness) -> None:
    """Have every connection that is opened from now on tell `witness`."""
    connect = sqlite3.connect

    def watched(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **named)
        connection.set_trace_callback(witness)
        return connection

    sqlite3.connect = watched  # type: ignore[assignment]  # its overloads


def main() -> int:
    noted, change, nth, offset = sys.argv[1:5]
    watch(Witness(Path(noted), change, int(nth), offset))
    sys.path[0] = str(RUNTIME)
    from live_memory.__main__ import main as serve

    return serve(sys.argv[5:])


if __name__ == "__main__":
    sys.exit(main())
