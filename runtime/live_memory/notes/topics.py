"""Topics: what three or more notes are about, by the words of their titles and the files they rest on. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
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


class Topics:
    """Counts notes under their labels, and chooses what is a topic. Each step is short, so that others can have a turn."""

    def __init__(self) -> None:
        self._labels: dict[str, Labels] = {}
        self._words: Counter[str] = Counter()
        self._by_key: dict[Key, list[str]] = {}

    def add(self, labels: Labels) -> None:
        self._labels[labels.note.id] = labels
        self._words.update(labels.words)

    def counted(self) -> Iterator[None]:
        """To be gone through once all notes are added."""
        for note_id, labels in self._labels.items():
            for key in labels.candidates():
                if key[0] == "/" or all(self._words[word] >= MIN_MEMBERS for word in key):
                    self._by_key.setdefault(key, []).append(note_id)
            yield

    def __len__(self) -> int:
        return len(self._labels)

    def note(self, note_id: str) -> Note:
        return self._labels[note_id].note

    def ordered(self, keys: Iterable[Key]) -> list[Key]:
        """The largest first. Two words say more than one, and a file more than a word."""
        return sorted(keys, key=lambda key: (-min(self._size(key), MAX_MEMBERS_OF_A_WORD), -len(key), key))

    def members(self, key: Key, but: Collection[str]) -> tuple[str, ...]:
        """The ids of the notes that belong to a topic."""
        return tuple(note_id for note_id in self._by_key.get(key, ()) if note_id not in but)

    def found(self) -> list[Key]:
        """The keys that may be topics, in order."""
        return self.ordered(key for key, ids in self._by_key.items() if MIN_MEMBERS <= len(ids) <= _most(key))

    def _size(self, key: Key) -> int:
        return len(self._by_key.get(key, ()))


def name_of(key: Key, notes: Iterable[Note]) -> str:
    """The key as the titles of its notes write it most."""
    if key[0] == "/":
        return key[1]
    return " ".join(_written(stemmed, notes) for stemmed in key)


def _most(key: Key) -> int:
    return MAX_MEMBERS_OF_A_WORD if len(key) == 1 else MAX_MEMBERS


def _written(stemmed: str, notes: Iterable[Note]) -> str:
    tokens = [match.group().lower() for note in notes for match in TOKEN.finditer(note.title)]
    same = [token for token in tokens if stem(token) == stemmed or token == stemmed]
    return max(same, key=lambda token: (same.count(token), token), default=stemmed)
