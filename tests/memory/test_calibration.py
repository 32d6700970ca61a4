"""What a store's own notes say about chance."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from live_memory.clock import ManualClock
from live_memory.memory.calibration import NO_CHANCE, Calibration, Chance, chance_of
from live_memory.memory.finding import Finder
from live_memory.notes.gate import prior_coverage
from live_memory.notes.note import Note
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.note_store import Change, NoteStore

SCOPES = ("repo", "global")


def store_of(notes: Iterable[Note]) -> NoteStore:
    store = InMemoryStore().note_store
    store.apply([Change("create", None, note, 1.0, "test") for note in notes])
    return store


def note(note_id: str, title: str, body: str = "", refs: tuple[str, ...] = (), scope: str = "repo") -> Note:
    return Note(scope, note_id, "decision", title, body, refs=refs)


def alike(count: int, scope: str = "repo") -> list[Note]:
    """Notes of which three at a time have the same title but for a number."""
    words = [f"conveyor{i // 3}x motor{i // 3}x torque{i // 3}x" for i in range(count)]
    return [note(f"{scope}-{i}", f"{title} limit {i}", scope=scope) for i, title in enumerate(words)]


def test_a_title_that_another_note_covers_by_chance_counts_and_one_beside_it_does_not() -> None:
    motor, belt = note("motor", "Conveyor motor torque"), note("belt", "Conveyor belt", "motor torque")
    assert chance_of(Finder(store_of([motor, belt])), SCOPES, motor) > 0
    cited = note("belt", "Conveyor belt", "motor torque", refs=("motor",))
    assert chance_of(Finder(store_of([motor, cited])), SCOPES, motor) == 0


def test_until_something_is_known_the_prior_holds() -> None:
    assert NO_CHANCE.coverage(0.99) == prior_coverage(0.99)


def test_notes_that_cover_each_other_ask_for_more_but_never_for_everything() -> None:
    assert prior_coverage(0.99) < Chance((0.5,) * 50, (), 50).coverage(0.99) == 0.5
    assert Chance((1.0,) * 50, (), 50).coverage(0.99) < 1.0
    assert Chance((1.0,) * 3, (), 3).coverage(0.99) == prior_coverage(0.99)


def test_a_store_is_asked_in_the_background_and_again_when_it_has_grown() -> None:
    async def scene() -> None:
        store = store_of(alike(24))
        calibration = Calibration(store, ManualClock())
        assert calibration.coverage(SCOPES, 24, 0.99) == prior_coverage(0.99)
        await calibration.settled()
        known = calibration.coverage(SCOPES, 24, 0.99)
        assert known > prior_coverage(0.99)
        store.apply([Change("create", None, each, 1.0, "test") for each in alike(12, "global")])
        calibration.coverage(SCOPES, 36, 0.99)
        await calibration.settled()
        assert calibration.coverage(SCOPES, 36, 0.99) >= prior_coverage(0.99)
        await calibration.close()

    asyncio.run(scene())


def test_titles_of_other_repositories_are_asked_as_well() -> None:
    async def scene() -> float:
        distinct = [note(f"n{i}", f"alpha{i}x beta{i}x gamma{i}x") for i in range(25)]
        calibration = Calibration(
            store_of([*distinct, *alike(25, "other"), note("motor", "conveyor1x motor1x torque1x")]), ManualClock()
        )
        calibration.coverage(SCOPES, 26, 0.99)
        await calibration.settled()
        return calibration.coverage(SCOPES, 26, 0.99)

    assert asyncio.run(scene()) > prior_coverage(0.99)
