"""Notes that are forgotten with the process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from live_memory.notes.note import Fact
from live_memory.notes.relevance import bearing, query_terms
from live_memory.text.terms import terms


@dataclass(slots=True)
class InMemoryNotes:
    """The Notes port over dictionaries."""

    _facts: dict[str, dict[str, Fact]] = field(default_factory=dict)

    def add(self, root: str, facts: Iterable[Fact]) -> None:
        kept = self._facts.setdefault(root, {})
        for fact in facts:
            known = kept.get(fact.id, fact)
            kept[fact.id] = replace(fact, created_at_s=known.created_at_s, use_count=known.use_count)

    def facts(self, root: str) -> tuple[Fact, ...]:
        return tuple(self._facts.get(root, {}).values())

    def search(self, root: str, question: str, limit: int) -> tuple[Fact, ...]:
        wanted = query_terms(question)
        shares = {fact.id: len({*wanted}.intersection(terms(fact.text))) for fact in self.facts(root)}
        ranked = sorted(self.facts(root), key=lambda fact: -shares[fact.id])
        return bearing(wanted, (fact for fact in ranked if shares[fact.id]))[:limit]

    def count_use(self, root: str, facts: Iterable[Fact]) -> None:
        kept = self._facts.get(root, {})
        for fact_id in {fact.id for fact in facts} & set(kept):
            kept[fact_id] = replace(kept[fact_id], use_count=kept[fact_id].use_count + 1)

    def stale(self, root: str) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts(root) if fact.is_stale)

    def demote(self, root: str, path: str, sha256_now: str | None) -> tuple[Fact, ...]:
        demoted = []
        for fact in self.facts(root):
            if path in fact.sources:
                is_changed = fact.sources[path] != sha256_now
                changed = fact.changed | {path} if is_changed else fact.changed - {path}
                self._facts[root][fact.id] = replace(fact, changed=changed)
                if is_changed and not fact.is_stale:
                    demoted.append(self._facts[root][fact.id])
        return tuple(demoted)

    def forget(self, root: str) -> None:
        self._facts.pop(root, None)
