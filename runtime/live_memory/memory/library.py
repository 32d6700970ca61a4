"""The library: the one entrance to the notes, for every server and every client. Names a place by its folder; owns nothing
but the parts it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from live_memory.agent.note_search import NoteSight
from live_memory.clock import Clock
from live_memory.memory import reading
from live_memory.memory.meaning import Meaning
from live_memory.memory.notebook import Notebook, Saved
from live_memory.memory.place import Place, Places
from live_memory.memory.porter import Porter
from live_memory.memory.reading import Reading, Wanted
from live_memory.memory.recall import Recall, Recalled
from live_memory.memory.search import Search, SearchQuery
from live_memory.memory.toc import FRESH_SESSION_S, Toc, toc
from live_memory.notes.draft import Draft
from live_memory.notes.note import Kind, Note, Status
from live_memory.settings import Settings
from live_memory.store.note_store import Change, NoteStore, Sieve, Tally

TOKENS_PER_LINE = 10  # of a table of contents, at least
FACTS: tuple[Kind, ...] = ("fact",)
SESSIONS: tuple[Kind, ...] = ("session",)
REPLACED: tuple[Status, ...] = ("superseded",)
QUESTION_NEARNESS = 0.3  # of notes in other words than the question's: nine of ten unrelated ones are further off
UNRELATED_STAGE = "recent"  # where nothing fits, search gives the newest notes
QUESTION_KINDS: tuple[Kind, ...] = ("decision", "root-cause", "preference", "project", "reference", "concept")


@dataclass(frozen=True, slots=True)
class Filter:
    """What a table of contents is narrowed to; what is empty does not narrow. `since_s` compares the last update."""

    kinds: tuple[Kind, ...] = ()
    statuses: tuple[Status, ...] = ()
    since_s: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionStart:
    """A session of Claude Code begins, or goes on after its context was cleared or compacted (`source`)."""

    session_id: str
    source: str


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A hit of search, with what became of the files it rests on."""

    note: Note
    score: float
    stage: str
    state: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is read directly: the store, the settings in force, the time, and the states of notes' files in a place."""

    store: NoteStore
    settings: Callable[[], Settings]
    clock: Clock
    states: Callable[[Sequence[Note], Place], Awaitable[Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class Library:
    """Notes by `cwd`, any folder of a workspace; QuestionError for one that is none. Owned by one event loop."""

    places: Places
    notebook: Notebook
    finder: Search
    reminder: Recall
    shelf: Shelf
    porter: Porter
    meaning: Meaning | None = None

    async def toc(self, cwd: str, narrowed: Filter = Filter()) -> Toc:
        """What a session should know of: the best notes that fit the budget, one line each."""
        place = await self.places.of(cwd)
        scopes = (*place.scopes, str(place.root)) if "fact" in narrowed.kinds else place.scopes
        now_s = self.shelf.clock.wall_s()
        sieve = _sieve(narrowed, now_s)
        store = self.shelf.store
        budget_tokens = self.shelf.settings().toc_budget_tokens
        limit = 1 + budget_tokens // TOKENS_PER_LINE
        best = store.most_used(scopes, sieve, limit)
        if len(best) < limit:
            return toc(best, len(best), budget_tokens, now_s)
        sessions = _recent_sessions(sieve, now_s)
        newest = store.notes(scopes, sessions)[:1] if sessions else ()
        count = store.count(scopes, sieve)
        rest = [note for note in best if note not in newest]
        return toc((*newest, *rest), count, budget_tokens, now_s)

    async def recall(self, cwd: str, prompt: str, session_id: str) -> Recalled:
        """The notes that a prompt needs and this session has not been given yet."""
        return await self.reminder.recall(await self.places.of(cwd), prompt, session_id)

    def session_started(self, start: SessionStart) -> None:
        """What a session was given is gone where its context is."""
        self.reminder.session_started(start.session_id, start.source)

    async def search(self, cwd: str, query: SearchQuery) -> tuple[FoundNote, ...]:
        """The notes that `query` finds, best first."""
        return await self._found(await self.places.of(cwd), query)

    async def save(self, cwd: str, draft: Draft, actor: str) -> Saved:
        return await self.notebook.save(await self.places.of(cwd), draft, actor)

    async def get(self, cwd: str, wanted: Wanted) -> Reading:
        """Notes by id; a fact's is one of the tree itself."""
        place = await self.places.of(cwd)
        scopes = (*place.scopes, str(place.root))
        read = await reading.get(self.shelf.store, scopes, wanted, lambda notes: self.shelf.states(notes, place))
        keys = [(shown.note.scope, shown.note.id) for shown in read.shown if shown.note.id in wanted.ids]
        self.notebook.touch(keys)
        return read

    async def forget(self, cwd: str, ids: Sequence[str], actor: str) -> tuple[Note, ...]:
        """The notes that are gone now."""
        return await self.notebook.forget(await self.places.of(cwd), ids, actor)

    async def undo(self, cwd: str, number: int | None = None, batch: str = "") -> tuple[Change, ...]:
        """The changes that took back a change, or all of a batch; the newest of this place where neither is named."""
        return self.notebook.undo(await self.places.of(cwd), number, batch)

    async def log(self, cwd: str, limit: int) -> tuple[Change, ...]:
        return self.notebook.log(await self.places.of(cwd), limit)

    async def state_get(self, cwd: str, key: str) -> str | None:
        """The JSON text kept under `key`; None where there is none."""
        return self.notebook.state_get(await self.places.of(cwd), key)

    async def state_set(self, cwd: str, key: str, value_json: str, actor: str) -> Saved:
        return await self.notebook.state_set(await self.places.of(cwd), key, value_json, actor)

    async def bearing_on(self, root: Path, question: str, limit: int) -> tuple[NoteSight, ...]:
        """The notes other than facts that a question about the code may need, each with the state of its files."""
        query = SearchQuery(question, k=limit, kinds=QUESTION_KINDS, nearness=QUESTION_NEARNESS)
        found = await self._found(await self.places.of(str(root)), query)
        return tuple(NoteSight(each.note, each.state) for each in found if each.stage != UNRELATED_STAGE)

    async def figures(self, cwd: str) -> dict[str, object]:
        """What `/stats` tells of the notes of a place; of all places together where `cwd` is empty."""
        store, now_s = self.shelf.store, self.shelf.clock.wall_s()
        if not cwd:
            by_scope = store.scopes()
            return {"notes": sum(by_scope.values()), "scopes": len(by_scope)}
        place = await self.places.of(cwd)
        return tally_figures(store.tally((*place.scopes, str(place.root)), now_s))

    def meaning_figures(self) -> dict[str, object]:
        """What `/stats` tells of search by meaning."""
        return {"state": "off"} if self.meaning is None else self.meaning.figures()

    def start(self) -> None:
        """Begin what runs in the background; once is enough."""
        if self.meaning is not None:
            self.meaning.start()

    async def close(self) -> None:
        """End what runs in the background; the store is closed by who opened it."""
        await self.reminder.close()
        if self.meaning is not None:
            await self.meaning.close()

    async def _found(self, place: Place, query: SearchQuery) -> tuple[FoundNote, ...]:
        hits = await self.finder.find(place, query)
        states = await self.shelf.states([hit.note for hit in hits], place)
        return tuple(FoundNote(hit.note, hit.score, hit.stage, states.get(hit.note.id, "")) for hit in hits)


def tally_figures(tallies: Sequence[Tally]) -> dict[str, object]:
    """The figures of `/stats` about the notes of a place, its facts included."""
    by_kind: Counter[str] = Counter()
    for tally in tallies:
        by_kind[tally.kind] += tally.count
    return {
        "notes": by_kind.total() - by_kind["fact"],
        "kinds": dict(sorted(by_kind.items())),
        "open": _count(tallies, "open"),
        "disputed": _count(tallies, "disputed"),
        "superseded": _count(tallies, "superseded"),
        "expired": sum(tally.count for tally in tallies if tally.is_expired),
        "text_bytes": sum(tally.size_bytes for tally in tallies),
    }


def _count(tallies: Sequence[Tally], status: Status) -> int:
    return sum(tally.count for tally in tallies if tally.status == status)


def _recent_sessions(sieve: Sieve, now_s: float) -> Sieve | None:
    """What narrows to the sessions that a table may begin with; None where it is narrowed to something else."""
    if sieve.kinds and "session" not in sieve.kinds:
        return None
    return replace(sieve, kinds=SESSIONS, but_kinds=(), since_s=max(sieve.since_s, now_s - FRESH_SESSION_S))


def _sieve(narrowed: Filter, now_s: float) -> Sieve:
    return Sieve(
        kinds=narrowed.kinds,
        but_kinds=() if "fact" in narrowed.kinds else FACTS,
        statuses=narrowed.statuses,
        but_statuses=() if "superseded" in narrowed.statuses else REPLACED,
        since_s=narrowed.since_s,
        alive_at_s=now_s,
    )
