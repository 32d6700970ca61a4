"""Search over the notes: by id, by words, by relatives and beginnings of words, and at last the newest. Any text is a query."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from live_memory.clock import Clock
from live_memory.memory.finding import CANDIDATES, Finder
from live_memory.memory.place import Place
from live_memory.memory.semantic import Semantic
from live_memory.memory.uses import count_uses
from live_memory.notes.note import GLOBAL, Kind, Note, Status
from live_memory.notes.query import MAX_CHARS, Query, query_of
from live_memory.notes.ranking import Ranked
from live_memory.settings import Settings
from live_memory.store.note_store import Key, NoteStore, Sieve
from live_memory.text.surrogates import whole_characters
from live_memory.text.terms import terms

FACT_WEIGHT = 0.5
SUPERSEDED_WEIGHT = 0.5
MIN_RELATIVES = 2  # of a query of several words, where none matches exactly: one shared beginning is chance
MIN_BEGINNING_CHARS = 3
MAX_BEGINNINGS = 8
MAX_RECENT = 3  # where nothing was found; asked for with filters alone, as many as wished
PHRASE_CANDIDATES = 512
MAX_K = 100
SEMANTIC_WEIGHT = 0.3  # of a standard deviation beside one of words
SEMANTIC_WITHIN_S = 1.0
MIN_NEARNESS = 0.15  # of a note that shares no word with the text
_PHRASE = re.compile(r'"([^"]+)"|\u201c([^\u201d]+)\u201d')

Stage = Literal["id", "bm25", "semantic", "cognates", "prefix", "recent"]
Reach = Literal["all", "repo", "global"]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for: `text`, in which quoted phrases must stand as they are, and filters; what is empty does not narrow.
    A note that shares no word with the text must be as near to it in meaning as `nearness`."""

    text: str
    k: int = 10
    kinds: tuple[Kind, ...] = ()
    statuses: tuple[Status, ...] = ()
    since_s: float = 0.0
    scope: Reach = "all"
    symbol: str = ""
    path: str = ""
    nearness: float = MIN_NEARNESS


@dataclass(frozen=True, slots=True)
class Hit:
    """A note and the stage that found it; scores compare within a stage."""

    note: Note
    score: float
    stage: Stage


