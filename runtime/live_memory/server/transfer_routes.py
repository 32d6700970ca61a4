"""The routes by which notes leave and come: always as JSON, always in parts; files are the client's affair (ADR-0027)."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Literal, cast

from live_memory.memory.transfer import Extent, Mode, Parcel
from live_memory.notes.note_json import to_json
from live_memory.server import bodies, fields
from live_memory.server.fields import Fields, bad_field
from live_memory.server.http import Request, Response, json_response
from live_memory.server.route import Route, Routes
from live_memory.server.state import ServerState
from live_memory.store.note_store import Key
from live_memory.text.secrets import redact

EXTENTS = ("all", "repo", "global", "everything")
MAX_NOTES = 1000
MAX_SOURCE_CHARS = 200
_BATCH = re.compile(r"import-[0-9a-f]{12}")


async def export(state: ServerState, request: Request) -> Response:
    """Some notes, and where the next ones begin (`after`, null after the last)."""
    given = bodies.json_object(request.body)
    extent = cast(Extent, fields.word(given, "scope", EXTENTS, "all"))
    page = await state.library.porter.export(bodies.cwd(given), extent, _key(given))
    return json_response({"notes": [to_json(note) for note in page.notes], "after": page.after})


async def take(state: ServerState, request: Request) -> Response:
    """Keep notes, unless newer ones are there; the `batch` of the answer goes with the parts that follow."""
    given = bodies.json_object(request.body)
    receipt = await state.library.porter.take(bodies.cwd(given), _parcel(given))
    return json_response(asdict(receipt))


async def merge(state: ServerState, request: Request) -> Response:
    """Bring the notes that one repository gathered under two identities together."""
    given = bodies.json_object(request.body)
    source = bodies.required_text(given, "from", "the repo id or folder whose notes are to move")
    target = bodies.required_text(given, "to", "the repo id or folder that they belong to")
    merged = await state.library.porter.merge(source, target, _mode(given))
    return json_response({"from": merged.source, "to": merged.target, **asdict(merged.union)})


def _parcel(given: Fields) -> Parcel:
    notes = given.get("notes")
    if not isinstance(notes, list) or not all(isinstance(note, dict) for note in notes):
        raise bad_field("notes must be a list of notes, each an object.")
    if len(notes) > MAX_NOTES:
        raise bad_field(f"notes may hold {MAX_NOTES} at most; send the rest with the batch of the answer.")
    batch = fields.text(given, "batch")
    if batch and not _BATCH.fullmatch(batch):
        raise bad_field("batch must be the one that the first part was answered with.")
    scope = cast(Literal["", "repo", "global"], fields.word(given, "scope", ("", "repo", "global"), ""))
    source = redact(" ".join(fields.text(given, "source").split()))[:MAX_SOURCE_CHARS]
    return Parcel(notes, batch, scope, source, _mode(given))


def _mode(given: Fields) -> Mode:
    return "dry-run" if fields.flag(given, "dry_run") else "apply"


def _key(given: Fields) -> Key | None:
    after = given.get("after")
    if after is None:
        return None
    if not (
        isinstance(after, list) and len(after) == len(("scope", "id")) and all(isinstance(each, str) for each in after)
    ):
        raise bad_field("after must be what the part before was answered with.")
    return (after[0], after[1])


TRANSFER_ROUTES: Routes = {
    ("POST", "/export"): Route(export, "desk"),
    ("POST", "/import"): Route(take, "desk"),
    ("POST", "/merge"): Route(merge, "desk"),
}
