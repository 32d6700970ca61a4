"""Two identities of one repository become one: nothing is lost, nothing is there twice, and it can be taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from memory.notes_scene import REPO, NotesScene

from live_memory.errors import QuestionError
from live_memory.memory.merging import Merging, Union
from live_memory.notes.note import GLOBAL, Note
from live_memory.store.note_store import Change

OLD = "path:/a/former/folder"
NOW_S = 1_800_000_000.0
PORT = Note(REPO, "port", "decision", "The port of the server", "The server listens on port 7711, which is the lock.",
            priority="P0", created_at_s=NOW_S - 50, updated_at_s=NOW_S - 50, refs=("why",))  # fmt: skip
WHY = replace(
    PORT, id="why", title="Why a port", body="A port can be bound once only, so whoever binds it serves.", refs=()
)
YARN = replace(
    PORT,
    id="yarn",
    title="YARN and soft limits",
    body="YARN ignores the soft memory limit of executors.",
    refs=("port", "same"),
)
SAME = replace(
    PORT,
    id="same",
    body="The server listens on port 7711, which is the lock. Nobody else may bind it.",
    created_at_s=NOW_S - 90,
)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[NotesScene]:
    made = NotesScene(tmp_path)
    yield made
    made.close()


def keep(scene: NotesScene, *notes: Note) -> None:
    scene.store.apply([Change("create", None, note, NOW_S, "user") for note in notes])


async def merge(scene: NotesScene, source: str = OLD, target: str = REPO) -> Union:
    return await Merging(scene.store, scene.clock).merge(source, target, "apply")


def old(note: Note, **changes: object) -> Note:
    return replace(note, scope=OLD, **changes)  # type: ignore[arg-type]


async def test_notes_move_over_as_they_are(scene: NotesScene) -> None:
    keep(scene, PORT, old(YARN, refs=("port",)))
    union = await merge(scene)
    assert (union.moved, union.joined, union.renamed) == (1, {}, {})
    assert scene.note("yarn") == replace(YARN, refs=("port",))
    assert scene.store.notes([OLD]) == ()


async def test_what_says_the_same_becomes_one_and_what_named_it_names_the_one(scene: NotesScene) -> None:
    keep(scene, PORT, old(SAME), old(YARN))
    union = await merge(scene)
    assert (union.moved, union.joined) == (1, {"same": "port"})
    one = scene.note("port")
    assert (one.body, one.created_at_s) == (SAME.body, NOW_S - 90)
    assert scene.note("yarn").refs == ("port",)
    assert len(scene.notes()) == 2


async def test_two_notes_of_one_id_that_say_different_things_are_both_kept(scene: NotesScene) -> None:
    other = old(PORT, body="Ships may enter at high tide alone, from the west.", title="The port of Genoa")
    keep(scene, PORT, other, old(YARN, refs=("port",)), old(WHY, id="port-2"))
    union = await merge(scene)
    assert union.renamed == {"port": "port-3"}
    assert scene.note("port") == PORT
    assert scene.note("port-3").body == other.body
    assert scene.note("yarn").refs == ("port-3",)


async def test_working_state_is_never_joined(scene: NotesScene) -> None:
    state = replace(PORT, id="state-a", kind="state", title="a", body='{"n": 1}')
    keep(scene, state, old(state, body='{"n": 2}'))
    assert (await merge(scene)).renamed == {"state-a": "state-a-2"}


async def test_an_undo_brings_everything_back(scene: NotesScene) -> None:
    kept = [PORT, WHY, old(SAME), old(YARN), old(WHY, body="Something else about the why of it, entirely new.")]
    keep(scene, *kept)
    before = {(note.scope, note.id): note for note in scene.store.notes([REPO, OLD])}
    union = await merge(scene)
    assert len(scene.store.notes([REPO, OLD])) == 4
    scene.notebook.undo(scene.place, batch=union.batch)
    assert {(note.scope, note.id): note for note in scene.store.notes([REPO, OLD])} == before


async def test_an_undo_without_a_name_takes_back_the_whole_of_it(scene: NotesScene) -> None:
    keep(scene, PORT, old(SAME), old(YARN))
    await merge(scene)
    scene.notebook.undo(scene.place)
    assert {note.id for note in scene.store.notes([OLD])} == {"same", "yarn"}
    scene.notebook.undo(scene.place, batch="")


async def test_what_others_write_meanwhile_is_not_lost_and_ends_no_merge(scene: NotesScene) -> None:
    keep(scene, PORT, old(SAME), old(YARN), old(WHY), old(WHY, id="gone", body="A lock is a file that nobody removes."))
    task = asyncio.create_task(merge(scene))
    await asyncio.sleep(0)
    # It has looked at some of them. The twin goes, an id is taken, one is changed and one forgotten.
    yarn, why, gone = (scene.store.get([(OLD, name)])[0] for name in ("yarn", "why", "gone"))
    taking = replace(PORT, id="yarn", title="Wool", body="Wool is knitted by hand, in the evening, with two needles.")
    scene.store.apply(
        [
            Change("forget", PORT, None, NOW_S, "user"),
            Change("create", None, taking, NOW_S, "user"),
            Change("update", why, replace(why, body="It was decided otherwise."), NOW_S, "user"),
            Change("forget", gone, None, NOW_S, "user"),
        ]
    )
    union = await task
    assert (union.moved, union.joined, union.renamed) == (3, {}, {"yarn": "yarn-2"})
    assert {note.id for note in scene.notes()} == {"same", "yarn", "yarn-2", "why"}
    assert scene.note("why").body == "It was decided otherwise."
    assert scene.note("yarn-2").body == yarn.body
    assert scene.store.notes([OLD]) == ()


async def test_a_dry_run_says_what_would_become_of_them_and_changes_nothing(scene: NotesScene) -> None:
    keep(scene, PORT, old(SAME), old(YARN))
    before = scene.store.notes([REPO, OLD])
    union = await Merging(scene.store, scene.clock).merge(OLD, REPO, "dry-run")
    assert (union.moved, union.joined) == (1, {"same": "port"})
    assert scene.store.notes([REPO, OLD]) == before


async def test_facts_stay_with_their_tree(scene: NotesScene) -> None:
    fact = replace(PORT, scope=OLD, id="fact-1", kind="fact")
    keep(scene, old(YARN), fact)
    await merge(scene)
    assert scene.store.notes([OLD]) == (fact,)


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [(REPO, REPO, "nothing to bring"), (OLD, REPO, "no notes of"), (GLOBAL, REPO, "belong to every")],
)
async def test_what_makes_no_sense_is_refused(scene: NotesScene, source: str, target: str, words: str) -> None:
    with pytest.raises(QuestionError, match=words):
        await merge(scene, source, target)