class Search:
    """Search over a store. `semantic` adds nearness in meaning to that of words."""

    def __init__(
        self, store: NoteStore, clock: Clock, settings: Callable[[], Settings], semantic: Semantic | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._semantic = semantic

    async def find(self, place: Place, wanted: SearchQuery) -> tuple[Hit, ...]:
        """At most `k` notes, best first; they are of use by that, and live longer."""
        text = whole_characters(wanted.text[:MAX_CHARS]).strip()
        wanted = replace(wanted, text=text, k=min(MAX_K, max(1, wanted.k)))
        scopes, sieve = _scopes(place, wanted), _sieve(wanted, self._clock.wall_s())
        named = self._named(scopes, sieve, text)
        found = await self._by_words(scopes, sieve, wanted) or self._by_beginnings(scopes, sieve, wanted)
        if not (named or found):
            found = self._recent(scopes, sieve, wanted)
        hits = tuple({_key(hit.note): hit for hit in (*found, *named)}.values())
        hits = (*named, *(hit for hit in hits if hit not in named))[: wanted.k]
        count_uses(self._store, [hit.note for hit in hits if hit.stage != "recent"], self._clock.wall_s())
        return hits

    def _named(self, scopes: Sequence[str], sieve: Sieve, text: str) -> tuple[Hit, ...]:
        """The note whose id the text is."""
        note_id = text.removeprefix("#").strip()
        if not note_id or len(note_id.split()) > 1:
            return ()
        notes = self._store.get((scope, note_id) for scope in scopes)
        meant = replace(sieve, symbol="", path="")  # an id says enough
        return tuple(Hit(note, 1.0, "id") for note in notes if _passes(note, meant))

    async def _by_words(self, scopes: Sequence[str], sieve: Sieve, wanted: SearchQuery) -> tuple[Hit, ...]:
        query = query_of(wanted.text)
        phrases = _phrases(wanted.text)
        if not query.terms:
            query = Query(
                tuple(dict.fromkeys(terms(wanted.text)))
            )  # nothing but words without meaning: they were meant
        limit = PHRASE_CANDIDATES if phrases else max(CANDIDATES, 2 * wanted.k)
        ranked = Finder(self._store).find(scopes, query, sieve, limit).ranked
        kept = [each for each in ranked if _is_evidence(each, query) and _says(each.note, phrases)]
        hits = [_weighted(Hit(each.note, each.score, "bm25" if each.exact else "cognates")) for each in kept]
        if wanted.text and not phrases:
            hits = list(await self._fused(scopes, sieve, wanted, hits))
        return tuple(_best_first(hits))

    def _by_beginnings(self, scopes: Sequence[str], sieve: Sieve, wanted: SearchQuery) -> tuple[Hit, ...]:
        """The notes with words that begin as those of the text do."""
        if _phrases(wanted.text):
            return ()
        beginnings = tuple(term for term in dict.fromkeys(terms(wanted.text)) if _is_beginning(term))[:MAX_BEGINNINGS]
        if not beginnings:
            return ()
        relatives = self._store.vocabulary(scopes, (), beginnings).relatives
        query = Query(tuple(dict.fromkeys(term for held in relatives.values() for term in held)))
        ranked = Finder(self._store, "exact").find(scopes, query, sieve).ranked if query.terms else ()
        return tuple(_best_first(_weighted(Hit(each.note, each.score, "prefix")) for each in ranked))

    def _recent(self, scopes: Sequence[str], sieve: Sieve, wanted: SearchQuery) -> tuple[Hit, ...]:
        if wanted.text and _phrases(wanted.text):
            return ()
        limit = min(wanted.k, MAX_RECENT) if wanted.text else wanted.k
        return tuple(Hit(note, 0.0, "recent") for note in self._store.most_used(scopes, sieve, limit))

    async def _fused(
        self, scopes: Sequence[str], sieve: Sieve, wanted: SearchQuery, hits: Sequence[Hit]
    ) -> Sequence[Hit]:
        """The hits and what is near in meaning, both in standard deviations: ranks fused otherwise were measured to hurt."""
        if self._semantic is None:
            return hits
        near = await self._semantic.near(wanted.text, scopes, [_key(hit.note) for hit in hits], SEMANTIC_WITHIN_S)
        if not near:
            return hits
        known = {_key(hit.note) for hit in hits}
        others = [key for key, nearness in near.items() if key not in known and nearness >= wanted.nearness]
        hits = [*hits, *(Hit(note, 0.0, "semantic") for note in self._store.get(others) if _passes(note, sieve))]
        if not hits:
            return hits
        by_words = _standardised([hit.score for hit in hits])
        by_meaning = _standardised([near.get(_key(hit.note), 0.0) for hit in hits])
        return [
            replace(hit, score=words + SEMANTIC_WEIGHT * meaning, stage="semantic")
            for hit, words, meaning in zip(hits, by_words, by_meaning, strict=True)
        ]


def _key(note: Note) -> Key:
    return (note.scope, note.id)


def _scopes(place: Place, wanted: SearchQuery) -> tuple[str, ...]:
    reached = {"all": place.scopes, "repo": (place.repo_id,), "global": (GLOBAL,)}[wanted.scope]
    with_facts = wanted.scope != "global" and (not wanted.kinds or "fact" in wanted.kinds)
    return (*reached, str(place.root)) if with_facts else reached


def _sieve(wanted: SearchQuery, now_s: float) -> Sieve:
    return Sieve(
        kinds=wanted.kinds,
        statuses=wanted.statuses,
        since_s=wanted.since_s,
        symbol=wanted.symbol,
        path=wanted.path,
        alive_at_s=now_s,
    )


def _passes(note: Note, sieve: Sieve) -> bool:
    """Whether a note that no index was asked for is one of those that are meant."""
    folder = sieve.path.rstrip("/")
    return not (
        (sieve.kinds and note.kind not in sieve.kinds)
        or (sieve.statuses and note.status not in sieve.statuses)
        or note.updated_at_s < sieve.since_s
        or (sieve.symbol and sieve.symbol not in note.symbols)
        or (folder and not any(path == folder or path.startswith(folder + "/") for path in note.sources))
        or (sieve.alive_at_s is not None and note.is_expired(sieve.alive_at_s))
    )


def _is_evidence(ranked: Ranked, query: Query) -> bool:
    return bool(ranked.exact) or len(ranked.related) >= min(MIN_RELATIVES, len(query.terms))


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """What stands between pairs of quotes, as terms."""
    said = (terms(match[1] or match[2]) for match in _PHRASE.finditer(text))
    return tuple(tuple(phrase) for phrase in said if phrase)


def _says(note: Note, phrases: Sequence[tuple[str, ...]]) -> bool:
    if not phrases:
        return True
    texts = [terms(text) for text in (note.title, note.description, note.body)]
    return all(any(_holds(text, phrase) for text in texts) for phrase in phrases)


def _holds(text: Sequence[str], phrase: tuple[str, ...]) -> bool:
    return any(tuple(text[i : i + len(phrase)]) == phrase for i in range(len(text) - len(phrase) + 1))


def _is_beginning(term: str) -> bool:
    return len(term) >= MIN_BEGINNING_CHARS or not term.isascii()


def _weighted(hit: Hit) -> Hit:
    weight = FACT_WEIGHT if hit.note.kind == "fact" else 1.0
    weight *= SUPERSEDED_WEIGHT if hit.note.status == "superseded" else 1.0
    return replace(hit, score=hit.score * weight)


def _best_first(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.score)


def _standardised(values: Sequence[float]) -> list[float]:
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)) or 1.0
    return [(value - mean) / deviation for value in values]
