"""Notes by id in one batch, with what they cite and what cites them as far as asked for: cycle-safe, held to a size."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from live_memory.memory import disputed
from live_memory.notes.note import Note
from live_memory.store.note_store import NoteStore

Relation: TypeAlias = Literal["refs", "backlinks"]
MAX_DEPTH = 8
MAX_REACHED = 500  # notes of one reading, shown or not: a hub may be cited by thousands
MAX_CHARS = 32_000  # below the size from which Claude Code puts a tool's result into a file
NOTE_FRAME_CHARS = 200  # heading and connections


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which notes: `ids`, and in up to `depth` steps those connected with them. `max_chars` bounds what is shown."""

    ids: tuple[str, ...]
    relations: frozenset[Relation] = frozenset()
    depth: int = 1
    max_chars: int = MAX_CHARS


@dataclass(frozen=True, slots=True)
class ShownNote:
    """A note with the state of its files (FRESH, STALE, GONE, empty: it names none), who cites it, and what others say
    against it."""

    note: Note
    state: str
    backlinks: tuple[str, ...]
    disputes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """`missing` names the ids that no note bears, `left_out` counts the notes that were reached and not shown."""

    shown: tuple[ShownNote, ...]
    missing: tuple[str, ...] = ()
    left_out: int = 0


def read(store: NoteStore, scopes: Sequence[str], wanted: Wanted) -> tuple[tuple[Note, ...], tuple[str, ...], int]:
    """The notes in the order of their distance, the ids that are missing, and how many had no room.

    An id means the note of the first of `scopes` that has it."""
    found = _by_id(store, scopes, wanted.ids)
    missing = tuple(each for each in wanted.ids if each not in found)
    heirs = _heirs(store, scopes, missing)
    found |= {note.id: note for note in heirs.values()}
    missing = tuple(each for each in missing if each not in heirs)
    found = _with_other_sides(store, found)
    edge = list(found.values())
    for _ in range(min(wanted.depth, MAX_DEPTH) if wanted.relations else 0):
        near = [each for each in _connected(store, scopes, edge, wanted.relations) if each not in found]
        reached = _by_id(store, scopes, near[: MAX_REACHED - len(found)])
        found |= reached
        edge = list(reached.values())
        if not edge:
            break
    notes = tuple(found.values())
    shown = _fitting(notes, wanted.max_chars)
    return shown, missing, len(notes) - len(shown)


async def get(
    store: NoteStore,
    scopes: Sequence[str],
    wanted: Wanted,
    states: Callable[[Sequence[Note]], Awaitable[Mapping[str, str]]],
) -> Reading:
    """The reading of `wanted`, each note with the state that `states` finds its files in."""
    notes, missing, left_out = read(store, scopes, wanted)
    by_id = await states(notes)
    cited_by = store.backlinks(scopes, [note.id for note in notes])
    disputes = disputed.lines_of(store, notes)
    shown = tuple(
        ShownNote(note, by_id.get(note.id, ""), tuple(cited_by.get(note.id, ())), disputes.get(note.id, ()))
        for note in notes
    )
    return Reading(shown, missing, left_out)


def _by_id(store: NoteStore, scopes: Sequence[str], ids: Sequence[str]) -> dict[str, Note]:
    """Id → note, in the order of `ids`."""
    keys = [(scope, each) for each in dict.fromkeys(ids) for scope in scopes]
    found: dict[str, Note] = {}
    for note in store.get(keys):
        found.setdefault(note.id, note)
    return found


def _with_other_sides(store: NoteStore, found: Mapping[str, Note]) -> dict[str, Note]:
    """`found`, each disputed note together with those that it is in dispute with, the newest first."""
    whole: dict[str, Note] = {}
    for note in found.values():
        together = sorted((note, *disputed.sides(store, note)), key=lambda each: -each.updated_at_s)
        whole |= {each.id: each for each in together if each.id not in whole}
    return whole


def _heirs(store: NoteStore, scopes: Sequence[str], ids: Sequence[str]) -> dict[str, Note]:
    """For ids that no note bears any more, the note that took theirs in."""
    cited_by = store.backlinks(scopes, ids) if ids else {}
    heirs: dict[str, Note] = {}
    for each in ids:
        taking = _by_id(store, scopes, cited_by.get(each, ())).values()
        heirs.update((each, note) for note in taking if each in note.supersedes)
    return heirs


def _connected(
    store: NoteStore, scopes: Sequence[str], notes: Sequence[Note], relations: frozenset[Relation]
) -> tuple[str, ...]:
    """The ids one step away: what a note cites and what it superseded; what cites it."""
    ids: list[str] = []
    if "refs" in relations:
        ids += [each for note in notes for each in (*note.refs, *note.supersedes)]
    if "backlinks" in relations:
        cited_by = store.backlinks(scopes, [note.id for note in notes])
        ids += [each for note in notes for each in cited_by.get(note.id, ())]
    return tuple(dict.fromkeys(ids))


def _fitting(notes: Sequence[Note], max_chars: int) -> tuple[Note, ...]:
    """As many as fit, in their order; the first one always, for nothing would be shown else."""
    shown: list[Note] = []
    room_chars = max_chars
    for note in notes:
        size_chars = len(note.title) + len(note.description) + len(note.body) + NOTE_FRAME_CHARS
        if size_chars <= room_chars or not shown:
            shown.append(note)
            room_chars = max(0, room_chars - size_chars)
    return tuple(shown)
