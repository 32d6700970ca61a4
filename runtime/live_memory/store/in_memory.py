"""A store that forgets everything with the process: for tests, and for trying things out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from live_memory.store.base import Account, Answered, SavedWindow, utc_day
from live_memory.window.files import FileContext
from live_memory.window.window import Exchange, History, Window


@dataclass(slots=True)
class Shelf:
    """One root's rows."""

    tree: str = ""
    frozen: str = ""
    tree_at_s: float = 0.0
    first_entry_id: int = 0
    entries: list[Exchange] = field(default_factory=list)
    files: dict[str, FileContext] = field(default_factory=dict)


@dataclass(slots=True)
class InMemoryStore:
    """The Store port over dictionaries."""

    notice: str = ""
    _shelves: dict[str, Shelf] = field(default_factory=dict)
    _accounts: dict[tuple[str, str], Account] = field(default_factory=dict)
    _last_id: int = 0

    def load(self, root: str) -> SavedWindow | None:
        shelf = self._shelves.get(root)
        if shelf is None:
            return None
        whole = Window(shelf.tree, shelf.frozen, History.of(shelf.entries), dict(shelf.files))
        return SavedWindow(whole.without_before(shelf.first_entry_id), shelf.tree_at_s)

    def begin(self, root: str, window: Window, at_s: float) -> None:
        shelf = self._shelves.setdefault(root, Shelf())
        shelf.tree, shelf.frozen, shelf.tree_at_s = window.tree, window.frozen, at_s

    def record(self, root: str, answered: Answered) -> Exchange | None:
        key = (root, utc_day(answered.at_s))
        self._accounts[key] = self._accounts.get(key, Account()) + answered.account
        if answered.exchange is None:
            return None
        self._last_id += 1
        saved = replace(answered.exchange, id=self._last_id)
        shelf = self._shelves.setdefault(root, Shelf())
        shelf.entries.append(saved)
        shelf.files.update((file.path, file) for file in answered.files)
        return saved

    def leave_out_before(self, root: str, entry_id: int) -> None:
        shelf = self._shelves.get(root)
        if shelf is not None:
            shelf.first_entry_id = max(shelf.first_entry_id, entry_id)

    def clear(self, root: str) -> None:
        self._shelves.pop(root, None)

    def account(self, root: str = "", day: str = "") -> Account:
        rows = (a for (r, d), a in self._accounts.items() if root in ("", r) and day in ("", d))
        return sum(rows, Account())

    def size_bytes(self) -> int:
        return 0

    def close(self) -> None:
        self._shelves.clear()
