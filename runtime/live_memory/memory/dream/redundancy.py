"""Notes that say the same are made one: the smaller goes into the larger, which bears its name from then on."""

from __future__ import annotations

from live_memory.memory.dream.workbook import Edit, Workbook
from live_memory.notes.arrival import MAX_EDGES
from live_memory.notes.neighbours import neighbours
from live_memory.notes.note import Note
from live_memory.notes.overlap import REDUNDANT, Saying, likeness, may_be_one, redirected, united
from live_memory.store.note_changes import key_of
from live_memory.store.note_store import Key

NEARLY = 0.35  # alike enough to be asked about
MAX_PAIRS = 24


async def merge(book: Workbook, max_bytes: int, since_s: float = 0.0) -> list[tuple[Note, Note]]:
    """Merge what is redundant, the likest first; a merged note takes no more than `max_bytes`, and names no more notes than
    an import lets it. Returned are the pairs that are nearly so, the likest first, one of which was written since then."""
    sayings: dict[Key, Saying] = {}
    words: dict[Key, frozenset[str]] = {}
    for note in book.alive():
        await book.breathe()
        if may_be_one(note, note):
            sayings[key_of(note)] = saying = book.saying(note)
            words[key_of(note)] = saying.words
    found: list[tuple[float, Key, Key]] = []
    near: list[tuple[float, Key, Key]] = []
    for one, others in neighbours(words):
        await book.breathe()
        for other in others:
            await book.breathe()
            alike = likeness(sayings[one], sayings[other])
            if alike > REDUNDANT:
                found.append((alike, one, other))
            elif alike > NEARLY and max(sayings[each].note.updated_at_s for each in (one, other)) >= since_s:
                near.append((alike, one, other))
    cited_by = citations(book)
    now_at: dict[Key, Key] = {}
    for _, first, second in sorted(found, key=lambda each: -each[0]):
        await book.breathe()
        one, other = _followed(now_at, first), _followed(now_at, second)
        left, right = book.get(one), book.get(other)
        if book.is_full:
            break
        if one == other or left is None or right is None:
            continue
        if (one, other) != (first, second) and likeness(book.saying(left), book.saying(right)) <= REDUNDANT:
            continue  # one of them has grown since
        larger, smaller = sorted((left, right), key=lambda note: _rank(book, note), reverse=True)
        whole = united(larger, smaller, book.clock.wall_s())
        is_bounded = size_bytes(whole) <= max_bytes and max(len(whole.refs), len(whole.supersedes)) <= MAX_EDGES
        if is_bounded and unite(book, larger, whole, smaller, cited_by):
            now_at[key_of(smaller)] = key_of(larger)
    pairs = ((book.get(one), book.get(other)) for _, one, other in sorted(near, key=lambda each: -each[0]))
    return [(one, other) for one, other in pairs if one is not None and other is not None][:MAX_PAIRS]


def unite(book: Workbook, larger: Note, whole: Note, smaller: Note, cited_by: dict[str, set[Key]]) -> bool:
    """Put `whole` in the place of `larger`, drop `smaller`, and lead to `larger` who cited it: in one transaction."""
    reason = f"#{smaller.id} says the same as #{larger.id}"
    edits = [Edit("merge", larger, whole, reason), Edit("merge", smaller, None, reason)]
    aside = {key_of(larger), key_of(smaller)}
    for key in sorted(cited_by.get(smaller.id, set()) - aside):
        note = book.get(key)
        if note is not None and smaller.id in (*note.refs, *note.supersedes) and _means(book, note, smaller):
            edits.append(Edit("merge", note, redirected(note, smaller.id, larger.id), reason))
    if not book.write(edits):
        return False
    cited_by.setdefault(larger.id, set()).update(cited_by.get(smaller.id, set()) - aside)
    for target in (*whole.refs, *whole.supersedes):
        cited_by.setdefault(target, set()).add(key_of(larger))
    book.report.add("merged", larger.id, smaller.id)
    return True


def size_bytes(note: Note) -> int:
    """What the words of a note take."""
    return len(f"{note.title}{note.description}{note.body}".encode("utf-8", "backslashreplace"))


def citations(book: Workbook) -> dict[str, set[Key]]:
    """Id → the keys of the notes that name it."""
    cited_by: dict[str, set[Key]] = {}
    for note in book:
        for target in (*note.refs, *note.supersedes):
            cited_by.setdefault(target, set()).add(key_of(note))
    return cited_by


def _means(book: Workbook, note: Note, smaller: Note) -> bool:
    """Whether the id in `note` is this one's: the repository's own comes before a global one of the same id."""
    return note.scope == smaller.scope or book.get((note.scope, smaller.id)) is None


def _rank(book: Workbook, note: Note) -> tuple[int, int, float, str]:
    """The larger note, where both are as large the one that is used more, then the older one."""
    return (book.saying(note).size, note.use_count, -note.created_at_s, note.id)


def _followed(now_at: dict[Key, Key], key: Key) -> Key:
    while key in now_at:
        key = now_at[key]
    return key
