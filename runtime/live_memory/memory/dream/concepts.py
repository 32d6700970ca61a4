"""Concept notes: where three or more notes are about one thing, one more lists them; it is brought up to date, never doubled."""

from __future__ import annotations

from dataclasses import replace

from live_memory.memory.dream.workbook import ACTOR, Edit, Workbook
from live_memory.notes.lifecycle import default_priority, expiry
from live_memory.notes.note import Kind, Note
from live_memory.notes.rendering import cut, gist
from live_memory.notes.slugs import free_id, slug
from live_memory.notes.topics import MAX_MEMBERS, MIN_MEMBERS, Key, Labels, members, name_of, topics

INDEXED: frozenset[Kind] = frozenset({"decision", "root-cause", "preference", "project", "reference"})
NOTES_EACH = 20  # notes of a repository for each concept it may have
MIN_CONCEPTS, MAX_CONCEPTS = 3, 50
LINE_CHARS = 160


async def index(book: Workbook) -> None:
    """Bring the repository's concept notes up to date, and make those that are missing."""
    labels: dict[str, Labels] = {}
    for note in book.alive():
        await book.breathe()
        if note.scope == book.place.repo_id and note.kind in INDEXED:
            labels[note.id] = Labels(note)
            _ = labels[note.id].words
    listed: set[str] = set()
    kept = [note for note in book if _is_ours(book, note)]
    for concept in sorted(kept, key=lambda note: note.id):
        await book.breathe()
        found = members(_key(concept), labels, listed)
        if len(found) < MIN_MEMBERS:
            if book.write([Edit("expire", concept, None, "too few notes are left of it")]):
                book.report.add("unindexed", concept.id)
            continue
        listed.update(found)
        _keep(book, concept, _key(concept), [labels[each].note for each in found[:MAX_MEMBERS]])
    rest = {note_id: each for note_id, each in labels.items() if note_id not in listed}
    room = max(MIN_CONCEPTS, min(MAX_CONCEPTS, len(labels) // NOTES_EACH)) - len(kept)
    for key, ids in topics(rest, max(0, room)):
        await book.breathe()
        _keep(book, None, key, [labels[each].note for each in ids[:MAX_MEMBERS]])


def _keep(book: Workbook, concept: Note | None, key: Key, notes: list[Note]) -> None:
    now_s, name = book.clock.wall_s(), name_of(key, notes)
    notes = sorted(notes, key=lambda note: note.id)
    title = concept.title if concept else f"Notes about {name}"
    priority = default_priority("concept")
    made = Note(
        book.place.repo_id,
        concept.id if concept else _free_id(book, name),
        "concept",
        title,
        "\n".join([f"{len(notes)} notes are about this:", "", *(_line(note) for note in notes)]),
        f"Where to read about {name}: an index of {len(notes)} notes.",
        priority=priority,
        origin="dream",
        created_at_s=concept.created_at_s if concept else now_s,
        updated_at_s=now_s,
        verified_at_s=now_s,
        expires_at_s=expiry(priority, now_s),
        symbols=key,
        refs=tuple(note.id for note in notes),
    )
    if concept is not None:
        made = replace(made, used_at_s=concept.used_at_s, use_count=concept.use_count)
        if (made.body, made.refs) == (concept.body, concept.refs) and not concept.is_expired(now_s):
            return
    if book.write([Edit("update" if concept else "create", concept, made, "an index of one topic")]):
        book.report.add("indexed", made.id, *made.refs)


def _line(note: Note) -> str:
    return cut(f"- #{note.id}: {gist(note)}", LINE_CHARS)


def _is_ours(book: Workbook, note: Note) -> bool:
    return (note.scope, note.kind, note.origin) == (book.place.repo_id, "concept", ACTOR) and bool(note.symbols)


def _key(concept: Note) -> Key:
    return concept.symbols


def _free_id(book: Workbook, name: str) -> str:
    wanted = slug(f"about {name}")
    return free_id(wanted, lambda each: any(book.get((scope, each)) for scope in book.place.scopes))
