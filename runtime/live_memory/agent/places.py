"""Which workspaces files belong to that somebody tells of: those of their own checkouts, wherever the session stands.
Blocking; run in a thread."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from live_memory.agent.ingest import FileNotice, News
from live_memory.agent.roots import canonical_root, holds_checkout
from live_memory.configuration import Configuration
from live_memory.errors import QuestionError
from live_memory.explore.worktrees import common_folder


@dataclass(slots=True)
class Places:
    """The roots of files that a session in `cwd` tells of. It remembers folders: for the life of one batch."""

    cwd: str
    configuration: Configuration
    _own: dict[str, Path | None] = field(default_factory=dict)

    def news(self, notices: Sequence[FileNotice]) -> dict[Path, dict[News, int]]:
        """What each root is told, each thing once, with the number of the notice that says it last. QuestionError where
        the session's folder is no workspace, and no path lies in one."""
        told: dict[Path, dict[News, int]] = {}
        session: Path | QuestionError
        try:
            session = self._root(self.cwd)
        except QuestionError as error:
            if not os.path.isabs(self.cwd):
                raise
            session = error
        for number, notice in enumerate(notices):
            for path in notice.paths:
                news = News(os.path.join(self.cwd, path), notice.event, notice.contents.get(path))
                for root in self._roots(news.path, session if isinstance(session, Path) else None):
                    told.setdefault(root, {})[news] = number
        if isinstance(session, QuestionError) and not told:
            raise session
        return told

    def _roots(self, path: str, session: Path | None) -> tuple[Path, ...]:
        """The workspace of the checkout that `path` lies in, and the session's: alone where there is no other, and beside
        it where the other is a part of it (a submodule, not one more worktree of the same repository)."""
        own = self._own_root(path) if self.configuration.settings.canonicalize_workspace else None
        if session is None:
            return () if own is None else (own,)
        if own is None or own == session:
            return (session,)
        is_part = own.is_relative_to(session) and not _is_same_repository(own, session)
        return (session, own) if is_part else (own,)

    def _own_root(self, path: str) -> Path | None:
        folder = os.path.dirname(path)
        try:
            if os.path.islink(path):
                folder = os.path.dirname(os.path.realpath(path))
            if folder not in self._own:
                self._own[folder] = self._checkout(folder)
            return self._own[folder]
        except (OSError, ValueError):
            return None

    def _checkout(self, folder: str) -> Path | None:
        while not os.path.isdir(folder) and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)  # a file may go with the folder it lay in
        try:
            root = self._root(folder)
        except QuestionError:
            return None
        return root if holds_checkout(root) else None

    def _root(self, folder: str) -> Path:
        return canonical_root(folder, self.configuration.home, self.configuration.settings)


def _is_same_repository(one: Path, other: Path) -> bool:
    return os.path.realpath(common_folder(one)) == os.path.realpath(common_folder(other))
