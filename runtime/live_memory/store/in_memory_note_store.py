"""Notes that are forgotten with the process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from live_memory.notes.candidates import Candidate, Vocabulary
from live_memory.notes.note import Kind, Note, Status
from live_memory.store.in_memory_notes import InMemoryNotes
from live_memory.store.note_changes import key_of, later_expiry, places, settled
from live_memory.store.note_index import InMemoryNoteIndex, Wanted
from live_memory.store.note_store import EVERYTHING, Change, Key, Sieve, Tally


@dataclass(slots=True)
class InMemoryNoteStore:
    """The NoteStore port over dictionaries, which it shares with a keeper of facts."""

    _shared: InMemoryNotes = field(default_factory=InMemoryNotes)
    _log: list[Change] = field(default_factory=list)
    _trees: dict[str, str] = field(default_factory=dict)
    _last_number: int = 0

    def apply(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        kept, log = dict(self._shared.kept), list(self._log)
        try:
            return tuple([self._make(change) for change in changes])
        except BaseException:
            self._shared.kept, self._log = kept, log
            raise

    def get(self, keys: Iterable[Key]) -> tuple[Note, ...]:
        return tuple(note for key in keys if (note := self._shared.kept.get(key)) is not None)

    def notes(self, scopes: Sequence[str], sieve: Sieve = EVERYTHING) -> tuple[Note, ...]:
        passing = [note for note in self._shared.kept.values() if note.scope in scopes and _passes(note, sieve)]
        return tuple(sorted(passing, key=lambda note: note.updated_at_s, reverse=True))

    def page(self, scopes: Sequence[str], after: Key | None, limit: int) -> tuple[Note, ...]:
        keys = sorted(key for key in self._shared.kept if key[0] in scopes and (after is None or key > after))
        return tuple(self._shared.kept[key] for key in keys[:limit])

    def count(self, scopes: Sequence[str], sieve: Sieve = EVERYTHING) -> int:
        return len(self.notes(scopes, sieve))

    def most_used(self, scopes: Sequence[str], sieve: Sieve, limit: int) -> tuple[Note, ...]:
        def rank(note: Note) -> tuple[bool, int, float, str]:
            return (note.status != "open", -note.use_count, -max(note.used_at_s, note.updated_at_s), note.id)

        return tuple(sorted(self.notes(scopes, sieve), key=rank)[:limit])

    def tally(self, scopes: Sequence[str], now_s: float) -> tuple[Tally, ...]:
        groups: dict[tuple[Kind, Status, bool], list[int]] = {}
        for note in self.notes(scopes):
            size_bytes = len((note.title + note.description + note.body).encode("utf-8", "backslashreplace"))
            groups.setdefault((note.kind, note.status, note.is_expired(now_s)), []).append(size_bytes)
        return tuple(Tally(*group, len(sizes), sum(sizes)) for group, sizes in sorted(groups.items()))

    def candidates(
        self, scopes: Sequence[str], terms: Sequence[str], limit: int, sieve: Sieve = EVERYTHING
    ) -> tuple[Candidate, ...]:
        notes, index = self._indexed()
        passes = frozenset(number for number, note in enumerate(notes) if _passes(note, sieve))
        found = index.candidates(Wanted(scopes, terms, limit), passes)
        return tuple(Candidate(notes[one.number], one.counts, one.length_terms, one.pairs) for one in found)

    def vocabulary(self, scopes: Sequence[str], terms: Iterable[str], beginnings: Iterable[str] = ()) -> Vocabulary:
        return self._indexed()[1].vocabulary(scopes, terms, beginnings)

    def backlinks(self, scopes: Sequence[str], ids: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        named = {
            wanted: sorted({note.id for note in self.notes(scopes) if wanted in (*note.refs, *note.supersedes)})
            for wanted in ids
        }
        return {wanted: tuple(found) for wanted, found in named.items() if found}

    def touch(self, keys: Iterable[Key], at_s: float, expires_at_s: Mapping[Key, float | None]) -> None:
        for key in dict.fromkeys(keys):
            note = self._shared.kept.get(key)
            if note is None:
                continue
            expiry = later_expiry(note.expires_at_s, expires_at_s[key]) if key in expires_at_s else note.expires_at_s
            used_at_s = max(note.used_at_s, at_s)
            uses = note.use_count + 1
            self._shared.kept[key] = replace(note, use_count=uses, used_at_s=used_at_s, expires_at_s=expiry)

    def log(self, scopes: Sequence[str], limit: int, batch: str = "") -> tuple[Change, ...]:
        newest_first = (change for change in reversed(self._log) if change.key[0] in scopes)
        return tuple([change for change in newest_first if batch in ("", change.batch)][:limit])

    def batch(self, name: str, limit: int, before: int | None = None) -> tuple[Change, ...]:
        newest_first = (change for change in reversed(self._log) if change.batch == name != "")
        return tuple([change for change in newest_first if before is None or change.number < before][:limit])

    def changes(self, numbers: Iterable[int]) -> tuple[Change, ...]:
        wanted = frozenset(numbers)
        return tuple(change for change in self._log if change.number in wanted)

    def trim_log(self, before_s: float) -> int:
        kept = [change for change in self._log if change.at_s >= before_s]
        trimmed, self._log = len(self._log) - len(kept), kept
        return trimmed

    def know_tree(self, root: str, repo_id: str, at_s: float) -> str:
        before, self._trees[root] = self._trees.get(root, ""), repo_id
        return before

    def repo_of(self, root: str) -> str:
        return self._trees.get(root, "")

    def trees(self, repo_id: str) -> tuple[str, ...]:
        return tuple(sorted(root for root, known in self._trees.items() if known == repo_id))

    def scopes(self) -> Mapping[str, int]:
        named = sorted(note.scope for note in self._shared.kept.values() if note.kind != "fact")
        return {scope: named.count(scope) for scope in dict.fromkeys(named)}

    def _indexed(self) -> tuple[tuple[Note, ...], InMemoryNoteIndex]:
        notes, index = tuple(self._shared.kept.values()), InMemoryNoteIndex()
        for number, note in enumerate(notes):
            index.put(number, note)
        return notes, index

    def _make(self, change: Change) -> Change:
        source, *target = places(change)
        kept = self._shared.kept
        change = settled(change, kept.get(source), kept.get(target[0]) if target else None)
        if change.before is not None and (change.after is None or target):
            del kept[source]
        if change.after is not None:
            kept[key_of(change.after)] = change.after
            self._shared.rest_anew(change.after, change.before)
        self._last_number += 1
        made = replace(change, number=self._last_number)
        self._log.append(made)
        return made


def _passes(note: Note, sieve: Sieve) -> bool:
    folder = sieve.path.rstrip("/")
    return not (
        (sieve.kinds and note.kind not in sieve.kinds)
        or note.kind in sieve.but_kinds
        or (sieve.statuses and note.status not in sieve.statuses)
        or note.status in sieve.but_statuses
        or note.updated_at_s < sieve.since_s
        or (sieve.symbol and sieve.symbol not in note.symbols)
        or (folder and not any(path == folder or path.startswith(folder + "/") for path in note.sources))
        or (sieve.alive_at_s is not None and note.is_expired(sieve.alive_at_s))
    )
