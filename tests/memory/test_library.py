"""The library as a whole: what its parts give together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from server.desks import library_of

from live_memory.clock import ManualClock
from live_memory.memory.library import Filter, Library
from live_memory.memory.reading import Wanted
from live_memory.notes.draft import Draft
from live_memory.notes.note import GLOBAL, Note
from live_memory.store.note_store import Change

ROUNDING = Draft("Totals are rounded half-even per line", "The tax office rounds each line.", kind="decision")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def library(clock: ManualClock) -> Library:
    return library_of(clock)


def keep(library: Library, *notes: Note) -> None:
    library.shelf.store.apply([Change("create", None, note, 1.0, "user") for note in notes])


async def test_a_question_gets_the_notes_that_share_its_words_and_no_others(library: Library, tmp_path: Path) -> None:
    await library.save(str(tmp_path), ROUNDING, "claude")
    keep(library, Note(str(tmp_path), "fact-1", "fact", "", "Totals are rounded in shop/cart.py."))
    (sight,) = await library.bearing_on(tmp_path, "Where are totals rounded?", 3)
    assert (sight.note.id, sight.state) == ("totals-are-rounded-half-even-per-line", "")
    assert await library.bearing_on(tmp_path, "zebra xylophone", 3) == ()


async def test_the_last_session_is_told_of_however_many_notes_there_are(
    library: Library, clock: ManualClock, tmp_path: Path
) -> None:
    place = await library.places.of(str(tmp_path))
    note = Note(place.repo_id, "n", "decision", "Title", "Body", updated_at_s=clock.wall_s(), use_count=3)
    keep(library, *(replace(note, id=f"n-{number}") for number in range(300)))
    session = Note(place.repo_id, "session-1", "session", "Cart work", "Open: invoices.", updated_at_s=clock.wall_s())
    keep(library, session)
    table = await library.toc(str(tmp_path))
    assert "Where the last session stopped: #session-1: Cart work. Open: invoices." in table.text
    assert table.count == 301
    narrowed = await library.toc(str(tmp_path), Filter(kinds=("decision",)))
    assert "#session-1" not in narrowed.text


async def test_figures_tell_kinds_and_what_needs_attention(
    library: Library, clock: ManualClock, tmp_path: Path
) -> None:
    place = await library.places.of(str(tmp_path))
    note = Note(place.repo_id, "a", "decision", "Title", "Body", status="open")
    expired = replace(note, id="c", status="", expires_at_s=clock.wall_s() - 1)
    keep(library, note, replace(note, id="b", status="disputed", scope=GLOBAL), expired)
    keep(library, Note(str(tmp_path), "fact-1", "fact", "", "A fact."))
    assert await library.figures(str(tmp_path)) == {
        "notes": 3,
        "kinds": {"decision": 3, "fact": 1},
        "open": 1,
        "disputed": 1,
        "superseded": 0,
        "expired": 1,
        "text_bytes": 3 * len("TitleBody") + len("A fact."),
    }
    assert await library.figures("") == {"notes": 3, "scopes": 2}


async def test_reading_a_note_renews_it_and_what_is_only_reached_from_it_is_not(
    library: Library, tmp_path: Path
) -> None:
    where = str(tmp_path)
    cited = await library.save(where, Draft("Tax office", "Rules of rounding.", kind="reference"), "claude")
    await library.save(where, replace(ROUNDING, body="See #tax-office."), "claude")
    read = await library.get(where, Wanted(("totals-are-rounded-half-even-per-line",), frozenset(("refs",))))
    assert [shown.note.id for shown in read.shown] == ["totals-are-rounded-half-even-per-line", cited.note.id]
    again = await library.get(where, Wanted(("totals-are-rounded-half-even-per-line", cited.note.id)))
    assert [shown.note.use_count for shown in again.shown] == [1, 0]


async def test_the_notes_of_two_folders_stay_apart_but_for_the_global_ones(library: Library, tmp_path: Path) -> None:
    one, two = tmp_path / "one" / "shop", tmp_path / "two" / "shop"
    for folder in (one, two):
        folder.mkdir(parents=True)
    await library.save(str(one), ROUNDING, "claude")
    await library.save(str(one), replace(ROUNDING, title="Answer briefly", body="Always.", scope=GLOBAL), "user")
    assert (await library.toc(str(one))).count == 2
    assert (await library.toc(str(two))).count == 1
    assert (await library.get(str(two), Wanted(("totals-are-rounded-half-even-per-line",)))).missing
