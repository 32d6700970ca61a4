r"""The `.agd` format: one block a note, `@x-kind name="value" … [#id]`, its body between two lines `~~~`. Pure.

What agd has no attribute for stands in attributes of our own, which its readers pass over. It closes a body at the first
line `~~~` and knows no way around that, so a body that holds one is written with backslashes and marked `escaped=true`.
An attribute's value is one line; one that is not is written as JSON, in an attribute named `…-json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import cast

from live_memory.notes.codecs import agd_blocks, agd_prose
from live_memory.notes.codecs.agd_blocks import FENCE, Block
from live_memory.notes.codecs.agd_prose import Lore
from live_memory.notes.codecs.base import KINDS_OUTSIDE, Decoded, Omission, in_order, without_doubles, word_outside
from live_memory.notes.codecs.extras import extras, is_ours, with_extras
from live_memory.notes.note import Kind, Note, Status
from live_memory.notes.note_json import CHOICES

HEAD = "@meta format=agd version=1 [#meta]"
TITLE_CHARS = 120  # a longer description of a block is cut to this for a title
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PAPERWORK = frozenset({"meta", "!", "ref", "include"})  # blocks that say nothing about the world


def encode(notes: Iterable[Note]) -> str:
    """The document that holds `notes`."""
    taken = {"meta"}
    return "\n".join([HEAD, "", *(_block(note, taken) for note in in_order(notes))])


def decode(text: str, at_s: float) -> Decoded:
    """The notes of a document, ours or agd-memory's; of others the blocks that have something to say. `at_s` is when
    the life of notes begins that carry no expiry."""
    blocks = agd_blocks.split(text)
    known = frozenset(block.id for block in blocks if block.id)
    superseded = frozenset(old for block in blocks for old in _split(block.attributes.get("supersedes", "")))
    lore = Lore(known, superseded, at_s)
    notes: list[tuple[str, Note]] = []
    left_out: list[Omission] = []
    for block in blocks:
        reason = _unfit(block)
        if reason:
            left_out.append(Omission(block.where, reason))
        elif block.tag not in _PAPERWORK:
            notes.append((block.where, _note(block, lore)))
    return without_doubles(notes, left_out)


def _block(note: Note, taken: set[str]) -> str:
    """One block, with the blank line after it."""
    name = _name(note.id, taken)
    body = note.body
    named = {
        "id": note.id if name != note.id else "",
        "desc": note.description or note.title,
        "title": note.title if note.description or len(note.title) > TITLE_CHARS else "",
        "kind": note.kind if KINDS_OUTSIDE[word_outside(note)] != note.kind else "",
        "refs": _listed(note.refs),
        "supersedes": _listed(note.supersedes),
        "status": note.status,
        **extras(note),
    }
    if "\r" in body or FENCE in body.split("\n"):
        body, named["escaped"] = _escaped(body), "true"
    attributes = "".join(f" {_attribute(key, value)}" for key, value in named.items() if value)
    return f"@x-{word_outside(note)}{attributes} [#{name}]\n{FENCE}\n{body}\n{FENCE}\n"


def _note(block: Block, lore: Lore) -> Note:
    """The note of a block. The ids that its prose cites become refs, the marks of its description stamps and status, where
    it has none."""
    named = dict(block.attributes)
    body = _unescaped(block.body) if named.get("escaped") == "true" else block.body
    described = named.get("desc", "")
    shown = described if is_ours(named) else agd_prose.title(described, body, block.id, TITLE_CHARS)
    title = named.get("title") or shown
    status = named.get("status", "")
    note = Note(
        scope="",
        id=named.get("id") or block.id,
        kind=_kind(block.tag, named.get("kind", "")),
        title=title,
        body=body or described or title,
        description=described if "title" in named or described != title else "",
        status=cast(Status, status) if status in CHOICES["status"] else "",
        refs=_split(named.get("refs", "")),
        supersedes=_split(named.get("supersedes", "")),
    )
    read = with_extras(note, named, lore.now_s)
    return read if is_ours(named) else agd_prose.lifted(read, lore)


def _unfit(block: Block) -> str:
    """Why a block that somebody may expect among the notes is none; empty for what is one, and for what is no loss."""
    if block.tag in _PAPERWORK:
        return ""
    if not block.is_whole:
        return "its body never ends: the closing ~~~ is missing"
    if not block.tag.startswith("x-") and not block.has_body:
        return "a heading" if block.tag in ("h1", "h2", "h3", "h4") else f"a @{block.tag} without a body"
    if not block.id:
        return f"a @{block.tag} without an id"
    return ""


def _kind(tag: str, named: str) -> Kind:
    if named in CHOICES["kind"]:
        return cast(Kind, named)
    return KINDS_OUTSIDE.get(tag.removeprefix("x-"), "project")


def _name(note_id: str, taken: set[str]) -> str:
    """An identifier that the document does not have yet: the id, where it is one."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", note_id).strip("-") or "note"
    if not _IDENTIFIER.fullmatch(plain):
        plain = f"n-{plain}"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    taken.add(name)
    return name


def _attribute(name: str, value: str) -> str:
    if not value.isprintable():
        name, value = f"{name}-json", json.dumps(value)
    if _IDENTIFIER.fullmatch(value):
        return f"{name}={value}"
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name}="{quoted}"'


def _listed(ids: tuple[str, ...]) -> str:
    """Ids as agd-memory lists them; as JSON where one of them would not come back."""
    plain = ",".join(f"#{each}" for each in ids)
    return plain if _split(plain) == ids else json.dumps(list(ids))


def _split(listed: str) -> tuple[str, ...]:
    if listed.startswith("["):
        try:
            return tuple(map(str, json.loads(listed)))
        except (ValueError, RecursionError, TypeError):
            return ()
    return tuple(dict.fromkeys(each.lstrip("#") for each in re.split(r"[,\s]+", listed) if each.strip("#")))


def _escaped(body: str) -> str:
    lines = body.replace("\\", "\\\\").replace("\r", "\\r").split("\n")
    return "\n".join("\\" + line if line == FENCE else line for line in lines)


def _unescaped(body: str) -> str:
    return _ESCAPED.sub(lambda match: "\r" if match[1] == "r" else match[1], body)
