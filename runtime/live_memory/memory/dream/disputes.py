"""Contradictions: both notes are kept, marked and linked; a dispute that is none any more is lifted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import replace

from live_memory.memory.dream.workbook import Edit, Workbook
from live_memory.notes.contradictions import Contradiction, Stance, between
from live_memory.notes.neighbours import neighbours
from live_memory.notes.note import Kind, Note
from live_memory.store.note_changes import key_of
from live_memory.store.note_store import Key

UNJUDGED: frozenset[Kind] = frozenset({"fact", "session", "state", "concept"})
MAX_SHARING = 64  # notes that share a handle; where more do, those that are like each other are compared


async def settle(book: Workbook) -> None:
    """Lift the disputes whose other side is gone, superseded, or says something else by now."""
    for note in book:
        await book.breathe()
        if note.status != "disputed":
            continue
        others = [(each, book.get((note.scope, each))) for each in note.refs]
        # Who disputes is named by both; a side that is gone is named by the one that is left.
        sides = [other for _, other in others if other is None or note.id in other.refs]
        if sides and not any(_is_open(book, note, other) for other in sides):
            lifted = replace(note, status="")
            if book.write([Edit("dispute", note, lifted, "the dispute is settled")]):
                book.report.add("settled", note.id)


async def dispute(book: Workbook) -> None:
    """Mark the notes that contradict each other."""
    stances: dict[Key, Stance] = {}
    for note in book.alive():
        await book.breathe()
        if note.kind not in UNJUDGED:
            stances[key_of(note)] = book.saying(note)
    async for one, other in _pairs(book, stances):
        await book.breathe()
        mine, theirs = book.get(one), book.get(other)
        if mine is None or theirs is None or mine.scope != theirs.scope or _are_settled(mine, theirs):
            continue
        found = between(stances[one], stances[other])
        if found:
            _mark(book, mine, theirs, found[0])


def _mark(book: Workbook, mine: Note, theirs: Note, found: Contradiction) -> None:
    """The newest is named first, with its own words first."""
    newer, older, said = mine, theirs, found
    if theirs.updated_at_s > mine.updated_at_s:
        newer, older, said = theirs, mine, Contradiction(found.other, found.one)
    if _is_disputed(newer, older):
        return
    edits = [
        Edit("dispute", note, replace(note, status="disputed", refs=_joined(note.refs, other.id)), str(said))
        for note, other in ((newer, older), (older, newer))
    ]
    if book.write(edits):
        book.report.add("disputed", newer.id, older.id, why=str(said))


def _is_open(book: Workbook, note: Note, other: Note | None) -> bool:
    if other is None or other.status == "superseded" or other.is_expired(book.clock.wall_s()):
        return False
    return not _are_settled(note, other) and bool(between(book.saying(note), book.saying(other)))


def _are_settled(one: Note, other: Note) -> bool:
    """Whether somebody has said which of the two holds."""
    return other.id in one.supersedes or one.id in other.supersedes


def _is_disputed(one: Note, other: Note) -> bool:
    return one.status == other.status == "disputed" and other.id in one.refs and one.id in other.refs


async def _pairs(book: Workbook, stances: dict[Key, Stance]) -> AsyncIterator[tuple[Key, Key]]:
    """The pairs that may contradict each other, each once."""
    by_handle: dict[str, list[Key]] = {}
    for key, stance in stances.items():
        await book.breathe()
        for handle in stance.handles:
            by_handle.setdefault(f"{key[0]} {handle}", []).append(key)
    seen: set[tuple[Key, Key]] = set()
    crowded: dict[Key, None] = {}
    for keys in by_handle.values():
        await book.breathe()
        if len(keys) > MAX_SHARING:
            crowded.update(dict.fromkeys(keys))
            continue
        for pair in _each_with_each(keys):
            if pair not in seen:
                seen.add(pair)
                yield pair
    words: dict[Key, frozenset[str]] = {}
    for key in crowded:
        await book.breathe()
        words[key] = stances[key].words
    for one, others in neighbours(words):
        await book.breathe()
        for other in others:
            if (one, other) not in seen and stances[one].handles & stances[other].handles:
                yield (one, other)


def _each_with_each(keys: list[Key]) -> Iterator[tuple[Key, Key]]:
    for number, one in enumerate(keys):
        for other in keys[number + 1 :]:
            yield (one, other)


def _joined(refs: Iterable[str], ref: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*refs, ref)))
