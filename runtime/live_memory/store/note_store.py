"""The port of the notes that people and Claude keep: by scope and id, with an index, edges and an audit log.

All calls are short and synchronous, and come from one thread at a time. They raise StoreError; no text is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from live_memory.notes.candidates import Candidate, Vocabulary
from live_memory.notes.note import Kind, Note, Status

Action: TypeAlias = Literal[
    "create", "update", "merge", "supersede", "dispute", "expire", "forget", "import", "move", "undo"
]
Key: TypeAlias = tuple[str, str]  # scope, id


@dataclass(frozen=True, slots=True)
class Sieve:
    """Which notes are meant; what is empty does not narrow. `since_s` compares `updated_at_s`; `path` is one of a note's
    sources, or a folder above it; `alive_at_s` leaves out what has expired by then."""

    kinds: Collection[Kind] = ()
    but_kinds: Collection[Kind] = ()
    statuses: Collection[Status] = ()
    but_statuses: Collection[Status] = ()
    since_s: float = 0.0
    symbol: str = ""
    path: str = ""
    alive_at_s: float | None = None


EVERYTHING = Sieve()


@dataclass(frozen=True, slots=True)
class Change:
    """One write: what a note was before (None: it was not) and is after (None: it is not any more). `batch` names the run
    that a change belongs to (a dream, an import), empty for a single one. `number` grows; 0 before it is kept."""

    action: Action
    before: Note | None
    after: Note | None
    at_s: float
    actor: str
    reason: str = ""
    batch: str = ""
    number: int = 0

    @property
    def key(self) -> Key:
        note = self.after or self.before
        assert note is not None
        return (note.scope, note.id)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many notes of a kind and a status there are, expired ones apart, and how many bytes their words take."""

    kind: Kind
    status: Status
    is_expired: bool
    count: int
    size_bytes: int


class NoteStore(Protocol):
    """Notes by scope. A write keeps the note, its edges, its index entry and its log entry, or nothing."""

    def apply(self, changes: Iterable[Change]) -> tuple[Change, ...]:
        """Make all `changes`, in one transaction; they come back with their numbers."""
        ...

    def get(self, keys: Iterable[Key]) -> tuple[Note, ...]:
        """The notes of `keys` that exist, in the order asked for."""
        ...

    def notes(self, scopes: Sequence[str], sieve: Sieve = EVERYTHING) -> tuple[Note, ...]:
        """All notes of `scopes` that pass, the newest update first."""
        ...

    def page(self, scopes: Sequence[str], after: Key | None, limit: int) -> tuple[Note, ...]:
        """The next notes of `scopes` after that key, by scope and id; from the first one on where it is None."""
        ...

    def count(self, scopes: Sequence[str], sieve: Sieve = EVERYTHING) -> int: ...

    def most_used(self, scopes: Sequence[str], sieve: Sieve, limit: int) -> tuple[Note, ...]:
        """The notes of `scopes` that pass: open ones first, then the most used, then the newest."""
        ...

    def tally(self, scopes: Sequence[str], now_s: float) -> tuple[Tally, ...]:
        """How the notes of `scopes` fall into kinds and statuses, in the order of their names."""
        ...

    def candidates(
        self, scopes: Sequence[str], terms: Sequence[str], limit: int, sieve: Sieve = EVERYTHING
    ) -> tuple[Candidate, ...]:
        """The notes of `scopes` that pass and hold some of `terms`, the best by a rough ranking first."""
        ...

    def vocabulary(self, scopes: Sequence[str], terms: Iterable[str], beginnings: Iterable[str] = ()) -> Vocabulary:
        """What the notes of `scopes` say about `terms`, and which of their terms begin with `beginnings`."""
        ...

    def backlinks(self, scopes: Sequence[str], ids: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Id → the ids of the notes in `scopes` that name it in `refs` or `supersedes`, sorted."""
        ...

    def touch(self, keys: Iterable[Key], at_s: float, expires_at_s: Mapping[Key, float | None]) -> None:
        """These notes were of use: one more use, and a later expiry where one is named. No log entry."""
        ...

    def log(self, scopes: Sequence[str], limit: int, batch: str = "") -> tuple[Change, ...]:
        """The newest changes first."""
        ...

    def batch(self, name: str, limit: int, before: int | None = None) -> tuple[Change, ...]:
        """The changes of a batch, in whatever scopes it wrote, the newest first; those of a lower number than `before`."""
        ...

    def changes(self, numbers: Iterable[int]) -> tuple[Change, ...]:
        """The changes of these numbers that are kept."""
        ...

    def trim_log(self, before_s: float) -> int:
        """Forget the changes older than that; how many."""
        ...

    def know_tree(self, root: str, repo_id: str, at_s: float) -> str:
        """Note that the tree at `root` belongs to `repo_id`; the id that it belonged to before, empty where it is new."""
        ...

    def repo_of(self, root: str) -> str:
        """The id that the tree at `root` belonged to when it was noted last; empty where it is new."""
        ...

    def trees(self, repo_id: str) -> tuple[str, ...]:
        """The roots known to belong to `repo_id`: the scopes of its facts."""
        ...

    def scopes(self) -> Mapping[str, int]:
        """Every scope that holds notes other than facts → how many."""
        ...
