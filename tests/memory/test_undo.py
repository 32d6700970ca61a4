"""Taking writes back, one by one or whole batches, and what stands in the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory.notes_scene import REPO, NotesScene

from live_memory.errors import QuestionError
from live_memory.memory.place import Place
from live_memory.notes.note import Note
from live_memory.store.in_memory_note_store import InMemoryNoteStore
from live_memory.store.note_changes import NoteConflict
from live_memory.store.note_store import Change


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[NotesScene]:
    made = NotesScene(tmp_path)
    yield made
    made.close()


def actions(scene: NotesScene) -> list[str]:
    return [change.action for change in scene.notebook.log(scene.place, 99)]


async def test_undo_takes_back_one_change_after_the_other(scene: NotesScene) -> None:
    first = (await scene.save("One", "The first one.", id="n1")).note
    second = (await scene.save("One", "Changed.", id="n1")).note
    await scene.notebook.forget(scene.place, ["n1"])
    assert scene.notes() == ()
    scene.notebook.undo(scene.place)
    assert scene.notes() == (second,)
    scene.notebook.undo(scene.place)
    assert scene.notes() == (first,)
    scene.notebook.undo(scene.place)
    assert scene.notes() == ()
    with pytest.raises(QuestionError, match="There is no change here that could be undone"):
        scene.notebook.undo(scene.place)
    assert actions(scene) == ["undo", "undo", "undo", "forget", "update", "create"]


async def test_a_save_is_taken_back_with_all_that_it_did(scene: NotesScene) -> None:
    old = (await scene.save("Old", "The port is 80.", id="old")).note
    await scene.save("New", "The port is 7711.", id="new", supersedes=("old",))
    made = scene.notebook.undo(scene.place)
    assert scene.notes() == (old,)
    assert len(made) == 2
    scene.notebook.undo(scene.place, batch=made[0].batch)
    assert {note.id: note.status for note in scene.notes()} == {"old": "superseded", "new": ""}


async def test_an_undo_can_be_undone(scene: NotesScene) -> None:
    kept = (await scene.save("One", "The first one.", id="n1")).note
    (undone,) = scene.notebook.undo(scene.place)
    (again,) = scene.notebook.undo(scene.place, undone.number)
    assert scene.notes() == (kept,)
    assert again.reason == f"undo of {undone.number}"
    scene.notebook.undo(scene.place)
    assert scene.notes() == ()


async def test_a_change_that_was_overwritten_since_is_not_taken_back(scene: NotesScene) -> None:
    await scene.save("One", "The first one.", id="n1")
    changed = (await scene.save("One", "Changed.", id="n1")).note
    first = scene.notebook.log(scene.place, 9)[-1]
    with pytest.raises(
        QuestionError, match="#n1 was changed again after change 1: undo the later changes first"
    ) as refused:
        scene.notebook.undo(scene.place, first.number)
    assert refused.value.status == 409
    assert scene.notes() == (changed,)


async def test_a_batch_is_taken_back_whole_or_not_at_all(scene: NotesScene) -> None:
    notes = [Note(REPO, f"n{i}", "project", f"N{i}", f"Note {i}.") for i in range(3)]
    now_s = scene.clock.wall_s()
    scene.notebook.apply([Change("import", None, note, now_s, "user", batch="import-1") for note in notes])
    await scene.save("N1", "Changed.", id="n1")
    with pytest.raises(QuestionError, match="after the batch import-1"):
        scene.notebook.undo(scene.place, batch="import-1")
    assert len(scene.notes()) == 3
    scene.notebook.undo(scene.place)
    assert len(scene.notebook.undo(scene.place, batch="import-1")) == 3
    assert scene.notes() == ()
    with pytest.raises(QuestionError, match="There is no batch import-1 here"):
        scene.notebook.undo(scene.place, batch="import-1")


async def test_another_place_undoes_nothing_here(scene: NotesScene, tmp_path: Path) -> None:
    await scene.save("One", "The first one.", id="n1")
    elsewhere = Place(tmp_path, "git:example.com/other")
    for number in (None, 1):
        with pytest.raises(QuestionError, match="could be undone"):
            scene.notebook.undo(elsewhere, number)


async def test_a_use_since_does_not_stand_in_the_way_and_is_kept(scene: NotesScene) -> None:
    await scene.save("One", "The first one.", id="n1")
    await scene.save("One", "Changed.", id="n1")
    scene.notebook.touch([(REPO, "n1")])
    scene.notebook.undo(scene.place)
    assert (scene.note("n1").body, scene.note("n1").use_count) == ("The first one.", 1)


async def test_several_are_forgotten_and_come_back_together(scene: NotesScene) -> None:
    await scene.save("One", "The first one.", id="n1")
    await scene.save("Two", "Something else.", id="n2")
    gone = await scene.notebook.forget(scene.place, ["#n1", "n2", "none", "n1"])
    assert [note.id for note in gone] == ["n1", "n2"]
    scene.notebook.undo(scene.place)
    assert {note.id for note in scene.notes()} == {"n1", "n2"}


async def test_a_plan_made_before_a_change_is_refused(scene: NotesScene) -> None:
    planned_on = (await scene.save("One", "The first one.", id="n1")).note
    await scene.save("One", "Changed.", id="n1")
    plan = Change("dispute", planned_on, replace(planned_on, status="disputed"), 1.0, "dream")
    with pytest.raises(NoteConflict):
        scene.notebook.apply([plan])


IDS, BODIES = ("a1", "b1", "c1"), ("The port is 80.", "The port is 81.", "Nobody may enter.", "Everybody may enter.")
saves = st.tuples(
    st.just("save"), st.sampled_from(IDS), st.sampled_from(BODIES), st.sampled_from(("", *IDS)), st.booleans()
)
steps = st.lists(
    st.one_of(
        saves, st.tuples(st.just("forget"), st.sampled_from(IDS)), st.tuples(st.just("undo"), st.integers(0, 12))
    ),
    max_size=12,
)


async def play(scene: NotesScene, step: tuple[object, ...]) -> None:
    try:
        match step:
            case ("save", str(note_id), str(body), str(replaced), bool(is_named)):
                chosen, supersedes = note_id if is_named else "", (replaced,) if replaced else ()
                await scene.save(f"About {note_id}", body, id=chosen, supersedes=supersedes)
            case ("forget", str(note_id)):
                await scene.notebook.forget(scene.place, [note_id])
            case ("undo", int(number)):
                scene.notebook.undo(scene.place, number or None)
    except QuestionError:
        pass  # refused: the laws hold all the same


def replayed(changes: list[Change]) -> dict[tuple[str, str], Note]:
    notes: dict[tuple[str, str], Note] = {}
    for change in changes:
        key = change.key
        assert notes.get(key) == change.before
        if change.after is None:
            del notes[key]
        else:
            notes[key] = change.after
    return notes


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_whatever_is_written_the_log_tells_the_store_and_no_text_is_lost(
    tmp_path: Path, history: list[tuple[object, ...]]
) -> None:
    async def live() -> None:
        scene = NotesScene(tmp_path)
        try:
            for step in history:
                kept = {note.body for note in scene.notes()}
                await play(scene, step)
                if step[0] == "save" and not step[4]:  # a new note, or one that is joined: no other text gives way
                    assert kept <= {note.body for note in scene.notes()}
                newest_first = scene.notebook.log(scene.place, 99)
                assert replayed(list(reversed(newest_first))) == {(n.scope, n.id): n for n in scene.notes()}
            before = scene.notes()
            newest_first = scene.notebook.log(scene.place, 99)
            if newest_first:
                (undone,) = scene.notebook.undo(scene.place, newest_first[0].number)
                scene.notebook.undo(scene.place, undone.number)
                assert scene.notes() == before
        finally:
            scene.close()

    asyncio.run(live())


class Busy(InMemoryNoteStore):
    """Somebody else writes right after the first look at the log."""

    def __init__(self) -> None:
        super().__init__()
        self.interrupt: Callable[[], object] = lambda: None

    def log(self, *asked: Any, **more: Any) -> tuple[Change, ...]:
        seen = super().log(*asked, **more)
        interrupt, self.interrupt = self.interrupt, lambda: None
        interrupt()
        return seen


async def test_the_newest_change_is_what_is_newest_when_it_is_taken_back(tmp_path: Path) -> None:
    store = Busy()
    scene = NotesScene(tmp_path, store)
    note = (await scene.save("T", "One.")).note
    later = replace(note, body="Two.")
    store.interrupt = lambda: store.apply([Change("update", note, later, scene.clock.wall_s(), "user")])
    (undone,) = scene.notebook.undo(scene.place)
    assert (undone.before, undone.after) == (later, note)
    scene.close()
