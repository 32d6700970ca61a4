"""What notes cost a session in tokens, on a store of 40 notes and one of 1,000: all of them, the table of contents, the table and
three notes, one note, one scope query. The notes are made here, in the sizes that agd-memory's README measured on a real memory of 37
entries; its figures are named as it gives them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from bench.table import Row

from live_memory.memory.reading import Wanted, read
from live_memory.memory.toc import toc
from live_memory.notes.note import GLOBAL, Kind, Note
from live_memory.notes.rendering import shown_as_data, whole_text
from live_memory.server.note_tools import NOTE_TOOLS
from live_memory.settings import Settings
from live_memory.store.in_memory_note_store import InMemoryNoteStore
from live_memory.store.note_store import Change, Sieve
from live_memory.text.tokens import estimate_tokens

SCOPES = ("git:example.com/shop", GLOBAL)
NOW_S = 1_800_000_000.0
SIZES = (40, 1000)
SEED = 5
MEAN_WORDS = 75  # a body of 4,743 tokens over 37 entries
TOPICS = 12  # notes that others cite
KINDS: tuple[Kind, ...] = ("decision", "root-cause", "preference", "project", "reference", "concept")
WORDS = (  # noqa: SIM905  # words, as in a text
    "cart total rounding invoice checkout session token retry queue worker timeout cache index migration schema tenant currency "
    "export report email template webhook signature payment refund stock price discount coupon address carrier label"
).split()
AGD_TOKENS = {
    "whole store": "4,743",
    "table of contents": "~750",
    "table and three notes": "~340 (the three)",
    "one note": "~64",
}
TARGETS = {"table of contents": 750, "one note": 250}  # tokens


def run() -> list[Row]:
    rows: list[Row] = []
    for size in SIZES:
        rows += rows_of(size)
    definitions = sum(estimate_tokens(f"{tool.name}{tool.description}{tool.schema}") for tool in NOTE_TOOLS)
    rows.append(Row("definitions of the four tools", f"{definitions} tokens", "", "≤ 900 tokens", definitions <= 900))
    return rows


def rows_of(size: int) -> list[Row]:
    """The table for a store of `size` notes; the baseline is the whole store in the prompt."""
    store = store_of(size)
    notes = store.most_used(SCOPES, Sieve(alive_at_s=NOW_S), size)
    whole = tokens_of(notes)
    table = toc(notes, size, Settings().toc_budget_tokens, NOW_S)
    table_tokens = estimate_tokens(table.text)
    typical = sorted(notes, key=lambda note: len(note.body))[size // 2 - 1 : size // 2 + 2]
    one = tokens_of(typical[:1])
    hub, _, _ = read(store, SCOPES, Wanted(("topic-3",), frozenset(("backlinks",))))
    figures = {
        "whole store": whole,
        "table of contents": table_tokens,
        "table and three notes": table_tokens + tokens_of(typical),
        "one note": one,
        f"one scope query ({len(hub)} notes)": tokens_of(hub),
    }
    return [
        Row(
            f"{size} notes: {what}",
            f"{tokens:,} tokens ({whole / tokens:.0f}x less)" if tokens != whole else f"{tokens:,} tokens",
            f"agd, 37 entries: {AGD_TOKENS[what]}"
            if size == SIZES[0] and what in AGD_TOKENS
            else f"{whole:,} (all of them)",
            f"≤ {TARGETS[what]}" if what in TARGETS else "",
            tokens <= TARGETS[what] if what in TARGETS else None,
        )
        for what, tokens in figures.items()
    ]


def tokens_of(notes: Sequence[Note]) -> int:
    """What the notes take in a tool's result."""
    return estimate_tokens(shown_as_data("\n\n".join(whole_text(note) for note in notes)))


def store_of(size: int) -> InMemoryNoteStore:
    """A store of notes that cite their topics, the same in every run."""
    chance, store = random.Random(SEED), InMemoryNoteStore()
    store.apply([Change("create", None, note_of(number, chance), NOW_S, "user") for number in range(size)])
    return store


def note_of(number: int, chance: random.Random) -> Note:
    topic = chance.randrange(TOPICS)
    title = " ".join(chance.sample(WORDS, 6)).capitalize()
    body = " ".join(chance.choices(WORDS, k=max(8, round(chance.gauss(MEAN_WORDS, MEAN_WORDS / 3)))))
    is_topic = number < TOPICS
    return Note(
        SCOPES[0],
        f"topic-{number}" if is_topic else f"{'-'.join(title.lower().split()[:4])}-{number}",
        KINDS[number % len(KINDS)],
        title,
        body,
        " ".join(chance.sample(WORDS, 5)),
        "open" if number % 9 == 0 else "",
        updated_at_s=NOW_S - number * 3600,
        use_count=chance.randrange(20),
        refs=() if is_topic else (f"topic-{topic}",),
    )
