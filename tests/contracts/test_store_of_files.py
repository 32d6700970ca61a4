"""What every store keeps of a window's files: what it holds of them, what waits, and what was told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from live_memory.store.base import Account, Answered, Store
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.sqlite import SqliteStore
from live_memory.window.files import FileContext, Observation
from live_memory.window.window import Delta, Exchange, Window

ROOT = "/srv/repo"
HELD = FileContext("a.py", "01", 10, 20, 30.5, "tee", "fresh", "x = 1\n", 40.5)
WAITING = Observation("b.py", "02", 11, 21, 31.5, "preload", "stale", None, 7)


@pytest.fixture(params=["in_memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    kept: Store = InMemoryStore() if request.param == "in_memory" else SqliteStore(tmp_path / "live-memory.db")
    yield kept
    kept.close()


def window_of(store: Store) -> Window:
    saved = store.load(ROOT)
    assert saved is not None
    return saved.window


def answered(question: str, *files: FileContext) -> Answered:
    return Answered(Account(questions=1), 1.0, Exchange(0, question, "a", (("a.py", "01"), ("día.py", "02"))), files)


def test_what_waits_is_kept_before_there_is_a_window_and_replaced_by_path(store: Store) -> None:
    store.observe(ROOT, {"a.py": Observation("a.py", "01", 1, 2, 3.0, text="text ☂\x00\r\n"), "b.py": WAITING})
    assert store.load(ROOT) is not None
    store.observe(ROOT, {"a.py": None, "b.py": WAITING})
    assert window_of(store).pending == {"b.py": WAITING}


def test_deltas_come_back_in_order_between_the_exchanges_and_nothing_waits_any_more(store: Store) -> None:
    store.begin(ROOT, Window("tree", "frozen", ledger="facts"), 1.0)
    store.record(ROOT, answered("q1"))
    store.observe(ROOT, {"b.py": WAITING})
    deltas = store.append_deltas(ROOT, [Delta(0, "one", ("a.py",)), Delta(0, "two", ())], [HELD], 2.0)
    store.record(ROOT, answered("q2"))
    window = window_of(store)
    assert [type(entry).__name__ for entry in window.history.entries] == ["Exchange", "Delta", "Delta", "Exchange"]
    assert window.history.entries[1:3] == deltas
    assert [(delta.text, delta.paths) for delta in deltas] == [("one", ("a.py",)), ("two", ())]
    assert window.files == {"a.py": HELD}
    assert not window.pending
    assert window.ledger == "facts"
    assert window.history.exchanges[0].sources == (("a.py", "01"), ("día.py", "02"))


def test_what_prompts_carry_of_a_file_is_not_replaced_because_a_tool_read_it(store: Store) -> None:
    store.begin(ROOT, Window("tree", files={"a.py": HELD, "b.py": FileContext("b.py", "02", 1, 2, 3.0)}), 1.0)
    newer = [FileContext(path, "99", 5, 6, 70.0, used_at_s=70.0) for path in ("a.py", "b.py")]
    store.record(ROOT, answered("q", *newer))
    files = window_of(store).files
    assert (files["a.py"].content, files["a.py"].sha256, files["a.py"].used_at_s) == ("x = 1\n", "01", 70.0)
    assert files["b.py"] == newer[1]


def test_a_new_frozen_block_takes_the_place_of_the_deltas_and_of_files_that_are_gone(store: Store) -> None:
    store.begin(ROOT, Window("tree", files={"gone.py": FileContext("gone.py", "03", 1, 2, 3.0, state="deleted")}), 5.0)
    store.record(ROOT, answered("q1"))
    store.append_deltas(ROOT, [Delta(0, "one", ("a.py",))], [HELD], 2.0)
    store.observe(ROOT, {"b.py": WAITING})
    window = window_of(store).refrozen("## Facts")
    store.refreeze(ROOT, window)
    assert window_of(store) == window
    assert set(window.files) == {"a.py"}
    saved = store.load(ROOT)
    assert saved is not None
    assert saved.tree_at_s == 5.0
    store.refreeze(ROOT, window, 6.0)
    again = store.load(ROOT)
    assert again is not None
    assert again.tree_at_s == 6.0


def test_clear_forgets_files_and_what_waits(store: Store) -> None:
    store.begin(ROOT, Window("tree", files={"a.py": HELD}), 1.0)
    store.observe(ROOT, {"b.py": WAITING})
    store.clear(ROOT)
    assert store.load(ROOT) is None
    store.record(ROOT, answered("q"))
    assert not window_of(store).files
    assert not window_of(store).pending
