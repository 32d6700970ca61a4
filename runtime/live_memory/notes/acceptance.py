"""What of a draft is kept: without secrets and without what we put into the conversation ourselves; refused with a sentence
where it is no note. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

from live_memory.errors import QuestionError
from live_memory.notes.draft import HERE, Draft
from live_memory.notes.lifecycle import KINDS_BY_SOURCE
from live_memory.notes.note import GLOBAL, Kind
from live_memory.notes.note_json import CHOICES
from live_memory.notes.slugs import MAX_ID_CHARS, is_id
from live_memory.notes.writing import MAX_SYMBOL_CHARS
from live_memory.text.secrets import Cleaned, cleaned, redact
from live_memory.text.surrogates import whole_characters

MAX_TITLE_CHARS = 300
MAX_DESCRIPTION_CHARS = 1000
# What was recalled or answered by us; cut off where it is not closed.
_OURS = re.compile(r"<(live-memory[\w-]*)(?:\s[^<>]*)?>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_OUR_TRAILER = re.compile(r"^(?:---\n)?\[live-memory\] model=.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A draft whose words may be kept, with what was done to it."""

    draft: Draft
    remarks: tuple[str, ...] = ()


def accepted(draft: Draft, max_bytes: int) -> Accepted:
    """The draft as it is kept. QuestionError (`bad-note`) for a kind, a status, a priority, an id or a scope that there is
    none of, for words that are left out, and for more than `max_bytes` of them."""
    draft = _named(draft)
    texts, secrets = [], 0
    for text in (" ".join(draft.title.split()), " ".join(draft.description.split()), draft.body):
        own, count = _kept_words(text)
        texts.append(own)
        secrets += count
    title, description, body = texts
    _check_words(draft, title, description, body)
    _check_size(title, description, body, max_bytes)
    symbols = tuple(each for each in draft.symbols if len(each) <= MAX_SYMBOL_CHARS and redact(each) == each)
    remarks = (f"{secrets} secret{'s were' if secrets > 1 else ' was'} taken out of it.",) if secrets else ()
    return Accepted(replace(draft, title=title, description=description, body=body, symbols=symbols), remarks)


def title_of(text: str) -> str:
    """The title that a note is kept under whose title is `text`."""
    return _kept_words(" ".join(text.split()))[0]


def _named(draft: Draft) -> Draft:
    kind, priority = KINDS_BY_SOURCE.get(draft.kind, (draft.kind, None))
    draft = replace(draft, kind=cast(Kind, kind), priority=draft.priority or priority or "")
    for name, value in (("kind", draft.kind), ("status", draft.status), ("priority", draft.priority)):
        if value and value not in CHOICES[name]:
            allowed = ", ".join(choice for choice in CHOICES[name] if choice)
            raise _refusal(f"{name} cannot be {value!r}: it is one of {allowed}")
    if draft.scope not in ("", HERE, GLOBAL):
        raise _refusal(f"scope cannot be {draft.scope!r}: leave it out, or say {HERE} or {GLOBAL}")
    note_id = "".join(_ids("id", [draft.id] if draft.id else []))
    return replace(draft, id=note_id, refs=_ids("refs", draft.refs), supersedes=_ids("supersedes", draft.supersedes))


def _ids(name: str, given: Iterable[str]) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(each.strip().removeprefix("#") for each in given))
    for each in named:
        if not is_id(each):
            raise _refusal(
                f"{name} names {each[:MAX_ID_CHARS]!r}, which is no id: an id is made of letters, digits, - and _, "
                f"{MAX_ID_CHARS} at most"
            )
        if redact(each) != each:
            raise _refusal(
                f"{name} names what looks like a secret ({redact(each)}): an id stands wherever a note is named"
            )
    return named


def own_words(text: str) -> Cleaned:
    """`text` without secrets and without what we put into the conversation."""
    return cleaned(_OUR_TRAILER.sub("", _OURS.sub("", text)))


def _kept_words(text: str) -> tuple[str, int]:
    kept = own_words(whole_characters(text).replace("\0", "\ufffd").replace("\r\n", "\n"))
    return kept.text.strip(), kept.count


def _check_words(draft: Draft, title: str, description: str, body: str) -> None:
    for name, given, kept in (("title", draft.title, title), ("body", draft.body, body)):
        if given.strip() and not kept:
            raise _refusal(
                f"The {name} holds nothing but what Live Memory showed before: say in your own words what to keep"
            )
        if not kept and not draft.id:
            raise _refusal(f"A note needs a {name}")
    if len(title) > MAX_TITLE_CHARS:
        raise _refusal(
            f"The title has {len(title)} characters: {MAX_TITLE_CHARS} at most, the rest belongs into the body"
        )
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise _refusal(f"The description has {len(description)} characters: {MAX_DESCRIPTION_CHARS} at most")


def _check_size(title: str, description: str, body: str, max_bytes: int) -> None:
    size_bytes = sum(len(text.encode()) for text in (title, description, body))
    if size_bytes > max_bytes:
        raise _refusal(
            f"The note takes {size_bytes:,} bytes and may take {max_bytes:,} (note_max_bytes): keep what matters, or save "
            "it in parts that name each other"
        )


def _refusal(sentence: str) -> QuestionError:
    return QuestionError("bad-note", f"{sentence}.")
