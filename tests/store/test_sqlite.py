"""What the database file goes through: restarts, kills, damage, newer versions, two processes."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from live_memory.errors import StoreError
from live_memory.store import schema
from live_memory.store.base import Account, Answered, SavedWindow
from live_memory.store.schema import MIGRATIONS, migrate
from live_memory.store.sqlite import SqliteStore
from live_memory.window.files import FileContext
from live_memory.window.window import Exchange, History, Window

ROOT = "/srv/repo"
RUNTIME = Path(schema.__file__).parents[2]
WRITER = """
import sys
sys.path.insert(0, {runtime!r})
from pathlib import Path
from live_memory.store.base import Account, Answered
from live_memory.store.sqlite import SqliteStore
from live_memory.window.files import FileContext
from live_memory.window.window import Exchange, History, Window
store = SqliteStore(Path({path!r}))
store.begin({root!r}, Window("tree"), 1.0)
for number in range({count}):
    files = (FileContext(f"{{number}}.py", "00", 1, 2, 3.0),)
    exchange = Exchange(0, f"{name}-{{number}}", "answer " * 200)
    store.record({root!r}, Answered(Account(questions=1), 1.0, exchange, files))
    print(number, flush=True)
"""

COMPACTING_WRITER = """
import sys
sys.path.insert(0, {runtime!r})
from pathlib import Path
from live_memory.notes.note import new_fact
from live_memory.store.base import Account, Answered, Harvest
from live_memory.store.sqlite import SqliteStore
from live_memory.window.window import Exchange, Window
store = SqliteStore(Path({path!r}))
store.begin({root!r}, Window("tree"), 1.0)
for number in range(100_000):
    question = f"{name}-{{number}}"
    store.record({root!r}, Answered(Account(questions=1), 1.0, Exchange(0, question, "answer " * 200)))
    print(question, flush=True)
    window = store.load({root!r}).window
    if len(window.history.exchanges) > 4:
        gone = window.history.exchanges[:3]
        facts = tuple(new_fact(f"It was asked {{each.question}}.", {{}}, 1.0) for each in gone)
        shorter = window.without_before(gone[-1].id + 1).refrozen("ledger")
        store.refreeze({root!r}, shorter, harvest=Harvest(facts, tuple(each.id for each in gone)))
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    program = WRITER.format(runtime=str(RUNTIME), path=str(path), root=ROOT, name=name, count=count)
    return subprocess.Popen([sys.executable, "-Sc", program], stdout=subprocess.PIPE, text=True)


def questions(store: SqliteStore) -> list[str]:
    saved = store.load(ROOT)
    return [entry.question for entry in saved.window.history.exchanges] if saved else []


def answered(question: str) -> Answered:
    return Answered(Account(questions=1), 1.0, Exchange(0, question, "a"), (FileContext("a.py", "00", 1, 2, 3.0),))


def test_a_restart_keeps_everything(tmp_path: Path) -> None:
    first = SqliteStore(tmp_path / "m.db")
    first.begin(ROOT, Window("tree"), 1.0)
    first.record(ROOT, answered("q"))
    before = first.load(ROOT)
    first.close()
    second = SqliteStore(tmp_path / "m.db")
    assert second.load(ROOT) == before
    assert second.notice == ""
    second.close()


def test_the_file_and_those_beside_it_are_for_the_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    path.touch(mode=0o644)
    store = SqliteStore(path)
    store.record(ROOT, answered("q"))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert set(modes) == {"m.db", "m.db-wal", "m.db-shm"}
    assert set(modes.values()) == {0o600}
    store.close()


def test_after_a_kill_at_any_moment_all_that_was_acknowledged_is_there_and_whole(tmp_path: Path) -> None:
    path, rng = tmp_path / "m.db", random.Random(7)
    acknowledged: list[str] = []
    for life in range(8):
        process = writer(path, f"life{life}", 100_000)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(rng.randint(1, 60))]
        process.send_signal(signal.SIGKILL)  # the writer is somewhere in a later transaction
        rest = process.stdout.read()
        process.wait(10)
        process.stdout.close()
        whole = [line for line in ("".join(lines) + rest).splitlines(keepends=True) if line.endswith("\n")]
        acknowledged += [f"life{life}-{int(line)}" for line in whole]
        store = SqliteStore(path)
        assert store.notice == ""
        kept = questions(store)
        assert set(acknowledged) <= set(kept)
        assert len(kept) == len(set(kept)) == store.account(ROOT).questions
        assert len(kept) <= len(acknowledged) + life + 1  # at most the one in flight of each life
        store.close()


def test_after_a_kill_in_a_compaction_each_answer_is_in_the_window_or_in_a_fact_and_no_fact_came_alone(
    tmp_path: Path,
) -> None:
    path, rng = tmp_path / "m.db", random.Random(11)
    acknowledged: list[str] = []
    for life in range(12):
        program = COMPACTING_WRITER.format(runtime=str(RUNTIME), path=str(path), root=ROOT, name=f"life{life}")
        process = subprocess.Popen([sys.executable, "-Sc", program], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(rng.randint(1, 40))]
        process.send_signal(signal.SIGKILL)  # the writer is somewhere in a later answer or compaction
        rest = process.stdout.read()
        process.wait(10)
        process.stdout.close()
        acknowledged += [
            line.strip() for line in ("".join(lines) + rest).splitlines(keepends=True) if line.endswith("\n")
        ]
        store = SqliteStore(path)
        assert store.notice == ""
        asked, told = set(questions(store)), {fact.text for fact in store.notes.facts(ROOT)}
        assert all((question in asked) != (f"It was asked {question}." in told) for question in acknowledged)
        assert store.owed(ROOT, 9) == ()
        store.close()


