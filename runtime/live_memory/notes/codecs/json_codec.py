"""Notes as JSON, nothing lost: what is written, read and written again is the same bytes. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from live_memory.errors import QuestionError
from live_memory.notes.codecs.base import Decoded, Omission, in_order, without_doubles
from live_memory.notes.note import Note
from live_memory.notes.note_json import from_json, to_json

FORMAT = "live-memory-notes"
VERSION = 1


def encode(notes: Iterable[Note]) -> str:
    """One note a line, so that two exports can be compared."""
    lines = ",\n".join(line(note) for note in in_order(notes))
    return f'{{"format": "{FORMAT}", "version": {VERSION}, "notes": [\n{lines}\n]}}\n'


def line(note: Note) -> str:
    """One note as JSON, its sources in order."""
    fields = to_json(note)
    fields["sources"] = dict(sorted(note.sources.items()))
    return json.dumps(fields, ensure_ascii=False)


def decode(text: str) -> Decoded:
    """The notes in `text`: an export of ours, or a bare list of notes. QuestionError (`bad-file`) for what is neither."""
    try:
        read = json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise _refusal("is nested too deeply") from None
    except ValueError as error:
        raise _refusal(f"is not JSON ({error})") from None
    if isinstance(read, dict):
        if read.get("format") == FORMAT and read.get("version") != VERSION:
            raise _refusal("was written by a newer Live Memory: update the plugin")
        read = read.get("notes")
    if not isinstance(read, list):
        raise _refusal("holds no notes: it should be what `live-memory export` writes")
    notes: list[tuple[str, Note]] = []
    left_out: list[Omission] = []
    for number, fields in enumerate(read, 1):
        where = _where(fields, number)
        try:
            notes.append((where, from_json(fields if isinstance(fields, dict) else {})))
        except QuestionError as error:
            left_out.append(Omission(where, str(error).rstrip(".")))
    return without_doubles(notes, left_out)


def _where(fields: Any, number: int) -> str:
    name = fields.get("id") if isinstance(fields, dict) else None
    return f"#{name}" if isinstance(name, str) and name else f"note {number}"


def _refusal(what: str) -> QuestionError:
    return QuestionError("bad-file", f"The file {what}.")
