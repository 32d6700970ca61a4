"""Facts that are forgotten with the process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from live_memory.notes.note import Fact, Note, fact_as_note
from live_memory.notes.relevance import bearing, query_terms
from live_memory.text.terms import terms


@dataclass(slots=True)
class InMemoryNotes:
    """The Notes port over dictionaries, which a keeper of all notes may share: scope and id → note, and which of the files
    that it rests on have changed."""

    kept: dict[tuple[str, str], Note] = field(default_factory=dict)
    changed: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def add(self, root: str, facts: Iterable[Fact]) -> None:
        for fact in facts:
            note = fact_as_note(root, fact)
            known = self.kept.get((root, fact.id), note)
            now_s = fact.verified_at_s
            self.kept[root, fact.id] = replace(known, sources=note.sources, verified_at_s=now_s, updated_at_s=now_s)
            self.changed[root, fact.id] = fact.changed

    def facts(self, root: str) -> tuple[Fact, ...]:
        return tuple(self._fact(note) for note in self.kept.values() if (note.scope, note.kind) == (root, "fact"))

    def search(self, root: str, question: str, limit: int) -> tuple[Fact, ...]:
        wanted = query_terms(question)
        shares = {fact.id: len({*wanted}.intersection(terms(fact.text))) for fact in self.facts(root)}
        ranked = sorted(self.facts(root), key=lambda fact: -shares[fact.id])
        return bearing(wanted, (fact for fact in ranked if shares[fact.id]))[:limit]

    def count_use(self, root: str, facts: Iterable[Fact]) -> None:
        for key in {(root, fact.id) for fact in facts} & self.kept.keys():
            self.kept[key] = replace(self.kept[key], use_count=self.kept[key].use_count + 1)

    def stale(self, root: str) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts(root) if fact.is_stale)

    def demote(self, root: str, path: str, sha256_now: str | None) -> tuple[Fact, ...]:
        demoted = []
        for fact in self.facts(root):
            if path in fact.sources:
                is_changed = fact.sources[path] != sha256_now
                self.changed[root, fact.id] = fact.changed | {path} if is_changed else fact.changed - {path}
                if is_changed and not fact.is_stale:
                    demoted.append(self._fact(self.kept[root, fact.id]))
        return tuple(demoted)

    def rest_anew(self, note: Note, before: Note | None) -> None:
        """Where it rests on another version of a file than before, that one has not changed yet."""
        held = before.sources if before is not None else {}
        same = {path for path, sha256 in note.sources.items() if held.get(path) == sha256}
        self.changed[note.scope, note.id] = self.changed.get((note.scope, note.id), frozenset()) & same

    def forget(self, root: str) -> None:
        for key in [(root, fact.id) for fact in self.facts(root)]:
            del self.kept[key]

    def _fact(self, note: Note) -> Fact:
        changed = self.changed.get((note.scope, note.id), frozenset()) & note.sources.keys()
        return Fact(note.id, note.body, note.sources, changed, note.created_at_s, note.verified_at_s, note.use_count)
