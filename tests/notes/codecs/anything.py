"""Notes of every kind, for the laws of the formats: ids that may be cited, and words of any shape."""

from __future__ import annotations

from hypothesis import strategies as st

from live_memory.notes.codecs.base import HOME
from live_memory.notes.note import GLOBAL, Note
from live_memory.notes.note_json import CHOICES

SPECIAL = [
    *(
        "~~~",
        "---",
        "...",
        "@x-project [#a]",
        "[#b]",
        '"',
        "\\",
        "\\~~~",
        "- a",
        "a: b",
        "# c",
        "[[d]]",
        "#e-f",
        "{",
        "]",
    ),
    *(
        "\r",
        "\r\n",
        "\t",
        "\u2028",
        "\x85",
        "\ufeff",
        "~",
        "null",
        "yes",
        "'",
        "\x7f",
        "",
        " ",
        "| x",
        "> y",
        "FATTO 2026-06-25",
    ),
]
characters = st.characters(codec="utf-8", exclude_characters="\0")
pieces = st.one_of(st.sampled_from(SPECIAL), st.text(characters, max_size=12))
texts = st.lists(pieces, max_size=5).flatmap(
    lambda parts: st.sampled_from(["\n", " ", ""]).map(lambda between: between.join(parts))
)
words = texts.filter(lambda text: bool(text.strip()))
ids = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,20}[A-Za-z0-9_])?", fullmatch=True).filter(
    lambda text: not text.isdigit()
)
edges = st.lists(ids, max_size=2, unique=True).map(tuple)
stamps = st.one_of(st.integers(1, 2_000_000_000).map(float), st.floats(1.0, 4e9))
notes = st.builds(
    Note,
    scope=st.sampled_from([HOME, GLOBAL, "git:example.com/a/b"]),
    id=ids,
    kind=st.sampled_from(CHOICES["kind"]),
    title=words,
    body=words,
    description=st.one_of(st.just(""), words),
    status=st.sampled_from(CHOICES["status"]),
    priority=st.sampled_from(CHOICES["priority"]),
    origin=st.sampled_from(CHOICES["origin"]),
    created_at_s=stamps,
    updated_at_s=stamps,
    verified_at_s=st.one_of(st.just(0.0), stamps),
    used_at_s=st.one_of(st.just(0.0), stamps),
    use_count=st.integers(0, 10_000),
    expires_at_s=st.one_of(st.none(), stamps),
    sources=st.dictionaries(words, st.just("ab12"), max_size=2),
    symbols=st.lists(words, max_size=2).map(tuple),
    refs=edges,
    supersedes=edges,
)
shelves = st.lists(notes, max_size=3, unique_by=lambda note: (note.scope, note.id))
