"""A note that comes from outside, as it may be kept: without secrets, in words and sizes that the store stands, and with
stamps that have come to pass. What is a proper note of ours already stays as it is, to the byte. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from live_memory.errors import QuestionError
from live_memory.notes.acceptance import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from live_memory.notes.lifecycle import DAY_S, expiry
from live_memory.notes.note import Note
from live_memory.notes.slugs import is_id
from live_memory.text.secrets import redact
from live_memory.text.surrogates import whole_characters

MAX_EDGES = 256
MAX_SOURCES = 256
MAX_SYMBOLS = 256
MAX_NAME_CHARS = 1024  # of a path, a hash or a symbol
MAX_USES = 1_000_000_000
_LATEST_S = 253_402_300_800.0


@dataclass(frozen=True, slots=True)
class Entry:
    """Where notes arrive: `scopes` gives the scope that a word of theirs stands for here, none where the word is none."""

    scopes: Mapping[str, str]
    max_bytes: int
    now_s: float


def arrived(note: Note, entry: Entry) -> Note:
    """`note` as it may be kept, its stamps of 0 still open. QuestionError (`bad-note`) where it cannot be."""
    if not is_id(note.id):
        raise _refusal(f"{note.id[:80]!r} is no id")
    if redact(note.id) != note.id:
        raise _refusal("its id looks like a secret")
    scope = entry.scopes.get(note.scope, note.scope)
    if not scope.strip() or len(scope) > MAX_NAME_CHARS or redact(scope) != scope:
        raise _refusal("it says not to which repository it belongs")
    title, description, body = _line(note.title), _line(note.description), _text(note.body)
    if not body.strip() or not (title or note.kind == "fact"):
        raise _refusal(f"it has no {'body' if title else 'title'}")
    # What is too long for a line is kept in the body.
    if len(title) > MAX_TITLE_CHARS:
        title, body = title[: MAX_TITLE_CHARS - 1] + "…", f"{title}\n\n{body}"
    if len(description) > MAX_DESCRIPTION_CHARS:
        description, body = description[: MAX_DESCRIPTION_CHARS - 1] + "…", f"{description}\n\n{body}"
    size_bytes = sum(len(text.encode()) for text in (title, description, body))
    if size_bytes > entry.max_bytes:
        raise _refusal(f"it takes {size_bytes:,} bytes and may take {entry.max_bytes:,} (note_max_bytes)")
    return _bounded(replace(note, scope=scope, title=title, description=description, body=body), entry.now_s)


def stamped(note: Note, now_s: float) -> Note:
    """`note` with what is left open of when it was made."""
    created_s = note.created_at_s or note.updated_at_s or now_s
    updated_s = note.updated_at_s or created_s
    is_ours = note.origin != "import" and (note.created_at_s or note.updated_at_s)
    verified_s = note.verified_at_s if is_ours else note.verified_at_s or updated_s
    return replace(note, created_at_s=created_s, updated_at_s=updated_s, verified_at_s=verified_s)


def says_the_same(one: Note, other: Note) -> bool:
    """Whether nothing would change but counts and stamps."""
    return _said(one) == _said(other)


def _said(note: Note) -> Note:
    bare = replace(note, created_at_s=0.0, updated_at_s=0.0, verified_at_s=0.0, used_at_s=0.0, use_count=0)
    return replace(bare, expires_at_s=None, origin="import", sources=dict(note.sources))


def _bounded(note: Note, now_s: float) -> Note:
    """Numbers and lists within what makes sense. A stamp of tomorrow would win over every change to come."""
    sources = {_text(path)[:MAX_NAME_CHARS]: _text(held)[:MAX_NAME_CHARS] for path, held in note.sources.items()}
    expires_s = note.expires_at_s
    if expires_s is not None and not 0 < expires_s < _LATEST_S:
        expires_s = expiry(note.priority, now_s)
    return replace(
        note,
        created_at_s=_past(note.created_at_s, now_s),
        updated_at_s=_past(note.updated_at_s, now_s),
        verified_at_s=_past(note.verified_at_s, now_s),
        used_at_s=_past(note.used_at_s, now_s),
        use_count=min(max(0, note.use_count), MAX_USES),
        expires_at_s=expires_s,
        sources=dict(list(sources.items())[:MAX_SOURCES]),
        symbols=tuple(dict.fromkeys(_text(each)[:MAX_NAME_CHARS] for each in note.symbols))[:MAX_SYMBOLS],
        refs=_edges(note.id, note.refs),
        supersedes=_edges(note.id, note.supersedes),
    )


def _past(at_s: float, now_s: float) -> float:
    """An instant until now, a clock's error aside."""
    if not 0 <= at_s < _LATEST_S:
        return 0.0
    return float(at_s) if at_s <= now_s + DAY_S else now_s


def _edges(own: str, ids: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in ids if each != own and is_id(each) and redact(each) == each))[
        :MAX_EDGES
    ]


def _line(text: str) -> str:
    return " ".join(_text(text).split())


def _text(text: str) -> str:
    return redact(whole_characters(text).replace("\0", "\ufffd"))


def _refusal(sentence: str) -> QuestionError:
    return QuestionError("bad-note", f"{sentence}.")
