"""Notes written and searched by many at once, over one file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from live_memory.notes.note import Note
from live_memory.store.note_store import Change
from live_memory.store.sqlite import SqliteStore

WRITERS, NOTES_EACH = 8, 15
SCOPE = "git:example.com/owner/name"


def test_eight_writers_at_once_lose_nothing_and_none_is_turned_away(tmp_path: Path) -> None:
    path = tmp_path / "live-memory.db"

    def write(writer: int) -> None:
        with closing(SqliteStore(path)) as store:
            for number in range(NOTES_EACH):
                note = Note(SCOPE, f"note-{writer}-{number}", "project", f"Writer {writer}", f"number{number} of many")
                store.note_store.apply([Change("create", None, note, 1.0, "user")])
                assert store.note_store.candidates([SCOPE], [f"number{number}"], 1)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    with closing(SqliteStore(path)) as store:
        assert store.note_store.count([SCOPE]) == WRITERS * NOTES_EACH
        numbers = [change.number for change in store.note_store.log([SCOPE], 999)]
        assert numbers == sorted(set(numbers), reverse=True)
        assert len(numbers) == WRITERS * NOTES_EACH
        assert store.note_store.vocabulary([SCOPE], ["number3"]).frequencies["number3"] == WRITERS


def test_sixteen_that_open_one_new_file_at_once_all_get_it(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / f"{number}.db"
        with ThreadPoolExecutor(16) as pool:
            stores = list(pool.map(lambda _, path=path: SqliteStore(path), range(16)))
        for store in stores:
            store.close()
