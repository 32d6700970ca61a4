"""Topics: what three or more notes are about, by the words of their titles and the files they rest on. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from live_memory.notes.claims import meaning
from live_memory.notes.contradictions import GENERIC
from live_memory.notes.duplicates import TURNING
from live_memory.notes.note import Note
from live_memory.text.terms import TOKEN, stem, terms

MIN_MEMBERS = 3
MAX_MEMBERS = 24
MAX_MEMBERS_OF_A_WORD = 12  # one that more titles have is no topic
MIN_WORD_CHARS = 4
MAX_TITLE_TERMS = 10

Key = tuple[str, ...]  # the stems of one or two words, or `/` and a path


@dataclass(frozen=True)
class Labels:
    """What a note may be counted under."""

    note: Note

    @cached_property
    def words(self) -> tuple[str, ...]:
        said = frozenset(terms(f"{self.note.description}\n{self.note.body}"))
        found = meaning(self.note.title) - GENERIC - TURNING
        telling = (word for word in found if word.isalpha() and len(word) >= MIN_WORD_CHARS and word in said)
        return tuple(sorted(telling))[:MAX_TITLE_TERMS]

    def candidates(self) -> Iterator[Key]:
        yield from ((word,) for word in self.words)
        yield from combinations(self.words, 2)
        yield from (("/", path) for path in self.note.sources)

    def has(self, key: Key) -> bool:
        return key[1] in self.note.sources if key[0] == "/" else frozenset(key) <= frozenset(self.words)


def topics(notes: Mapping[str, Labels], most: int) -> tuple[tuple[Key, tuple[str, ...]], ...]:
    """Up to `most` topics of `notes` (by id), the largest first; no note belongs to two. Two words say more than one, and a
    file more than a word."""
    by_key: dict[Key, list[str]] = {}
    for note_id, labels in notes.items():
        for key in labels.candidates():
            by_key.setdefault(key, []).append(note_id)
    sizes = {key: len(ids) for key, ids in by_key.items() if MIN_MEMBERS <= len(ids) <= _most(key)}
    chosen: list[tuple[Key, tuple[str, ...]]] = []
    taken: set[str] = set()
    for key in sorted(sizes, key=lambda key: (-min(sizes[key], MAX_MEMBERS_OF_A_WORD), -len(key), key)):
        left = tuple(each for each in by_key[key] if each not in taken)
        if len(left) >= MIN_MEMBERS and len(chosen) < most:
            taken.update(left)
            chosen.append((key, left))
    return tuple(chosen)


def name_of(key: Key, notes: Iterable[Note]) -> str:
    """The key as the titles of its notes write it most."""
    if key[0] == "/":
        return key[1]
    return " ".join(_written(stemmed, notes) for stemmed in key)


def members(key: Key, notes: Mapping[str, Labels], but: Collection[str] = ()) -> tuple[str, ...]:
    """The ids of the notes that belong to a topic."""
    return tuple(note_id for note_id, labels in notes.items() if note_id not in but and labels.has(key))


def _most(key: Key) -> int:
    return MAX_MEMBERS_OF_A_WORD if len(key) == 1 else MAX_MEMBERS


def _written(stemmed: str, notes: Iterable[Note]) -> str:
    tokens = [match.group().lower() for note in notes for match in TOKEN.finditer(note.title)]
    same = [token for token in tokens if stem(token) == stemmed or token == stemmed]
    return max(same, key=lambda token: (same.count(token), token), default=stemmed)
