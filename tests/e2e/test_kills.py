"""`kill -9` at twenty random moments: the store opens, nothing that was committed is lost, and the prompt goes on."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from e2e.siege import QUESTION, UNIT, Moment, Siege, answer_to, question_about, question_about_file
from support.dying_server import Change
from support.provider_server import provider_server

from live_memory.store.sqlite import SqliteStore
from live_memory.window.window import Exchange
from live_memory.wiring import DATABASE_FILE

SEED = 7711
ALL = 1_000_000
FOUND_BY_SEARCH = 5
LATEST: dict[Change, int] = {"answer": 6, "telling": 4, "compaction": 2, "observation": 4}  # of a life's, to die in
CHANGES = tuple(LATEST)


def moments(chance: random.Random) -> list[Moment]:
    """Amid each change, at its commit and behind it; while summaries are written; and at any time."""
    offsets = [(change, offset) for change in CHANGES for offset in (str(chance.randint(1, 4)), "commit", "after")]
    found = [Moment("statement", change, chance.randint(1, LATEST[change]), offset) for change, offset in offsets]
    found += [Moment("summary", delay_s=chance.uniform(0, 0.02)) for _ in range(3)]
    found += [Moment("any time", delay_s=chance.uniform(0, 0.8)) for _ in range(5)]
    chance.shuffle(found)
    return found


def test_nothing_that_was_told_is_lost_by_kills_at_twenty_random_moments(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    plan = moments(chance)
    assert len(plan) == 20
    came_into: Counter[Change | None] = Counter()
    with provider_server() as provider:
        siege = Siege(tmp_path, provider)
        for moment in plan:
            change = siege.live(moment, chance)
            came_into[change] += 1
            if moment.occasion == "statement":
                assert change == (None if moment.offset == "after" else moment.change)
            look_after(siege, tmp_path / "copy")
    assert all(came_into[change] >= 2 for change in CHANGES), came_into
    assert came_into[None] >= len(CHANGES), came_into
    assert siege.prefixes_held >= 10
    log = (siege.data_dir / "logs" / "server.log").read_text()
    assert log.count("compacted root=") >= 5
    assert not [line for line in log.splitlines() if " ERROR " in line or "Traceback" in line]
    assert not list(siege.data_dir.glob("*.damaged-*"))


def test_a_server_killed_over_its_first_tables_or_its_first_window_starts_again(tmp_path: Path) -> None:
    with provider_server() as provider:
        siege = Siege(tmp_path, provider)
        early: list[tuple[Change, str]] = [
            ("other", "3"),
            ("other", "commit"),
            ("compaction", "1"),
            ("compaction", "commit"),
        ]
        for change, offset in early:
            siege.die_early(Moment("statement", change, 1, offset))  # a window is frozen when it begins, too
        siege.live(Moment("any time", delay_s=0.2), random.Random(SEED))
        look_after(siege, tmp_path / "copy")


def look_after(siege: Siege, copy: Path) -> None:
    """Hold what a killed server left against what clients were told; the data folder itself is left to the next server."""
    with copied(siege.data_dir / DATABASE_FILE, copy) as database:
        with closing(sqlite3.connect(database)) as connection:
            rows = look_at_the_rows(connection)
        store = SqliteStore(database)
        assert store.notice == ""
        look_at_the_answers(siege, store)
        look_at_the_files(siege, store)
        account = store.account(str(siege.root), purpose="question")
        assert account.questions == rows, "an answer and its account are saved together"
        store.close()


def look_at_the_rows(connection: sqlite3.Connection) -> int:
    """That the database is sound by itself; how many questions and answers there are in it."""
    execute = connection.execute
    assert execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert execute("PRAGMA foreign_key_check").fetchall() == []
    assert execute("SELECT count(*) FROM notes").fetchone() == execute("SELECT count(*) FROM note_index").fetchone()
    facts = " ".join(body for (body,) in execute("SELECT body FROM notes"))
    carried = execute("SELECT text FROM entries WHERE kind = 'exchange' AND is_carried").fetchall()
    assert {QUESTION.findall(text)[0] for (text,) in carried} <= set(UNIT.findall(facts)), "saved with their facts"
    exchanges = execute("SELECT text, answer FROM entries WHERE kind = 'exchange'").fetchall()
    assert all(answer == answer_to(QUESTION.findall(text)[0]) for text, answer in exchanges)
    assert len({text for text, _ in exchanges}) == len(exchanges)
    return len(exchanges)


def look_at_the_answers(siege: Siege, store: SqliteStore) -> None:
    """That each answer a client has is in the window, or owed a fact, or in one that search finds."""
    root = str(siege.root)
    saved = store.load(root)
    assert saved is not None
    entries = (*saved.window.history.entries, *store.owed(root, ALL))
    kept = {entry.question: entry.answer for entry in entries if isinstance(entry, Exchange)}
    for asked in siege.questions:
        question = question_about(asked.unit)
        if asked.answer and question not in kept:
            found = store.notes.search(root, question, FOUND_BY_SEARCH)
            assert any(asked.unit in fact.text for fact in found), f"{asked} is lost"
        assert kept.get(question, answer_to(asked.unit)) == answer_to(asked.unit)


def look_at_the_files(siege: Siege, store: SqliteStore) -> None:
    """That each file is known in the version the server said it took, or in a newer one; or by a fact, once its name had to
    make room."""
    root = str(siege.root)
    saved = store.load(root)
    assert saved is not None
    for path, version in siege.noted.items():
        known = saved.window.pending.get(path) or saved.window.files.get(path)
        if known is None:
            found = store.notes.search(root, question_about_file(path), FOUND_BY_SEARCH)
            assert any(path in fact.text for fact in found), f"{path} is lost"
        else:
            assert known.sha256 in siege.versions[path][version:], path


@contextmanager
def copied(database: Path, folder: Path) -> Iterator[Path]:
    """The database as it was left, write-ahead log and all, in a folder of its own."""
    folder.mkdir()
    for path in database.parent.glob(f"{database.name}*"):
        shutil.copy(path, folder)
    yield folder / database.name
    shutil.rmtree(folder)
