"""Claude Code's own memory folder: `MEMORY.md`, an index with one line a topic, and a file for each topic. Pure.

Its layout is Claude Code's own affair and has changed: topics with and without front matter, and an index that holds
knowledge itself, are all read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from live_memory.notes.codecs import front_matter, markdown
from live_memory.notes.codecs.base import HOME, Decoded, Files, Omission, in_order, without_doubles, word_outside
from live_memory.notes.codecs.extras import with_extras
from live_memory.notes.codecs.front_matter import Value
from live_memory.notes.note import Note
from live_memory.notes.slugs import free_id

INDEX = "MEMORY.md"
_ENTRY = re.compile(r"\s*(?:[-*]\s+)?\[([^\]\n]{1,300})\]\(([^()\s]{1,300}\.md)\)\s*(?:[-–—:]+\s*(.*))?$")
_SECTION = re.compile(r"#{1,6}[ \t]+(\S.{0,300})$")


def encode(notes: Iterable[Note]) -> dict[str, str]:
    """The index and the topic files of `notes`. The format has no room for stamps, states and sources: it is for handing
    over, not for keeping."""
    files: dict[str, str] = {}
    lines = ["# Memory", ""]
    for note in in_order(notes):
        path = f"{free_id(note.id, lambda name: f'{name}.md' in files or name == 'memory')}.md"
        described = " ".join((note.description or note.title).split())
        named: dict[str, Value] = {"name": note.id, "description": described}
        named["metadata"] = {"type": word_outside(note)}
        links = "".join(f"\n- [[{each}]]" for each in note.refs if f"[[{each}]]" not in note.body)
        body = f"{note.body}\n\nSee also:{links}" if links else note.body
        files[path] = front_matter.written(named, body)
        title = " ".join(note.title.split()).replace("[", "(").replace("]", ")")
        lines.append(f"- [{title}]({path}) — {described}")
    return {INDEX: "\n".join([*lines, ""]), **files}


def decode(files: Files, at_s: float) -> Decoded:
    """A note for each topic file, and one for each section of the index that says more than where a topic is."""
    index = next((text for path, text in files.items() if path.lower() == INDEX.lower()), "")
    entries = dict(_entries(index))
    topics = {path: text for path, text in files.items() if path.lower() != INDEX.lower()}
    notes = [
        (path, _topic(path, text, entries.get(path, ("", "")), at_s))
        for path, text in topics.items()
        if markdown.unfit(path, text) == ""
    ]
    taken = {note.id for _, note in notes}
    notes += _sections(index, taken, at_s)
    left_out = [Omission(path, reason) for path, text in topics.items() if (reason := markdown.unfit(path, text))]
    left_out += [Omission(path, "the index names it, but it is not there") for path in entries if path not in topics]
    return without_doubles(notes, left_out)


def _topic(path: str, text: str, entry: tuple[str, str], at_s: float) -> Note:
    """A topic file as a note, by the title and the hook that the index has for it."""
    page = front_matter.read(text)
    nested = page.named.get("metadata")
    named = {**page.named, **(nested if isinstance(nested, Mapping) else {})}
    named.pop("metadata", None)
    named.pop("origin", None)  # ours or not: this format holds less of a note than we do
    name = front_matter.text_of(named.pop("name", None))
    title, hook = entry
    named = {"id": name, "title": title or (name if " " in name else ""), "description": hook, **named}
    return markdown.note_of(path, replace(page, named=named), at_s)


def _entries(index: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for line in index.splitlines():
        match = _ENTRY.match(line)
        if match is not None:
            yield match[2].removeprefix("./"), (match[1].strip(), (match[3] or "").strip())


def _sections(index: str, taken: set[str], at_s: float) -> Iterator[tuple[str, Note]]:
    """The sections of the index as notes, each under its heading, less the lines that only point to a topic."""
    title, lines = "", list[str]()
    for line in [*front_matter.read(index).body.splitlines(), "# "]:
        heading = _SECTION.match(line)
        if heading is None and line != "# ":
            if _ENTRY.match(line) is None:
                lines.append(line)
            continue
        body = "\n".join(lines).strip()
        if body:
            name = free_id(title or "memory", taken.__contains__)
            taken.add(name)
            note = Note(HOME, name, "project", title or "Memory", body, refs=markdown.refs_in(body))
            yield f"{INDEX}, {title or 'its beginning'}", with_extras(note, {}, at_s)
        title, lines = heading[1].rstrip(" \t#") if heading else "", []
