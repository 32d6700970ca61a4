"""Notes on their way in and out: the same bytes the second time, nothing newer written over, one batch to take back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from memory.notes_scene import REPO, NotesScene
from notes.codecs.anything import shelves

from live_memory.clock import ManualClock
from live_memory.memory.pace import Pace
from live_memory.memory.place import Place
from live_memory.memory.transfer import Extent, Parcel, Receipt, Transfer
from live_memory.notes.codecs import agd, json_codec, markdown
from live_memory.notes.note import GLOBAL, Note, new_fact
from live_memory.notes.note_json import to_json
from live_memory.store.in_memory import InMemoryStore
from live_memory.store.note_store import Change, NoteStore

NOW_S = 1_800_000_000.0
PORT = Note(
    REPO, "port", "decision", "The port", "7711 it is.", "which port", "open", "P0", "claude",
    created_at_s=1e9, updated_at_s=1.1e9, verified_at_s=1.1e9, used_at_s=1.2e9, use_count=3, sources={"a.py": "00"},
    symbols=("serve",), refs=("why",),
)  # fmt: skip
WHY = Note(
    REPO, "why", "reference", "Why a port", "It is the lock.", created_at_s=1e9, updated_at_s=1e9, verified_at_s=1e9
)
STYLE = replace(WHY, scope=GLOBAL, id="style", title="Style", body="Short sentences.")


class Desk:
    """A transfer over a store of its own."""

    def __init__(self, root: Path, *notes: Note, store: NoteStore | None = None, repo_id: str = REPO) -> None:
        self.store = store or InMemoryStore().note_store
        self.clock, self.settings = ManualClock(NOW_S), NotesScene(root).settings
        self.place = Place(root, repo_id)
        self.transfer = Transfer(self.store, self.clock, lambda: self.settings)
        self.store.apply(Change("create", None, note, NOW_S, "user") for note in notes)

    async def exported(self, extent: Extent = "all") -> list[Note]:
        """Every page."""
        page = await self.transfer.export(self.place, extent, None)
        notes = [*page.notes]
        while page.after is not None:
            page = await self.transfer.export(self.place, extent, page.after)
            notes += page.notes
        return notes

    async def take(self, notes: Sequence[Note | dict[str, Any]], **more: Any) -> Receipt:
        fields = [to_json(note) if isinstance(note, Note) else note for note in notes]
        return await self.transfer.take(self.place, Parcel(json.loads(json.dumps(fields)), **more))

    def note(self, note_id: str, scope: str = REPO) -> Note:
        (found,) = self.store.get([(scope, note_id)])
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, PORT, WHY, STYLE)


def counts(receipt: Receipt) -> tuple[int, int, int]:
    return (receipt.created, receipt.updated, receipt.unchanged)


async def test_an_export_into_an_empty_store_exports_the_same_bytes(tmp_path: Path) -> None:
    fact = Note(
        str(tmp_path),
        new_fact("x", {}, 1.0).id,
        "fact",
        "",
        "The port is 7711.",
        created_at_s=1.0,
        updated_at_s=1.0,
        verified_at_s=1.0,
    )
    first = Desk(tmp_path, PORT, WHY, STYLE, fact)
    other = Desk(tmp_path / "clone", repo_id="git:example.com/another/one")
    text = json_codec.encode(await first.exported())
    receipt = await other.take(json_codec.decode(text).notes)
    assert (counts(receipt), receipt.omissions) == ((4, 0, 0), [])
    assert json_codec.encode(await other.exported()) == text
    assert str(tmp_path) not in text
    assert REPO not in text


async def test_agd_and_markdown_carry_the_same_notes_over(desk: Desk, tmp_path: Path) -> None:
    notes = await desk.exported()
    for decoded in (agd.decode(agd.encode(notes), NOW_S), markdown.decode(markdown.encode(notes), NOW_S)):
        other = Desk(tmp_path)
        await other.take(decoded.notes)
        assert await other.exported() == notes


@settings(max_examples=15)
@given(shelves)
def test_whatever_is_taken_in_is_unchanged_the_second_time(shelf: list[Note]) -> None:
    notes = [replace(note, kind="project") if note.kind == "fact" else note for note in shelf]  # facts belong to trees

    async def twice() -> None:
        desk = Desk(Path("/a/root"))
        first = await desk.take(notes)
        second = await desk.take(await desk.exported("everything"))
        assert (second.created, second.updated, second.unchanged) == (0, 0, first.created)
        again = await desk.take(notes)
        assert (again.created, again.updated, again.unchanged) == (0, 0, first.created)
        assert not [each for each in first.omissions if "has no" not in each.reason]

    asyncio.run(twice())


async def test_each_extent_holds_what_its_name_says(desk: Desk) -> None:
    desk.store.apply([Change("create", None, replace(WHY, scope="git:example.com/x/y"), NOW_S, "user")])
    shown = {
        extent: [(note.scope, note.id) for note in await desk.exported(extent)]
        for extent in ("repo", "global", "all", "everything")
    }
    assert shown["repo"] == [("repo", "port"), ("repo", "why")]
    assert shown["global"] == [("global", "style")]
    assert sorted(shown["all"]) == sorted(shown["repo"] + shown["global"])
    assert sorted(shown["everything"]) == sorted([*shown["all"], ("git:example.com/x/y", "why")])


async def test_an_older_note_never_takes_the_place_of_a_newer_one(desk: Desk) -> None:
    older = replace(PORT, body="7710 it was.", updated_at_s=1.05e9)
    receipt = await desk.take([older])
    assert counts(receipt) == (0, 0, 0)
    assert [(each.where, each.reason) for each in receipt.omissions] == [
        ("#port", "the one that is here was updated later")
    ]
    assert desk.note("port") == PORT


async def test_a_note_that_does_not_say_when_it_was_made_takes_no_notes_place(desk: Desk) -> None:
    undated = replace(PORT, body="7710.", created_at_s=0.0, updated_at_s=0.0, verified_at_s=0.0)
    await desk.take([undated])
    assert desk.note("port") == PORT
    await desk.take([replace(undated, id="new")])
    assert (desk.note("new").created_at_s, desk.note("new").verified_at_s) == (NOW_S, NOW_S)


async def test_a_newer_note_takes_the_place_and_keeps_what_was_counted(desk: Desk) -> None:
    receipt = await desk.take([replace(PORT, body="7712 now.", updated_at_s=1.5e9, created_at_s=1.4e9, use_count=0)])
    kept = desk.note("port")
    assert (counts(receipt), kept.body, kept.updated_at_s) == ((0, 1, 0), "7712 now.", 1.5e9)
    assert (kept.created_at_s, kept.use_count) == (1e9, 3)


async def test_a_stamp_that_has_not_come_is_now(desk: Desk) -> None:
    await desk.take([replace(PORT, id="late", updated_at_s=9e9, created_at_s=9e9, used_at_s=9e9)])
    assert desk.note("late").updated_at_s == NOW_S


async def test_an_import_is_one_batch_that_an_undo_takes_back(tmp_path: Path) -> None:
    scene = NotesScene(tmp_path)
    desk = Desk(tmp_path, PORT, store=scene.store)
    first = await desk.take([replace(PORT, body="New.", updated_at_s=1.3e9), WHY], source="notes.json")
    await desk.take([STYLE], batch=first.batch)
    assert {change.batch for change in scene.notebook.log(desk.place, 3)} == {first.batch}
    assert scene.notebook.log(desk.place, 3)[-1].reason == "import of notes.json"
    scene.notebook.undo(desk.place)
    assert scene.notes() == (PORT,)
    scene.close()


async def test_a_dry_run_counts_and_keeps_nothing(desk: Desk) -> None:
    before = await desk.exported()
    receipt = await desk.take(
        [replace(WHY, id="new"), replace(PORT, body="n", updated_at_s=1.5e9), WHY], mode="dry-run"
    )
    assert (counts(receipt), await desk.exported()) == ((1, 1, 1), before)


async def test_all_can_be_sent_to_one_scope(desk: Desk) -> None:
    await desk.take([replace(STYLE, id="mine")], scope="repo")
    await desk.take([replace(WHY, scope="repo", id="everybodys")], scope="global")
    assert (desk.note("mine").scope, desk.note("everybodys", GLOBAL).scope) == (REPO, GLOBAL)


SECRET = "ghp_" + "a1B2" * 9
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HOSTILE: list[tuple[dict[str, Any], str]] = [
    ({}, "A note needs"),
    ({"id": "../../x"}, "is no id"),
    ({"id": "a/b"}, "is no id"),
    ({"id": 3}, "must be text"),
    ({"kind": "rumour"}, "cannot be 'rumour'"),
    ({"body": "x" * 70_000}, "note_max_bytes"),
    ({"body": " \n"}, "it has no body"),
    ({"title": ""}, "it has no title"),
    ({"refs": "abc"}, "must be a list"),
    ({"sources": {"a": 1}}, "must map paths"),
    ({"use_count": 1.5}, "whole number"),
    ({"created_at_s": "yesterday"}, "number of seconds"),
    ({"scope": " "}, "to which repository"),
]


@pytest.mark.parametrize(("change", "reason"), HOSTILE)
async def test_what_is_no_note_is_named_with_the_reason_and_the_others_are_kept(
    desk: Desk, change: dict[str, Any], reason: str
) -> None:
    bad = {**to_json(replace(WHY, id="bad")), **change} if change else {}
    receipt = await desk.take([replace(WHY, id="one"), bad, replace(WHY, id="two")])
    assert receipt.created == 2
    assert [reason in each.reason for each in receipt.omissions] == [True]


async def test_hostile_values_are_brought_to_reason(desk: Desk) -> None:
    many = tuple(f"r{number}" for number in range(1000))
    fields = {
        **to_json(
            replace(
                WHY,
                id="odd",
                scope="repo",
                title="A\n title \ud800",
                body=f"nul \0, token {SECRET}",
                refs=("odd", "../x", *many),
            )
        )
    }
    fields |= {
        "use_count": 10**400,
        "created_at_s": -5,
        "used_at_s": 10**400,
        "expires_at_s": 1e308,
        "symbols": ["a", "a"],
    }
    await desk.take([fields])
    kept = desk.note("odd")
    assert (kept.title, kept.created_at_s, kept.used_at_s, kept.use_count) == (
        "A title \ufffd",
        1e9,
        0.0,
        1_000_000_000,
    )
    assert (len(kept.refs), kept.refs[0], kept.symbols) == (256, "r0", ("a",))
    assert SECRET not in kept.body
    assert "\0" not in kept.body
    assert kept.expires_at_s == NOW_S + 90 * 86_400


async def test_a_title_that_is_too_long_is_kept_in_the_body(desk: Desk) -> None:
    long = "word " * 100
    await desk.take([replace(WHY, id="long", scope="repo", title=long)])
    kept = desk.note("long")
    assert len(kept.title) == 300
    assert kept.body == f"{long.strip()}\n\nIt is the lock."
    assert (await desk.take([replace(WHY, id="long", scope="repo", title=long)])).unchanged == 1


async def test_secrets_that_are_in_the_store_do_not_leave_it(desk: Desk) -> None:
    desk.store.apply([Change("create", None, replace(WHY, id="leak", body=SECRET, title=SECRET), NOW_S, "user")])
    assert SECRET not in json_codec.encode(await desk.exported())


async def test_names_that_are_secrets_do_not_come_in(desk: Desk) -> None:
    note = replace(
        WHY, id="n", scope="repo", refs=("a", TOKEN), supersedes=(TOKEN,), symbols=(TOKEN,), sources={TOKEN: TOKEN}
    )
    receipt = await desk.take(
        [note, replace(WHY, id=TOKEN, scope="repo"), replace(WHY, id="elsewhere", scope=f"path:/{TOKEN}")]
    )
    assert receipt.created == 1
    assert TOKEN not in str(receipt.omissions)
    assert TOKEN not in str(desk.note("n"))
    assert desk.note("n").refs == ("a",)


async def test_names_that_are_secrets_do_not_leave(desk: Desk) -> None:
    leak = replace(WHY, id="leak", symbols=(TOKEN,), sources={TOKEN: "00"})
    desk.store.apply([Change("create", None, leak, NOW_S, "user")])
    assert TOKEN not in json_codec.encode(await desk.exported())


async def test_an_import_tells_what_it_wrote_for_others(desk: Desk) -> None:
    notes = [
        replace(WHY, id="here", scope="repo"),
        replace(WHY, id="all", scope="global"),
        replace(WHY, id="all-2", scope="global"),
        replace(WHY, id="theirs", scope="git:example.com/another/one"),
    ]
    assert (await desk.take(notes)).elsewhere == {"global": 2, "git:example.com/another/one": 1}
    assert (await desk.take(notes)).elsewhere == {}


async def test_a_full_repository_takes_no_more_and_says_so(desk: Desk) -> None:
    desk.settings = replace(desk.settings, notes_max_count=4)
    receipt = await desk.take([replace(WHY, id=f"n{number}", scope="repo") for number in range(4)])
    assert receipt.created == 2
    assert {each.reason for each in receipt.omissions} == {"there are 4 notes already (notes_max_count)"}


async def test_notes_that_refer_to_each_other_in_a_circle_are_notes_like_others(desk: Desk) -> None:
    circle = [
        replace(WHY, id="a1", refs=("b1",), supersedes=("b1",)),
        replace(WHY, id="b1", refs=("a1",), supersedes=("a1",)),
    ]
    assert (await desk.take(circle)).created == 2


def test_the_work_between_two_chances_for_others_adapts() -> None:
    clock = ManualClock()
    pace = Pace(clock, slice_ms=10.0, most=100)
    sizes = []
    for ms_each in (0.0, 0.0, 0.1, 0.1, 5.0, 5.0, 0.1):
        sizes.append(pace.notes)
        with pace:
            clock.advance(pace.notes * ms_each / 1000)
    assert sizes == [4, 8, 16, 32, 64, 2, 2]


class Interrupted(ManualClock):
    """Never stands still: each look takes it a little further."""

    def monotonic_s(self) -> float:
        self.advance(0.005)
        return self.now_s


async def test_others_get_their_turn_while_a_large_import_runs(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.transfer = Transfer(desk.store, Interrupted(NOW_S), lambda: desk.settings)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    await desk.take([replace(WHY, id=f"n{number}") for number in range(300)])
    task.cancel()
    assert turns > 3
