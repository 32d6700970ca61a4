"""What every keeper of notes, their edges and their log does, whatever it keeps them in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from live_memory.notes.note import GLOBAL, Note, new_fact
from live_memory.store.base import Store
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.note_changes import NoteConflict
from live_memory.store.note_store import Action, Change, Key, NoteStore, Sieve, Tally
from live_memory.store.sqlite import SqliteStore

REPO, OTHER = "git:example.com/owner/name", "git:example.com/other/name"
SCOPES = (REPO, GLOBAL)
PORT = Note(
    REPO,
    "port-of-the-server",
    "decision",
    "Port of the server",
    "7711, see server.py and #why-a-port.",
    "which port",
    "open",
    "P0",
    "claude",
    created_at_s=1.0,
    updated_at_s=2.0,
    verified_at_s=3.0,
    used_at_s=4.0,
    use_count=5,
    expires_at_s=9_000.0,
    sources={"src/server.py": "aa", "docs/port.md": "bb"},
    symbols=("server.py", "bind_port"),
    refs=("why-a-port", "a-second"),
    supersedes=("port-of-old",),
)
WHY = Note(REPO, "why-a-port", "reference", "Why a port", "Because 会话令牌 \x00 \U0001f41b.", updated_at_s=5.0)
STYLE = Note(GLOBAL, "style", "preference", "Style", "Short sentences.", updated_at_s=1.0, refs=("why-a-port",))


@pytest.fixture(params=["in_memory", "sqlite"])
def whole(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    kept: Store = InMemoryStore() if request.param == "in_memory" else SqliteStore(tmp_path / "live-memory.db")
    yield kept
    kept.close()


@pytest.fixture
def store(whole: Store) -> NoteStore:
    return whole.note_store


def made(
    before: Note | None, after: Note | None, action: Action = "create", batch: str = "", at_s: float = 7.0
) -> Change:
    return Change(action, before, after, at_s, "claude", "because", batch)


def filled(store: NoteStore, *notes: Note) -> tuple[Change, ...]:
    return store.apply([made(None, note) for note in notes or (PORT, WHY, STYLE)])


def key(note: Note) -> Key:
    return (note.scope, note.id)


def ids(notes: tuple[Note, ...]) -> list[str]:
    return [note.id for note in notes]


def test_a_note_comes_back_with_all_that_it_was_given(store: NoteStore) -> None:
    filled(store)
    assert store.get([key(STYLE), (REPO, "none"), key(PORT), (OTHER, PORT.id)]) == (STYLE, PORT)
    assert store.notes(SCOPES) == (WHY, PORT, STYLE)
    assert store.notes([OTHER]) == ()


def test_changes_come_back_numbered_and_the_log_holds_both_sides_newest_first(store: NoteStore) -> None:
    created = filled(store, PORT)
    changed = replace(PORT, body="7712.", refs=("a-second",), sources={"src/server.py": "cc"}, expires_at_s=None)
    updated = store.apply([made(PORT, changed, "update", batch="dream-1")])
    forgotten = store.apply([made(changed, None, "forget")])
    assert store.log(SCOPES, 9) == (*forgotten, *updated, *created)
    assert store.log(SCOPES, 1) == forgotten
    assert store.log(SCOPES, 9, batch="dream-1") == updated
    assert store.log([OTHER], 9) == ()
    assert store.changes([created[0].number, updated[0].number, 99]) == (*created, *updated)
    assert (updated[0].before, updated[0].after) == (PORT, changed)
    assert (store.notes(SCOPES), store.candidates(SCOPES, ["7712"], 9)) == ((), ())
    numbers = [change.number for change in (*created, *updated, *forgotten)]
    assert 0 < numbers[0] < numbers[1] < numbers[2]


def test_an_updated_note_is_found_by_its_new_words_and_edges_alone(store: NoteStore) -> None:
    filled(store)
    store.apply([made(PORT, replace(PORT, body="Tunnel.", refs=("style",), supersedes=()), "update")])
    assert [one.note.id for one in store.candidates(SCOPES, ["tunnel"], 9)] == [PORT.id]
    assert store.candidates(SCOPES, ["7711"], 9) == ()
    assert store.backlinks(SCOPES, ["style", "a-second", "port-of-old"]) == {"style": (PORT.id,)}


def test_all_changes_are_made_or_none(store: NoteStore) -> None:
    filled(store, PORT)
    with pytest.raises(NoteConflict, match="why-a-port was changed meanwhile"):
        store.apply([made(None, STYLE), made(WHY, None, "forget")])
    assert ids(store.notes(SCOPES)) == [PORT.id]
    assert len(store.log(SCOPES, 9)) == 1
    assert store.apply([]) == ()


def test_a_note_that_was_written_since_is_not_written_over(store: NoteStore) -> None:
    filled(store, PORT)
    newer = replace(PORT, title="The port")
    store.apply([made(PORT, newer, "update")])
    for late in (made(PORT, replace(PORT, body="x"), "update"), made(PORT, None, "forget"), made(None, PORT)):
        with pytest.raises(NoteConflict):
            store.apply([late])
    assert store.get([key(PORT)]) == (newer,)


def test_uses_between_plan_and_write_are_kept(store: NoteStore) -> None:
    filled(store, PORT)
    store.touch([key(PORT)], 50.0, {key(PORT): 9_500.0})
    (change,) = store.apply([made(PORT, replace(PORT, body="x"), "update")])
    (kept,) = store.get([key(PORT)])
    assert (kept.use_count, kept.used_at_s, kept.expires_at_s, kept.body) == (6, 50.0, 9_500.0, "x")
    assert change.after == kept


def test_a_note_can_move_to_another_scope_but_not_onto_another_note(store: NoteStore) -> None:
    filled(store)
    moved = replace(PORT, scope=OTHER)
    store.apply([made(PORT, moved, "import")])
    assert (store.get([key(PORT)]), store.get([key(moved)])) == ((), (moved,))
    assert [one.note for one in store.candidates([OTHER], ["7711"], 9)] == [moved]
    assert store.candidates([REPO], ["7711"], 9) == ()
    with pytest.raises(NoteConflict):
        store.apply([made(WHY, replace(WHY, scope=OTHER, id=PORT.id))])


@pytest.mark.parametrize(
    ("sieve", "expected"),
    [
        (Sieve(kinds=("decision", "preference")), [PORT.id, STYLE.id]),
        (Sieve(but_kinds=["reference"]), [PORT.id, STYLE.id]),
        (Sieve(statuses=["open"]), [PORT.id]),
        (Sieve(but_statuses=("open", "done")), [WHY.id, STYLE.id]),
        (Sieve(since_s=2.0), [WHY.id, PORT.id]),
        (Sieve(symbol="bind_port"), [PORT.id]),
        (Sieve(symbol="bind"), []),
        (Sieve(path="src/server.py"), [PORT.id]),
        (Sieve(path="src/"), [PORT.id]),
        (Sieve(path="src/serv"), []),
        (Sieve(alive_at_s=8_999.0), [WHY.id, PORT.id, STYLE.id]),
        (Sieve(alive_at_s=9_000.0), [WHY.id, STYLE.id]),
    ],
)
def test_a_sieve_lets_through_what_it_says(store: NoteStore, sieve: Sieve, expected: list[str]) -> None:
    filled(store)
    assert ids(store.notes(SCOPES, sieve)) == expected
    assert store.count(SCOPES, sieve) == len(expected)
    words = ["port", "sentenc", "becaus", "7711"]
    assert {one.note.id for one in store.candidates(SCOPES, words, 9, sieve)} == set(expected)


def test_backlinks_span_the_scopes_asked_for(store: NoteStore) -> None:
    filled(store)
    assert store.backlinks(SCOPES, ["why-a-port", "port-of-old", "style"]) == {
        "why-a-port": (PORT.id, STYLE.id),
        "port-of-old": (PORT.id,),
    }
    assert store.backlinks([GLOBAL], ["why-a-port"]) == {"why-a-port": (STYLE.id,)}


def test_a_use_is_counted_and_moves_an_expiry_only_onwards(store: NoteStore) -> None:
    filled(store)
    store.touch([key(PORT), key(PORT), (REPO, "none")], 3.0, {key(PORT): 8_000.0})
    (kept,) = store.get([key(PORT)])
    assert (kept.use_count, kept.used_at_s, kept.expires_at_s) == (6, 4.0, 9_000.0)
    store.touch([key(PORT), key(WHY)], 60.0, {key(PORT): None, key(WHY): 70.0})
    kept, other = store.get([key(PORT), key(WHY)])
    assert (kept.use_count, kept.used_at_s, kept.expires_at_s, other.expires_at_s) == (7, 60.0, None, None)
    assert len(store.log(SCOPES, 9)) == 3


def test_old_changes_are_forgotten_on_request_and_numbers_are_not_used_again(store: NoteStore) -> None:
    filled(store, PORT)
    (last,) = store.apply([made(PORT, None, "forget", at_s=20.0)])
    assert store.trim_log(20.0) == 1
    assert store.log(SCOPES, 9) == (last,)
    assert store.trim_log(21.0) == 1
    (next_one,) = filled(store, PORT)
    assert next_one.number > last.number


def test_trees_are_known_by_the_repository_they_belong_to(store: NoteStore) -> None:
    assert store.know_tree("/srv/one", REPO, 1.0) == ""
    assert store.know_tree("/srv/two", REPO, 1.0) == ""
    assert store.know_tree("/srv/two", OTHER, 2.0) == REPO
    assert (store.repo_of("/srv/two"), store.repo_of("/srv/three")) == (OTHER, "")
    assert (store.trees(REPO), store.trees(OTHER), store.trees("none")) == (("/srv/one",), ("/srv/two",), ())


def test_scopes_are_counted_without_the_facts(whole: Store) -> None:
    filled(whole.note_store)
    whole.notes.add("/srv/one", [new_fact("The server listens on PORT.", {}, 1.0)])
    assert whole.note_store.scopes() == {REPO: 2, GLOBAL: 1}


def test_a_fact_of_a_window_is_a_note_of_its_root(whole: Store) -> None:
    fact = new_fact("The server listens on PORT, set in server.py.", {"server.py": "aa"}, 3.0)
    whole.notes.add("/srv/one", [fact])
    (note,) = whole.note_store.notes(["/srv/one"])
    assert (note.kind, note.id, note.body, note.sources) == ("fact", fact.id, fact.text, {"server.py": "aa"})
    assert (note.title, note.updated_at_s, note.origin) == ("", 3.0, "compaction")
    assert [one.note for one in whole.note_store.candidates(["/srv/one"], ["listen"], 9)] == [note]


def test_a_changed_fact_stays_demoted_and_a_forgotten_one_is_gone_for_the_window_too(whole: Store) -> None:
    fact = new_fact("The server listens on PORT, set in server.py.", {"server.py": "aa"}, 3.0)
    whole.notes.add("/srv/one", [fact])
    whole.notes.demote("/srv/one", "server.py", "bb")
    (note,) = whole.note_store.notes(["/srv/one"])
    whole.note_store.apply([made(note, replace(note, status="disputed"), "dispute")])
    assert whole.notes.facts("/srv/one")[0].is_stale
    (note,) = whole.note_store.notes(["/srv/one"])
    whole.note_store.apply([made(note, None, "expire")])
    assert whole.notes.facts("/srv/one") == ()


def test_forgetting_a_window_forgets_none_of_the_notes(whole: Store) -> None:
    note = replace(PORT, scope="/srv/one")
    filled(whole.note_store, note)
    whole.notes.add("/srv/one", [new_fact("The server listens on PORT.", {}, 1.0)])
    whole.clear("/srv/one")
    assert whole.note_store.notes(["/srv/one"]) == (note,)


def test_any_text_can_be_looked_for(store: NoteStore) -> None:
    filled(store)
    for text in ("", "\x00", "'\"; DROP TABLE notes", "\ud800", "%", "x" * 10_000):
        assert store.get([(REPO, text), (text, "x")]) == ()
        assert store.backlinks([REPO, text], [text]) == {}
        store.notes([text], Sieve(symbol=text, path=text))
        store.log([text], 9, batch=text)


def test_the_most_used_notes_come_after_the_open_ones_and_before_the_new_ones(store: NoteStore) -> None:
    often, once = replace(WHY, id="often", use_count=9), replace(WHY, id="once", use_count=1)
    newer = replace(WHY, id="newer", updated_at_s=6.0)
    filled(store, WHY, newer, once, often, PORT, replace(PORT, id="elsewhere", scope=OTHER))
    assert ids(store.most_used(SCOPES, Sieve(), 9)) == [PORT.id, "often", "once", "newer", WHY.id]
    assert ids(store.most_used(SCOPES, Sieve(statuses=[""]), 2)) == ["often", "once"]


def test_notes_are_tallied_by_kind_status_and_age(store: NoteStore) -> None:
    filled(store, PORT, WHY, replace(WHY, id="second", title="", body="\u00e9"), replace(PORT, id="same"))
    size = len(WHY.title) + len(WHY.body.encode())
    (old, references) = store.tally(SCOPES, 9_000.0)
    assert (old.kind, old.status, old.is_expired, old.count) == ("decision", "open", True, 2)
    assert references == Tally("reference", "", False, 2, size + 2)
    assert [each.is_expired for each in store.tally(SCOPES, 8_999.0)] == [False, False]


def test_pages_hold_every_note_once_by_scope_and_id(store: NoteStore) -> None:
    others = [replace(WHY, id=f"note-{number}", scope=scope) for number in range(5) for scope in (REPO, OTHER)]
    store.apply(made(None, note) for note in (PORT, WHY, STYLE, *others))
    seen, after = list[Key](), None
    while notes := store.page(SCOPES, after, 3):
        assert len(notes) <= 3
        seen += [(note.scope, note.id) for note in notes]
        after = seen[-1]
    assert seen == sorted((note.scope, note.id) for note in store.notes(SCOPES))


def test_a_batch_is_found_whole_in_whatever_scopes_it_wrote(store: NoteStore) -> None:
    moved = replace(WHY, scope=OTHER)
    store.apply([made(None, WHY), made(None, PORT, batch="run"), made(WHY, moved, "move", "run")])
    assert [(change.action, change.key) for change in store.batch("run", 10)] == [
        ("move", (OTHER, "why-a-port")),
        ("create", (REPO, "port-of-the-server")),
    ]
    assert (store.batch("", 10), store.batch("other", 10), len(store.batch("run", 1))) == ((), (), 1)
    newest, *older = store.batch("run", 10)
    assert store.batch("run", 10, newest.number) == tuple(older)
