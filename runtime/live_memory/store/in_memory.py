"""A store that forgets everything with the process: for tests, and for trying things out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from live_memory.llm.base import Purpose
from live_memory.store.base import NO_HARVEST, Account, Answered, Harvest, SavedWindow, first_id, utc_day
from live_memory.store.dream_log import DreamLog
from live_memory.store.in_memory_dream_log import InMemoryDreamLog
from live_memory.store.in_memory_note_store import InMemoryNoteStore
from live_memory.store.in_memory_notes import InMemoryNotes
from live_memory.store.in_memory_transcript_queue import InMemoryTranscriptQueue
from live_memory.store.note_store import NoteStore
from live_memory.store.transcript_queue import TranscriptQueue
from live_memory.window.files import FileContext, Observation
from live_memory.window.window import Delta, Entry, Exchange, History, Window


@dataclass(slots=True)
class Shelf:
    """One root's rows."""

    tree: str = ""
    frozen: str = ""
    ledger: str = ""
    tree_at_s: float = 0.0
    first_entry_id: int = 0
    entries: list[Entry] = field(default_factory=list)
    files: dict[str, FileContext] = field(default_factory=dict)
    pending: dict[str, Observation] = field(default_factory=dict)
    carried: set[int] = field(default_factory=set)


@dataclass(slots=True)
class InMemoryStore:
    """The Store port over dictionaries."""

    notice: str = ""
    notes: InMemoryNotes = field(default_factory=InMemoryNotes)
    transcripts: TranscriptQueue = field(default_factory=InMemoryTranscriptQueue)
    dreams: DreamLog = field(default_factory=InMemoryDreamLog)
    _shelves: dict[str, Shelf] = field(default_factory=dict)
    _accounts: dict[tuple[str, str, Purpose], Account] = field(default_factory=dict)
    _last_id: int = 0
    _note_store: InMemoryNoteStore = field(init=False)

    def __post_init__(self) -> None:
        self._note_store = InMemoryNoteStore(self.notes)

    @property
    def note_store(self) -> NoteStore:
        return self._note_store

    def load(self, root: str) -> SavedWindow | None:
        shelf = self._shelves.get(root)
        if shelf is None:
            return None
        carried = [entry for entry in shelf.entries if entry.id >= shelf.first_entry_id]
        return SavedWindow(
            Window(
                shelf.tree,
                shelf.frozen,
                History.of(carried),
                dict(shelf.files),
                left_out=sum(isinstance(entry, Exchange) for entry in shelf.entries)
                - len(History.of(carried).exchanges),
                ledger=shelf.ledger,
                pending=dict(shelf.pending),
            ),
            shelf.tree_at_s,
        )

    def begin(self, root: str, window: Window, at_s: float) -> None:
        shelf = self._shelves.setdefault(root, Shelf())
        shelf.tree, shelf.frozen, shelf.ledger, shelf.tree_at_s = window.tree, window.frozen, window.ledger, at_s
        shelf.files.update(window.files)

    def refreeze(
        self, root: str, window: Window, tree_at_s: float | None = None, harvest: Harvest = NO_HARVEST
    ) -> None:
        self.notes.add(root, harvest.facts)
        shelf = self._shelves.setdefault(root, Shelf())
        shelf.carried.update(harvest.exchange_ids)
        shelf.tree, shelf.frozen, shelf.ledger = window.tree, window.frozen, window.ledger
        shelf.tree_at_s = shelf.tree_at_s if tree_at_s is None else tree_at_s
        shelf.first_entry_id = first_id(window, self._last_id)
        kept = {entry.id for entry in window.history.entries}
        shelf.entries = [entry for entry in shelf.entries if isinstance(entry, Exchange) or entry.id in kept]
        shelf.files, shelf.pending = dict(window.files), dict(window.pending)

    def owed(self, root: str, limit: int) -> tuple[Exchange, ...]:
        shelf = self._shelves.get(root, Shelf())
        left_out = (e for e in shelf.entries if isinstance(e, Exchange) and e.id < shelf.first_entry_id)
        return tuple(exchange for exchange in left_out if exchange.id not in shelf.carried)[:limit]

    def observe(self, root: str, seen: Mapping[str, Observation | None]) -> None:
        pending = self._shelves.setdefault(root, Shelf()).pending
        for path, each in seen.items():
            if each is None:
                pending.pop(path, None)
            else:
                pending[path] = each

    def forget_unasked(self, count: int) -> None:
        seen_at_s = {
            root: max((seen.at_s for seen in shelf.pending.values()), default=0.0)
            for root, shelf in self._shelves.items()
            if not (shelf.tree_at_s or shelf.entries or shelf.files)
        }
        for root in sorted(seen_at_s, key=lambda root: -seen_at_s[root])[count:]:
            del self._shelves[root]

    def append_deltas(
        self, root: str, deltas: Sequence[Delta], files: Iterable[FileContext], at_s: float
    ) -> tuple[Delta, ...]:
        shelf = self._shelves.setdefault(root, Shelf())
        saved = tuple(replace(delta, id=self._last_id + number) for number, delta in enumerate(deltas, 1))
        self._last_id += len(saved)
        shelf.entries.extend(saved)
        shelf.files.update((file.path, file) for file in files)
        shelf.pending.clear()
        return saved

    def record(self, root: str, answered: Answered) -> Exchange | None:
        self.charge(root, "question", answered.account, answered.at_s)
        if answered.exchange is None:
            return None
        self._last_id += 1
        saved = replace(answered.exchange, id=self._last_id)
        shelf = self._shelves.setdefault(root, Shelf())
        shelf.entries.append(saved)
        shelf.files.update(Window("", files=shelf.files).with_read(answered.files).files)
        return saved

    def charge(self, root: str, purpose: Purpose, account: Account, at_s: float) -> None:
        key = (root, utc_day(at_s), purpose)
        self._accounts[key] = self._accounts.get(key, Account()) + account

    def clear(self, root: str) -> None:
        self._shelves.pop(root, None)
        self.notes.forget(root)

    def account(self, root: str = "", day: str = "", purpose: Purpose | Literal[""] = "") -> Account:
        wanted = (root, day, purpose)
        rows = (a for key, a in self._accounts.items() if all(w in ("", k) for w, k in zip(wanted, key, strict=True)))
        return sum(rows, Account())

    def size_bytes(self) -> int:
        return 0

    def close(self) -> None:
        self._shelves.clear()
