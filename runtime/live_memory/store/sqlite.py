"""The store in one SQLite file: rows appended in one short transaction each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Literal

from live_memory.llm.base import Purpose, Usage
from live_memory.store.base import NO_HARVEST, Account, Answered, Harvest, SavedWindow, first_id, utc_day
from live_memory.store.database import Database, storable
from live_memory.store.dream_log import DreamLog
from live_memory.store.note_index import NoteIndex
from live_memory.store.note_store import NoteStore
from live_memory.store.note_vectors import NoteVectors
from live_memory.store.notes import Notes
from live_memory.store.sqlite_dream_log import SqliteDreamLog
from live_memory.store.sqlite_note_store import SqliteNoteStore
from live_memory.store.sqlite_note_vectors import SqliteNoteVectors
from live_memory.store.sqlite_notes import SqliteNotes
from live_memory.store.sqlite_transcript_queue import SqliteTranscriptQueue
from live_memory.store.transcript_queue import TranscriptQueue
from live_memory.window.files import FileContext, Observation
from live_memory.window.window import Delta, Entry, Exchange, History, Window

CHARGE = """INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (root, day, purpose) DO UPDATE SET
        questions = questions + excluded.questions,
        requests = requests + excluded.requests,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
        cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
        cost_usd = cost_usd + excluded.cost_usd,
        unpriced = unpriced + excluded.unpriced,
        saved_usd = saved_usd + excluded.saved_usd"""
ACCOUNT = """SELECT total(questions), total(requests), total(input_tokens), total(output_tokens),
        total(cache_read_tokens), total(cache_write_tokens), total(cost_usd), total(unpriced), total(saved_usd)
    FROM accounts"""

OWED = """SELECT entries.id, kind, text, answer, sources FROM entries JOIN windows ON windows.id = window_id
    WHERE root = ? AND kind = 'exchange' AND entries.id < first_entry_id AND NOT is_carried ORDER BY entries.id LIMIT ?"""

FORGET_UNASKED = """DELETE FROM windows WHERE id IN (
        SELECT id FROM windows WHERE tree_at_s = 0
            AND NOT EXISTS (SELECT 1 FROM entries WHERE window_id = windows.id)
            AND NOT EXISTS (SELECT 1 FROM files WHERE window_id = windows.id)
        ORDER BY (SELECT max(at_s) FROM observations WHERE window_id = windows.id) DESC
        LIMIT -1 OFFSET ?)"""

FILE_COLUMNS = (
    "path, sha256, size_bytes, mtime_ns, read_at_s, origin, state, content, used_at_s"  # as FileContext's fields
)
SEEN_COLUMNS = "path, sha256, size_bytes, mtime_ns, at_s, origin, state, text, changes"  # as Observation's fields


class SqliteStore:
    """The Store port over one database file, which it owns; several processes may share it."""

    def __init__(self, path: Path) -> None:
        """StoreError when the file cannot be opened or is of a newer version. A damaged one is moved aside."""
        self._database = Database(path)
        index = NoteIndex(self._database)
        self._notes = SqliteNotes(self._database, index)
        self._note_store = SqliteNoteStore(self._database, index)
        self._transcripts = SqliteTranscriptQueue(self._database)
        self._dreams = SqliteDreamLog(self._database)
        self._note_vectors = SqliteNoteVectors(self._database)

    @property
    def notice(self) -> str:
        return self._database.notice

    @property
    def notes(self) -> Notes:
        return self._notes

    @property
    def note_store(self) -> NoteStore:
        return self._note_store

    @property
    def note_vectors(self) -> NoteVectors:
        return self._note_vectors

    @property
    def transcripts(self) -> TranscriptQueue:
        return self._transcripts

    @property
    def dreams(self) -> DreamLog:
        return self._dreams

    def load(self, root: str) -> SavedWindow | None:
        return self._database.read(lambda: self._load(storable(root)))

    def begin(self, root: str, window: Window, at_s: float) -> None:
        def work() -> None:
            window_id = self._window_id(storable(root))
            self._keep_texts(window_id, window)
            self._database.execute("UPDATE windows SET tree_at_s = ? WHERE id = ?", (at_s, window_id))
            self._keep_files(window_id, window.files.values())

        self._database.write(work)

    def refreeze(
        self, root: str, window: Window, tree_at_s: float | None = None, harvest: Harvest = NO_HARVEST
    ) -> None:
        def work() -> None:
            self._notes.insert(root, harvest.facts)
            window_id = self._window_id(storable(root))
            carried = [(number, window_id) for number in harvest.exchange_ids]
            self._database.executemany("UPDATE entries SET is_carried = 1 WHERE id = ? AND window_id = ?", carried)
            self._keep_texts(window_id, window)
            self._keep_entries(window_id, window)
            write = self._database.execute
            if tree_at_s is not None:
                write("UPDATE windows SET tree_at_s = ? WHERE id = ?", (tree_at_s, window_id))
            write("DELETE FROM files WHERE window_id = ?", (window_id,))
            self._keep_files(window_id, window.files.values())
            write("DELETE FROM observations WHERE window_id = ?", (window_id,))
            self._keep_observations(window_id, window.pending.values())

        self._database.write(work)

    def owed(self, root: str, limit: int) -> tuple[Exchange, ...]:
        rows = self._database.read(lambda: self._database.execute(OWED, (storable(root), limit)).fetchall())
        entries = (_entry(*row) for row in rows)
        return tuple(entry for entry in entries if isinstance(entry, Exchange))

    def observe(self, root: str, seen: Mapping[str, Observation | None]) -> None:
        def work() -> None:
            window_id = self._window_id(storable(root))
            self._database.executemany(
                "DELETE FROM observations WHERE window_id = ? AND path = ?",
                [(window_id, storable(path)) for path, each in seen.items() if each is None],
            )
            self._keep_observations(window_id, [each for each in seen.values() if each is not None])

        self._database.write(work)

    def forget_unasked(self, count: int) -> None:
        self._database.write(lambda: self._database.execute(FORGET_UNASKED, (count,)))

    def append_deltas(
        self, root: str, deltas: Sequence[Delta], files: Iterable[FileContext], at_s: float
    ) -> tuple[Delta, ...]:
        def work() -> tuple[Delta, ...]:
            window_id = self._window_id(storable(root))
            saved = tuple(
                replace(delta, id=self._insert(window_id, at_s, "delta", (delta.text, "", json.dumps(delta.paths))))
                for delta in deltas
            )
            self._keep_files(window_id, files)
            self._database.execute("DELETE FROM observations WHERE window_id = ?", (window_id,))
            return saved

        return self._database.write(work)

    def record(self, root: str, answered: Answered) -> Exchange | None:
        def work() -> Exchange | None:
            self._database.execute(CHARGE, _account_row(root, "question", answered.account, answered.at_s))
            return self._append(storable(root), answered)

        return self._database.write(work)

    def charge(self, root: str, purpose: Purpose, account: Account, at_s: float) -> None:
        row = _account_row(root, purpose, account, at_s)
        self._database.write(lambda: self._database.execute(CHARGE, row))

    def clear(self, root: str) -> None:
        def work() -> None:
            self._database.execute("DELETE FROM windows WHERE root = ?", (storable(root),))
            self._notes.delete(root)

        self._database.write(work)

    def account(self, root: str = "", day: str = "", purpose: Purpose | Literal[""] = "") -> Account:
        wanted = {"root": storable(root), "day": day, "purpose": purpose}
        named = [column for column, value in wanted.items() if value]  # no others: each has its index
        where = " AND ".join(f"{column} = ?" for column in named) or "true"
        values = [wanted[column] for column in named]
        row = self._database.read(lambda: self._database.execute(f"{ACCOUNT} WHERE {where}", values).fetchone())
        questions, requests, *tokens = (int(number) for number in row[:6])
        return Account(questions, requests, Usage(*tokens), float(row[6]), int(row[7]), float(row[8]))

    def size_bytes(self) -> int:
        return self._database.size_bytes()

    def close(self) -> None:
        self._database.close()

    def _load(self, root: str) -> SavedWindow | None:
        rows = self._database.execute
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
            touched = self._database.execute(
                """UPDATE files SET used_at_s = max(used_at_s, ?, ?)
                WHERE window_id = ? AND path = ? AND content IS NOT NULL""",
                (file.used_at_s, file.read_at_s, window_id, storable(file.path)),
            )
            if touched.rowcount == 0:  # prompts carry no text of it
                self._keep_files(window_id, (file,))
        return replace(exchange, id=entry_id)

    def _window_id(self, root: str) -> int:
        write = self._database.execute
        write("INSERT INTO windows (root) VALUES (?) ON CONFLICT (root) DO NOTHING", (root,))
        return int(write("SELECT id FROM windows WHERE root = ?", (root,)).fetchone()[0])

    def _insert(self, window_id: int, at_s: float, kind: str, columns: tuple[str, str, str]) -> int:
        inserted = self._database.execute(
            "INSERT INTO entries (window_id, at_s, kind, text, answer, sources) VALUES (?, ?, ?, ?, ?, ?)",
            (window_id, at_s, kind, *columns),
        )
        return int(inserted.lastrowid or 0)

    def _keep_texts(self, window_id: int, window: Window) -> None:
        self._database.execute(
            "UPDATE windows SET tree = ?, frozen = ?, ledger = ? WHERE id = ?",
            (storable(window.tree), storable(window.frozen), storable(window.ledger), window_id),
        )

    def _keep_entries(self, window_id: int, window: Window) -> None:
        """Which entries prompts carry; the others stay where they are exchanges."""
        write = self._database.execute
        (newest,) = write("SELECT coalesce(max(id), 0) FROM entries WHERE window_id = ?", (window_id,)).fetchone()
        write("UPDATE windows SET first_entry_id = ? WHERE id = ?", (first_id(window, newest), window_id))
        kept = json.dumps([entry.id for entry in window.history.entries if isinstance(entry, Delta)])
        write(
            """DELETE FROM entries
            WHERE window_id = ? AND kind = 'delta' AND id NOT IN (SELECT value FROM json_each(?))""",
            (window_id, kept),
        )

    def _keep_files(self, window_id: int, files: Iterable[FileContext]) -> None:
        self._database.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(window_id, storable(file.path), *astuple(file)[1:]) for file in files],
        )

    def _keep_observations(self, window_id: int, seen: Iterable[Observation]) -> None:
        self._database.executemany(
            "INSERT OR REPLACE INTO observations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(window_id, storable(each.path), *astuple(each)[1:]) for each in seen],
        )


def _entry(entry_id: int, kind: str, text: str, answer: str, sources: str) -> Entry:
    if kind == "delta":
        return Delta(entry_id, text, tuple(json.loads(sources)))
    return Exchange(entry_id, text, answer, tuple((path, sha256) for path, sha256 in json.loads(sources)))


def _account_row(root: str, purpose: Purpose, account: Account, at_s: float) -> tuple[str | float, ...]:
    usage = account.usage
    tokens = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    spent = (account.questions, account.requests, *tokens, account.cost_usd, account.unpriced, account.saved_usd)
    return (storable(root), utc_day(at_s), purpose, *spent)
