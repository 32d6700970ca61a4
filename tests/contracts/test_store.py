"""What every store does, whatever it keeps its rows in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from live_memory.llm.base import Usage
from live_memory.notes.note import new_fact
from live_memory.store.base import Account, Answered, Harvest, Store
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.sqlite import SqliteStore
from live_memory.window.files import FileContext, Observation
from live_memory.window.window import Exchange, Window

ROOT = "/srv/repo"
DAY_S = 1_800_000_000.0
OpenStore: TypeAlias = Callable[[], Store]


@pytest.fixture(params=["in_memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    kept: Store = InMemoryStore() if request.param == "in_memory" else SqliteStore(tmp_path / "live-memory.db")
    yield kept
    kept.close()


def answered(question: str, answer: str = "a", *files: FileContext) -> Answered:
    return Answered(Account(questions=1), DAY_S, Exchange(0, question, answer), files)


def seen(path: str, sha256: str = "00") -> FileContext:
    return FileContext(path, sha256, 10, 20, 30.5)


def window_of(store: Store, root: str = ROOT) -> Window:
    saved = store.load(root)
    assert saved is not None
    return saved.window


def test_an_unknown_root_has_no_window(store: Store) -> None:
    assert store.load(ROOT) is None


def test_a_window_comes_back_as_it_was_saved_byte_for_byte(store: Store) -> None:
    tree = "src/\n  día.py\r\n\t文件\u2028.md\x00"
    store.begin(ROOT, Window(tree, "frozen ☂"), 12.5)
    store.record(ROOT, answered("What\r\n is \x00 this? 🙂", "It's ‘that’.\n\n", seen("día.py")))
    saved = store.load(ROOT)
    assert saved is not None
    assert saved.tree_at_s == 12.5
    assert (saved.window.tree, saved.window.frozen) == (tree, "frozen ☂")
    (exchange,) = saved.window.history.exchanges
    assert (exchange.question, exchange.answer) == ("What\r\n is \x00 this? 🙂", "It's ‘that’.\n\n")
    assert saved.window.files == {"día.py": seen("día.py")}


def test_exchanges_keep_their_order_and_get_growing_ids(store: Store) -> None:
    saved = [store.record(ROOT, answered(f"q{number}")) for number in range(20)]
    ids = [exchange.id for exchange in saved if exchange is not None]
    assert ids == sorted(set(ids))
    assert len(ids) == 20
    assert window_of(store).history.entries == tuple(saved)


def test_a_file_seen_again_replaces_what_was_known_of_it(store: Store) -> None:
    store.record(ROOT, answered("q1", "a1", seen("a.py", "01"), seen("b.py", "02")))
    store.record(ROOT, answered("q2", "a2", seen("a.py", "03")))
    assert {path: file.sha256 for path, file in window_of(store).files.items()} == {"a.py": "03", "b.py": "02"}


def test_entries_left_out_stay_saved_and_are_counted(store: Store) -> None:
    third = [store.record(ROOT, answered(f"q{number}")) for number in range(5)][2]
    assert third is not None
    store.refreeze(ROOT, window_of(store).without_before(third.id))
    window = window_of(store)
    assert [entry.question for entry in window.history.exchanges] == ["q2", "q3", "q4"]
    assert window.left_out == 2


def test_exchanges_that_leave_without_facts_are_owed_until_some_carry_them(store: Store) -> None:
    saved = [store.record(ROOT, answered(f"q{number}")) for number in range(5)]
    ids = [exchange.id for exchange in saved if exchange is not None]
    fact = new_fact("q0 is about the port.", {}, 1.0)
    store.refreeze(ROOT, window_of(store).without_before(ids[3]).refrozen(), harvest=Harvest((fact,), (ids[0],)))
    assert store.notes.facts(ROOT) == (fact,)
    assert [exchange.question for exchange in store.owed(ROOT, 9)] == ["q1", "q2"]
    assert [exchange.question for exchange in store.owed(ROOT, 1)] == ["q1"]
    store.refreeze(ROOT, window_of(store), harvest=Harvest((), (ids[1], ids[2])))
    assert store.owed(ROOT, 9) == ()
    assert window_of(store).left_out == 3


def test_clear_forgets_the_facts_too(store: Store) -> None:
    store.record(ROOT, answered("q"))
    store.refreeze(ROOT, window_of(store), harvest=Harvest((new_fact("q is about the port.", {}, 1.0),)))
    store.clear(ROOT)
    assert store.notes.facts(ROOT) == ()


def test_a_new_tree_keeps_what_was_learned(store: Store) -> None:
    store.begin(ROOT, Window("old"), 1)
    store.record(ROOT, answered("q"))
    store.begin(ROOT, Window("new"), 2)
    assert window_of(store).tree == "new"
    assert len(window_of(store).history.entries) == 1


def test_roots_do_not_see_each_other(store: Store) -> None:
    store.record("/one", answered("q1"))
    store.record("/two", answered("q2"))
    assert [entry.question for entry in window_of(store, "/one").history.exchanges] == ["q1"]
    assert store.account("/one").questions == 1


def test_clear_forgets_one_window_and_no_account(store: Store) -> None:
    store.begin(ROOT, Window("tree"), 1)
    store.record(ROOT, answered("q", "a", seen("a.py")))
    store.record("/other", answered("q"))
    store.clear(ROOT)
    assert store.load(ROOT) is None
    assert store.account(ROOT).questions == 1
    assert len(window_of(store, "/other").history.entries) == 1
    store.record(ROOT, answered("again"))
    assert not window_of(store).files


def test_accounts_add_up_by_root_and_day(store: Store) -> None:
    account = Account(1, 2, Usage(3, 4, 5, 6), 0.25, 1, 0.5)
    for root, at_s in ((ROOT, DAY_S), (ROOT, DAY_S), (ROOT, DAY_S + 86_400), ("/other", DAY_S)):
        assert store.record(root, Answered(account, at_s)) is None
    assert store.account(ROOT, "2027-01-15") == Account(2, 4, Usage(6, 8, 10, 12), 0.5, 2, 1.0)
    assert store.account(ROOT).questions == 3
    assert store.account(day="2027-01-15").questions == 3
    assert store.account() == Account(4, 8, Usage(12, 16, 20, 24), 1.0, 4, 2.0)
    assert store.account("/nowhere") == Account()
    assert store.load(ROOT) is None


def test_what_is_spent_in_the_background_is_told_apart_and_counts_in_the_whole(store: Store) -> None:
    store.record(ROOT, answered("q"))
    store.charge(ROOT, "compaction", Account(requests=1, cost_usd=0.25), DAY_S)
    store.charge(ROOT, "keep-warm", Account(requests=2, cost_usd=0.5), DAY_S)
    store.charge(ROOT, "keep-warm", Account(requests=1, cost_usd=0.5), DAY_S)
    assert store.account(ROOT, purpose="keep-warm") == Account(requests=3, cost_usd=1.0)
    assert store.account(purpose="question") == Account(questions=1)
    assert store.account(day="2027-01-15") == Account(questions=1, requests=4, cost_usd=1.25)


def test_names_that_are_no_valid_unicode_are_kept_apart(store: Store) -> None:
    store.record("/repo\udcff", answered("q", "a", seen("caf\udce9.py")))
    assert store.load("/repo") is None
    assert len(window_of(store, "/repo\udcff").files) == 1


def test_roots_that_were_only_told_of_are_kept_up_to_a_bound_those_seen_last(store: Store) -> None:
    for number in range(5):
        store.observe(f"/root_{number}", {"a.py": Observation("a.py", "x", 1, 1, float(number), text="a")})
    store.begin("/begun", Window("tree"), 1.0)
    store.record("/asked", Answered(Account(questions=1), 1.0, Exchange(0, "q", "a")))
    store.forget_unasked(2)
    kept = [root for root in ("/root_0", "/root_2", "/root_3", "/root_4", "/begun", "/asked") if store.load(root)]
    assert kept == ["/root_3", "/root_4", "/begun", "/asked"]
