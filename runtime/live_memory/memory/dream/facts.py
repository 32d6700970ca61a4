"""Facts that were demoted because a file of theirs changed: what can be told without a model is told here, the rest is left
for one. Where it is unsure, a fact stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from live_memory.memory.dream.dead_references import Eyes, words_of
from live_memory.memory.dream.tree_texts import Sight, TreeTexts
from live_memory.memory.dream.workbook import Edit, Workbook
from live_memory.notes.code_values import verdict
from live_memory.notes.note import Note, fact_as_note
from live_memory.notes.references import references
from live_memory.store.notes import Notes

MAX_FACTS = 400  # of one run


@dataclass(frozen=True, slots=True)
class Doubted:
    """A note whose files have changed, and those of them that are still there."""

    note: Note
    files: Mapping[str, Sight]


async def check(book: Workbook, facts: Notes, texts: TreeTexts, eyes: Eyes) -> list[Doubted]:
    """Verify the demoted facts that still stand in their files, retire those whose code is gone, and return the rest."""
    root = book.place.root
    unsure: list[Doubted] = []
    for fact in facts.stale(str(root))[:MAX_FACTS]:
        await book.breathe()
        seen = await texts.look(root, fact.sources)
        kept = next(iter(book.store.get([(str(root), fact.id)])), None)
        if kept is None:
            continue
        files = {path: sight for path, sight in seen.items() if sight.sha256}
        if files and len(files) == len(seen) and all(seen[path].sha256 == fact.sources[path] for path in seen):
            if book.mode == "run":  # the files are again what they were
                for path, sight in seen.items():
                    facts.demote(str(root), path, sight.sha256)
        elif files and verdict(fact_as_note(str(root), fact), [sight.text for sight in files.values()]) == "holds":
            verify(book, kept, files, "its files still say so")
        elif not files and all(sight.sha256 is None for sight in seen.values()):
            if await _is_code_gone(book, eyes, kept):
                retire(book, kept, "its files and all that it names are gone")
        elif files:
            unsure.append(Doubted(kept, files))
    return unsure


def verify(book: Workbook, note: Note, files: Mapping[str, Sight], why: str) -> None:
    """The note holds, and rests on its files as they are now."""
    sources = {path: sight.sha256 for path, sight in files.items() if sight.sha256}
    if book.write([Edit("update", note, replace(note, sources=sources, verified_at_s=book.clock.wall_s()), why)]):
        book.report.add("verified", note.id)


def retire(book: Workbook, note: Note, why: str) -> None:
    if book.write([Edit("forget", note, None, why)]):
        book.report.add("retired", note.id, why=why)


async def _is_code_gone(book: Workbook, eyes: Eyes, note: Note) -> bool:
    """Whether nothing that the fact names is left anywhere in the tree; a file that was only moved still has it."""
    words = frozenset(word for name in references(note).names for word in words_of(name))
    return bool(words) and await eyes.absent(eyes.names_in, [book.place.root], words) == words
