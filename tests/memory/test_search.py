"""Search over notes: whatever is typed, something sensible comes back, and says how it was found."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from live_memory.clock import ManualClock
from live_memory.memory.place import Place
from live_memory.memory.search import Hit, Search, SearchQuery
from live_memory.notes.note import GLOBAL, Note
from live_memory.settings import Settings
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.note_store import Change, Key, NoteStore
from live_memory.store.sqlite import SqliteStore

REPO, ROOT = "git:example.com/owner/name", Path("/code/name")
PLACE = Place(ROOT, REPO)
CLOCK = ManualClock()
DAY_S = 86_400.0


def note(note_id: str, title: str, body: str, at_s: float = 100.0) -> Note:
    return Note(REPO, note_id, "decision", title, body, created_at_s=at_s, updated_at_s=at_s, verified_at_s=at_s)


NOTES = (
    note("dan-sync", "Dan's sync runs every hour", "The cron job dan-sync copies the tables."),
    note("sessions", "Sessions live in src/auth/session.ts", "They last an hour."),
    note("cpp", "C++ for the codec", "C# was too slow, says foo@bar; a:b is the pair."),
    note("catalog", "Catalog pagination by cursor", "Offsets were slow on large products."),
    note("login-zh", "登录失败的原因", "会话令牌过期后没有刷新。"),
    note("retry", "Retry budget", "At most three retries, then give up. The budget is per host."),
    note("budget", "Yearly budget of the team", "A retry next year."),
    replace(note("old-retry", "Retry budget of old", "Five retries."), status="superseded"),
    replace(note("state-x", "x", "{}"), kind="state", expires_at_s=CLOCK.now_s - 1),
    replace(note("style", "Short sentences", "No emoji."), scope=GLOBAL, kind="preference", updated_at_s=900.0),
    replace(note("fact-1", "", "The retry budget is read in net/retry.py."), scope=str(ROOT), kind="fact"),
    replace(
        note("parser", "Parser is by hand", "No generator."), symbols=("parse_all",), sources={"src/parse.py": "aa"}
    ),
)


@pytest.fixture(params=["in memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NoteStore]:
    whole = InMemoryStore() if request.param == "in memory" else SqliteStore(tmp_path / "live-memory.db")
    keep(whole.note_store, NOTES)
    yield whole.note_store
    whole.close()


def keep(store: NoteStore, notes: Iterable[Note]) -> None:
    store.apply([Change("create", None, each, 100.0, "test") for each in notes])


def found(store: NoteStore, query: SearchQuery) -> tuple[Hit, ...]:
    return asyncio.run(Search(store, CLOCK, Settings).find(PLACE, query))


def ids(store: NoteStore, text: str, **filters: object) -> list[str]:
    return [hit.note.id for hit in found(store, SearchQuery(text, **filters))]  # type: ignore[arg-type]  # by name


def test_an_id_is_found_first_and_the_others_after_it(store: NoteStore) -> None:
    hits = found(store, SearchQuery("#retry"))
    assert (hits[0].note.id, hits[0].stage) == ("retry", "id")
    assert "budget" in [hit.note.id for hit in hits[1:]]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("dan-sync", "dan-sync"),
        ("src/auth/session.ts", "sessions"),
        ("C++", "cpp"),
        ("a:b foo@bar", "cpp"),
        ("what's up with the cursor?", "catalog"),
        ('"unbalanced cursor', "catalog"),
        ("NEAR(cursor", "catalog"),
        ("cursor*", "catalog"),
        ("cursor AND NOT OR", "catalog"),
        ("登录", "login-zh"),
        ("令牌", "login-zh"),
        ("how does the catalog\x00pagination work 🐛", "catalog"),
        ("cursor " + "x" * 10_000, "catalog"),
    ],
)
def test_texts_with_any_sign_find_what_they_name(store: NoteStore, text: str, first: str) -> None:
    assert ids(store, text)[0] == first


def test_an_italian_question_finds_an_english_note_by_its_relatives(store: NoteStore) -> None:
    (hit, *_) = found(store, SearchQuery("paginazione del catalogo"))
    assert (hit.note.id, hit.stage) == ("catalog", "cognates")


def test_one_relative_among_several_words_is_chance(store: NoteStore) -> None:
    assert not [hit for hit in found(store, SearchQuery("catalogo meravigliosa zuppa")) if hit.stage == "cognates"]


def test_the_beginning_of_a_word_finds_it(store: NoteStore) -> None:
    (hit, *_) = found(store, SearchQuery("pag"))
    assert (hit.note.id, hit.stage) == ("catalog", "prefix")


def test_where_nothing_is_found_the_newest_are_shown_and_named_as_such(store: NoteStore) -> None:
    hits = found(store, SearchQuery("zzyzx"))
    assert 0 < len(hits) <= 3
    assert {hit.stage for hit in hits} == {"recent"}


def test_filters_alone_list_what_passes(store: NoteStore) -> None:
    assert ids(store, "", kinds=("preference",)) == ["style"]
    assert ids(store, "", symbol="parse_all") == ["parser"]
    assert ids(store, "", path="src/parse.py") == ["parser"]


def test_filters_narrow_a_search(store: NoteStore) -> None:
    assert ids(store, "retry budget", statuses=("superseded",)) == ["old-retry"]
    assert ids(store, "retry budget", kinds=("fact",)) == ["fact-1"]
    assert "retry" not in ids(store, "retry budget", scope="global")
    assert ids(store, "sentences", scope="global") == ["style"]
    assert ids(store, "sentences", since_s=500.0) == ["style"]
    assert "retry" not in ids(store, "retry", since_s=500.0)


def test_facts_come_after_notes_and_what_is_superseded_after_what_holds(store: NoteStore) -> None:
    order = ids(store, "retry budget")
    assert order[0] == "retry"
    assert order.index("retry") < order.index("old-retry")
    assert order.index("retry") < order.index("fact-1")


def test_a_quoted_phrase_must_stand_as_it_is(store: NoteStore) -> None:
    assert ids(store, '"retry budget"') == ["retry", "old-retry", "fact-1"]
    assert ids(store, '"budget retry"') == []


def test_what_has_expired_is_not_found(store: NoteStore) -> None:
    assert "state-x" not in ids(store, "state-x")


def test_other_repositories_are_not_seen(store: NoteStore) -> None:
    keep(store, [replace(note("theirs", "Cursor of theirs", "cursor"), scope="git:example.com/other")])
    assert "theirs" not in ids(store, "cursor")


def test_a_hit_lives_longer_and_one_that_is_merely_recent_does_not(store: NoteStore) -> None:
    found(store, SearchQuery("zzyzx"))
    found(store, SearchQuery("cursor"))
    (catalog,) = store.get([(REPO, "catalog")])
    assert (catalog.use_count, catalog.used_at_s) == (1, CLOCK.now_s)
    assert sum(each.use_count for each in store.notes(PLACE.scopes)) == 1


class Meaning:
    """Nearness in meaning as told; None says that it cannot be told."""

    model = "told"

    def __init__(self, scores: Mapping[Key, float] | None) -> None:
        self._scores = scores

    async def near(
        self, text: str, scopes: Sequence[str], keys: Sequence[Key], within_s: float
    ) -> Mapping[Key, float] | None:
        return self._scores

    def near_note(self, key: Key, scopes: Sequence[str]) -> Mapping[Key, float] | None:
        return self._scores


def test_nearness_in_meaning_is_fused_and_named_where_it_can_be_told(store: NoteStore) -> None:
    query = SearchQuery("retry budget", kinds=("decision",), statuses=("",))
    near = Meaning({(REPO, "budget"): 9.0, (REPO, "retry"): -9.0})
    fused = asyncio.run(Search(store, CLOCK, Settings, near).find(PLACE, query))
    assert {hit.stage for hit in fused} == {"semantic"}
    silent = asyncio.run(Search(store, CLOCK, Settings, Meaning(None)).find(PLACE, query))
    assert {hit.stage for hit in silent} == {"bm25"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(text=st.one_of(st.text(), st.text(alphabet="\"*():^-+#@.'ab\x00\ud800 ORNEAT", max_size=40)))
def test_no_text_is_too_strange(store: NoteStore, text: str) -> None:
    assert len(found(store, SearchQuery(text, k=5))) <= 5
