"""Concept notes: where three or more notes are about one thing, one more lists them; it is brought up to date, never doubled."""

from __future__ import annotations

from dataclasses import replace

from live_memory.memory.dream.workbook import ACTOR, Edit, Workbook
from live_memory.notes.lifecycle import default_priority, expiry
from live_memory.notes.note import Kind, Note
from live_memory.notes.rendering import cut, gist
from live_memory.notes.slugs import free_id, slug
from live_memory.notes.topics import MAX_MEMBERS, MIN_MEMBERS, Key, Labels, Topics, name_of

INDEXED: frozenset[Kind] = frozenset({"decision", "root-cause", "preference", "project", "reference"})
NOTES_EACH = 20  # notes of a repository for each concept it may have
MIN_CONCEPTS, MAX_CONCEPTS = 3, 50
LINE_CHARS = 160


async def index(book: Workbook) -> None:
    """Bring the repository's concept notes up to date, and make those that are missing."""
    topics = Topics()
    for note in book.alive():
        await book.breathe()
        if note.scope == book.place.repo_id and note.kind in INDEXED:
            topics.add(Labels(note))
    for _ in topics.counted():
        await book.breathe()
    by_key = {concept.symbols: concept for concept in book if _is_ours(book, concept)}
    listed: set[str] = set()
    for key in topics.ordered(by_key):
        await book.breathe()
        concept, ids = by_key[key], topics.members(key, listed)
        if len(ids) >= MIN_MEMBERS:
            listed.update(ids)
            _keep(book, concept, key, [topics.note(each) for each in ids[:MAX_MEMBERS]])
        elif book.write([Edit("expire", concept, None, "too few notes are left of it")]):
            book.report.add("unindexed", concept.id)
    room = max(MIN_CONCEPTS, min(MAX_CONCEPTS, len(topics) // NOTES_EACH)) - len(by_key)
    for key in topics.found():
        await book.breathe()
        ids = topics.members(key, listed)
        if len(ids) >= MIN_MEMBERS and room > 0:
            room -= 1
            listed.update(ids)
            _keep(book, None, key, [topics.note(each) for each in ids[:MAX_MEMBERS]])


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


def _free_id(book: Workbook, name: str) -> str:
    wanted = slug(f"about {name}")
    return free_id(wanted, lambda each: any(book.get((scope, each)) for scope in book.place.scopes))
