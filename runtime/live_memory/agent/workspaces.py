"""The workspaces that are in memory: a bounded number, for the store has them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from live_memory.agent.equipment import Equipment
from live_memory.agent.workspace import Workspace
from live_memory.settings import Settings
from live_memory.store.base import Store

MAX_LOADED = 32


class Workspaces(Mapping[Path, Workspace]):
    """By root, those that are loaded."""

    def __init__(self, store: Store, equipment: Equipment, settings: Callable[[], Settings]) -> None:
        self._store = store
        self._equipment = equipment
        self._settings = settings
        self._loaded: dict[Path, Workspace] = {}

    def __getitem__(self, root: Path) -> Workspace:
        return self._loaded[root]

    def __iter__(self) -> Iterator[Path]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)

    def of(self, root: Path) -> Workspace:
        """The workspace of `root`, loaded; the idle one used longest ago makes room for it."""
        workspace = self._loaded.get(root)
        if workspace is None:
            if len(self._loaded) >= MAX_LOADED:
                idle = [each for each in self._loaded.values() if each.is_idle]
                if idle:
                    del self._loaded[min(idle, key=lambda each: each.used_at_s).root]
            workspace = self._loaded[root] = self._made(root)
        return workspace

    def sight_of(self, root: Path) -> Workspace:
        """The workspace of `root`, to look at: it is not loaded for that."""
        return self._loaded.get(root) or self._made(root)

    def _made(self, root: Path) -> Workspace:
        return Workspace(root, self._store, self._equipment, self._settings())
