"""Notes as a folder of Markdown files with front matter, one a note, as people keep them in a vault or beside their code:
what a note refers to stands as wikilinks, which such programs follow. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import cast

from live_memory.notes.codecs import front_matter
from live_memory.notes.codecs.base import HOME, KINDS_OUTSIDE, Decoded, Files, Omission, in_order, without_doubles
from live_memory.notes.codecs.extras import extras, is_ours, with_extras
from live_memory.notes.codecs.front_matter import Page, Value, text_of, texts_of
from live_memory.notes.note import GLOBAL, Kind, Note, Status
from live_memory.notes.note_json import CHOICES
from live_memory.notes.slugs import slug

SUFFIX = ".md"
MAX_NAME_CHARS = 80
_LINK = re.compile(r"\[\[([^\[\]\n|#^]{1,200})(?:[#^|][^\[\]\n]{0,200})?\]\]")
_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.{0,300})$", re.MULTILINE)
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)  # Windows takes these for devices
_NESTED = ("sources", "symbols")
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {  # what other programs call it
    "title": ("name",),
    "description": ("summary", "desc", "excerpt"),
    "kind": ("type", "category"),
    "created": ("date", "created_at", "created-at"),
    "updated": ("modified", "updated_at", "last_updated", "updated-at", "lastmod"),
}
_STATES: Mapping[str, Status] = {"todo": "open", "wip": "open", "closed": "done", "resolved": "done", "draft": "open"}


def encode(notes: Iterable[Note]) -> dict[str, str]:
    """File name → text; the global notes, and those of other scopes, in a folder of their own."""
    files: dict[str, str] = {}
    taken: set[str] = set()
    for note in in_order(notes):
        files[_path(note, taken)] = front_matter.written(_named(note), note.body)
    return files


def decode(files: Files, at_s: float) -> Decoded:
    """The notes in `files`, ours or other people's: each file is one. `at_s` is when the life of notes begins that carry no
    expiry."""
    notes = [
        (path, note_of(path, front_matter.read(text), at_s)) for path, text in files.items() if not unfit(path, text)
    ]
    left_out = [Omission(path, reason) for path, text in files.items() if (reason := unfit(path, text))]
    return without_doubles(notes, left_out)


def refs_in(body: str) -> tuple[str, ...]:
    """The ids that wikilinks in `body` name."""
    return tuple(dict.fromkeys(name for link in _LINK.finditer(body) if (name := id_of(link[1]))))


def id_of(path: str) -> str:
    """The id of the note that a link or a file's path names, where the note itself names none."""
    name = path.replace("\\", "/").rpartition("/")[2].strip().removesuffix(SUFFIX)
    return slug(name) if name else ""


def _named(note: Note) -> dict[str, Value]:
    named: dict[str, Value] = {"id": note.id, "title": note.title, "description": note.description, "kind": note.kind}
    named |= {"status": note.status, "refs": tuple(f"[[{each}]]" for each in note.refs)}
    named["supersedes"] = tuple(f"[[{each}]]" for each in note.supersedes)
    more = extras(note)
    nested: dict[str, Value] = {}
    if note.sources:
        nested["sources"] = dict(note.sources)
    if note.symbols:
        nested["symbols"] = note.symbols
    return named | more | nested


def unfit(path: str, text: str) -> str:
    """Why a file is no note; empty for one that is."""
    if not path.lower().endswith(SUFFIX):
        return "no Markdown file"
    return "" if text.strip() else "an empty file"


def note_of(path: str, page: Page, at_s: float) -> Note:
    """The note that the page at `path` is."""
    named = {name: text_of(value) for name, value in page.named.items()}
    ours = is_ours(named)
    if not ours:
        named |= {name: _first(named, (name, *others)) for name, others in _OTHER_NAMES.items()}
    for name in _NESTED:
        named[name] = _as_json(page.named.get(name))
    body = page.body if ours else page.body.strip("\n")
    heading = _HEADING.search(body)
    title = (
        named.get("title", "")
        or (heading[1].rstrip(" \t#") if heading else "")
        or path.rpartition("/")[2].removesuffix(SUFFIX)
    )
    linked = () if ours else refs_in(body)
    refs = tuple(dict.fromkeys([*_linked(page.named.get("refs")), *linked]))
    name = named.get("id", "") or id_of(path)
    note = Note(
        scope=HOME,
        id=name,
        kind=_kind(named.get("kind", "")),
        title=title,
        body=body or named.get("description", "") or title,
        description=named.get("description", ""),
        status=_status(named.get("status", "")),
        refs=refs if ours else tuple(each for each in refs if each != name),
        supersedes=_linked(page.named.get("supersedes")),
    )
    return with_extras(note, named, at_s)


def _first(named: Mapping[str, str], names: Iterable[str]) -> str:
    return next((named[name] for name in names if named.get(name)), "")


def _as_json(value: Value | None) -> str:
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    return json.dumps(list(value)) if isinstance(value, tuple) else ""


def _linked(value: Value | None) -> tuple[str, ...]:
    """Ids as links, or bare."""
    return tuple(each.strip("[]#") for each in texts_of(value) if each)


def _kind(word: str) -> Kind:
    if word in CHOICES["kind"]:
        return cast(Kind, word)
    return KINDS_OUTSIDE.get(word, "project")


def _status(word: str) -> Status:
    return cast(Status, word) if word in CHOICES["status"] else _STATES.get(word.lower(), "")


def _path(note: Note, taken: set[str]) -> str:
    """A name that every file system takes, and that none takes for another's."""
    plain = re.sub(r"[^\w.-]+", "-", note.id, flags=re.ASCII).strip(".-")[:MAX_NAME_CHARS] or "note"
    if _RESERVED.fullmatch(plain.partition(".")[0]):
        plain = f"{plain}-note"
    folder = {HOME: "", GLOBAL: "global/"}.get(note.scope, "others/")
    path, number = f"{folder}{plain}{SUFFIX}", 2
    while path.lower() in taken:
        path, number = f"{folder}{plain}-{number}{SUFFIX}", number + 1
    taken.add(path.lower())
    return path
