"""The port of the queue of transcripts: which sessions were told of, how much of each is distilled, and who is at it.

All calls are short and synchronous, and come from one thread at a time. They raise StoreError. Several processes may share
a queue: who works on a transcript holds a claim on it, and nothing of what it did counts once the claim is another's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Sighting:
    """What is told of a session: how large its transcript is by now, and whether the session is over."""

    session_id: str
    path: str
    root: str
    repo_id: str
    size_bytes: int
    is_ended: bool
    at_s: float


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the notes that were proposed."""

    created: int = 0
    merged: int = 0
    disputed: int = 0
    refused: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.created + other.created,
            self.merged + other.merged,
            self.disputed + other.disputed,
            self.refused + other.refused,
        )


NOTHING = Tally()


@dataclass(frozen=True, slots=True)
class QueuedTranscript:
    """A transcript, and how far it is distilled: up to `offset_bytes`, where `mark` knows the place again. `judged_bytes`
    is how large the file was when all of it that was worth it had been distilled; -1 never yet. `harvest` is what a model
    made of the part that comes next, not all saved yet; what the
    user asked to have remembered is saved up to `requested_bytes`; `account` what the session did so far. `why` says what it waits for."""

    session_id: str
    path: str
    root: str
    repo_id: str
    size_bytes: int
    is_ended: bool
    first_at_s: float
    seen_at_s: float
    offset_bytes: int = 0
    mark: str = ""
    requested_bytes: int = 0
    judged_bytes: int = -1
    harvest: str = ""
    account: str = ""
    tries: int = 0
    next_try_at_s: float = 0.0
    why: str = ""
    owner: str = ""
    claimed_at_s: float = 0.0
    done_at_s: float = 0.0
    tally: Tally = field(default=NOTHING)

    @property
    def is_waiting(self) -> bool:
        """Whether there is something in it that nobody has judged."""
        return self.size_bytes > self.judged_bytes


@dataclass(frozen=True, slots=True)
class Due:
    """Whose turn it is at `now_s`: a session that is over, or was not heard of for `idle_s`; nobody's, or held by a claim
    that was not renewed for `stale_s`."""

    now_s: float
    idle_s: float
    stale_s: float


@dataclass(frozen=True, slots=True)
class Step:
    """One part distilled and saved: the file is done up to `offset_bytes`."""

    offset_bytes: int
    mark: str
    account: str
    tally: Tally


@dataclass(frozen=True, slots=True)
class Rest:
    """Why a claim is given back, and until when: `judged_bytes` None where the work is not done."""

    now_s: float
    why: str = ""
    judged_bytes: int | None = None
    tries: int = 0
    next_try_at_s: float = 0.0


class TranscriptQueue(Protocol):
    """Transcripts by path."""

    def see(self, sighting: Sighting) -> None:
        """Keep what was told. A file that grew may be tried at once, whatever went wrong before."""
        ...

    def claim(self, owner: str, due: Due) -> QueuedTranscript | None:
        """The next transcript whose turn it is, claimed for `owner`; None when it is nobody's. Sessions that are over come
        first, the longest unheard of before the others."""
        ...

    def renew(self, path: str, owner: str, now_s: float) -> QueuedTranscript | None:
        """The transcript as it is now, the claim on it as of now; None where the claim is no longer `owner`'s."""
        ...

    def note_requests(self, path: str, owner: str, requested_bytes: int, tally: Tally) -> bool:
        """Note that what the user asked to have remembered is saved up to there; False where the claim is lost."""
        ...

    def keep_harvest(self, path: str, owner: str, harvest: str) -> bool:
        """Keep what a model made of the next part, before any of it is saved; False where the claim is lost."""
        ...

    def advance(self, path: str, owner: str, step: Step) -> bool:
        """Note that a part is done, its harvest with it; False where the claim is lost."""
        ...

    def release(self, path: str, owner: str, rest: Rest) -> bool:
        """Give the claim back; False where it was lost."""
        ...

    def sessions(self, limit: int, root: str = "") -> tuple[QueuedTranscript, ...]:
        """The transcripts last heard of, newest first; of one root where it is named."""
        ...

    def find(self, session_id: str) -> tuple[QueuedTranscript, ...]:
        """The transcripts whose session id begins so, newest first."""
        ...

    def unended(self, limit: int) -> tuple[QueuedTranscript, ...]:
        """The transcripts of sessions that were not told to be over, newest first."""
        ...

    def waiting(self) -> int:
        """How many transcripts hold something that nobody has judged."""
        ...

    def totals(self) -> tuple[Tally, float]:
        """What became of all proposals so far, and when a transcript was last done (0: never)."""
        ...

    def forget(self, before_s: float) -> int:
        """Drop the transcripts not heard of since then, whatever is left in them; how many."""
        ...