def test_two_processes_on_one_database_lose_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    processes = [writer(path, name, 150) for name in ("left", "right")]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    store = SqliteStore(path)
    kept = questions(store)
    for name in ("left", "right"):
        assert [question for question in kept if question.startswith(name)] == [f"{name}-{n}" for n in range(150)]
    store.close()


@pytest.mark.parametrize("damage", ["no database at all", "torn"])
def test_a_damaged_database_is_moved_aside_with_a_notice(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "m.db"
    if damage == "torn":
        store = SqliteStore(path)
        store.record(ROOT, answered("q"))
        store.close()
        content = bytearray(path.read_bytes())
        content[4096 : 3 * 4096] = os.urandom(2 * 4096)
        path.write_bytes(content)
    else:
        path.write_bytes(b"this is no database, however long it is" * 500)
    damaged = path.read_bytes()
    store = SqliteStore(path)
    store.load(ROOT)  # damage may show only when its page is read
    store.record(ROOT, answered("new"))
    assert questions(store) == ["new"]
    assert "damaged-1" in store.notice
    assert (tmp_path / "m.db.damaged-1").read_bytes() == damaged
    store.close()
    again = SqliteStore(path)
    assert (again.notice, questions(again)) == ("", ["new"])
    again.close()


def test_damage_found_while_running_is_moved_aside_and_the_answer_in_hand_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    for number in range(50):
        store.record(ROOT, answered(f"q{number}"))
    store.close()
    store = SqliteStore(path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    store.record(ROOT, answered("in hand"))
    assert questions(store) == ["in hand"]
    assert store.notice
    store.close()


@pytest.mark.parametrize("suffixes", [("",), ("", "-wal", "-shm")])
def test_a_database_removed_while_running_is_begun_anew_and_keeps_what_comes(
    tmp_path: Path, suffixes: tuple[str, ...]
) -> None:
    path = tmp_path / "live-memory.db"
    store = SqliteStore(path)
    store.record(ROOT, Answered(Account(questions=1), 1.0, Exchange(0, "before", "gone")))
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink()
    store.record(ROOT, Answered(Account(questions=1), 1.0, Exchange(0, "after", "kept")))
    assert "removed" in store.notice
    again = SqliteStore(path)
    saved = again.load(ROOT)
    assert saved is not None
    assert [entry.question for entry in saved.window.history.entries if isinstance(entry, Exchange)] == ["after"]
    again.close()
    store.close()


def test_a_newer_database_is_refused_with_a_sentence_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer Live Memory.*update the plugin"):
        SqliteStore(path)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*.damaged-*"))


def test_an_older_database_is_brought_forward_with_what_it_holds(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
    migrate(connection, MIGRATIONS[:1])
    connection.execute("INSERT INTO windows (root, tree, tree_at_s) VALUES (?, 'tree', 2.0)", (ROOT,))
    connection.execute("INSERT INTO entries (window_id, at_s, question, answer) VALUES (1, 3.0, 'q', 'a')")
    connection.execute("INSERT INTO files VALUES (1, 'a.py', '00', 1, 2, 3.0)")
    connection.close()
    store = SqliteStore(tmp_path / "m.db")
    known = FileContext("a.py", "00", 1, 2, 3.0, used_at_s=3.0)
    assert store.load(ROOT) == SavedWindow(
        Window("tree", "", History.of([Exchange(1, "q", "a")]), {"a.py": known}), 2.0
    )
    store.close()


def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
    migrate(connection)
    broken = (*MIGRATIONS, ("CREATE TABLE half (x)", "this is no SQL"))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, broken)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    connection.close()


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        SqliteStore(tmp_path / "missing" / "m.db")


def test_a_locked_database_is_an_error_that_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("live_memory.store.database.BUSY_TIMEOUT_S", 0.05)
    store = SqliteStore(tmp_path / "m.db")
    other = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        store.record(ROOT, answered("q"))
    other.execute("ROLLBACK")
    other.close()
    store.record(ROOT, answered("q"))
    assert (questions(store), store.notice) == (["q"], "")
    store.close()


class Counting(sqlite3.Connection):
    """How often a lock was asked for."""

    asked = 0

    def execute(self, statement: str, *rest: Any) -> sqlite3.Cursor:
        Counting.asked += statement == "BEGIN IMMEDIATE"
        return super().execute(statement, *rest)


def test_a_lock_that_was_not_to_be_had_is_not_waited_for_again_until_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("live_memory.store.database.BUSY_TIMEOUT_S", 0.1)
    other = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Counting))
    store = SqliteStore(tmp_path / "m.db")

    def asked() -> int:
        before = Counting.asked
        with pytest.raises(StoreError, match="is locked by another program"):
            store.record(ROOT, answered("q"))
        return Counting.asked - before

    other.execute("BEGIN IMMEDIATE")
    assert [asked(), asked(), asked()] == [20, 2, 2]
    other.execute("ROLLBACK")
    store.record(ROOT, answered("q"))
    other.execute("BEGIN IMMEDIATE")
    assert asked() == 20
    other.close()
    store.close()
