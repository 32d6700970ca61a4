"""The routes of the notes: plain functions over the library, served by the whole server and by the degraded one alike."""

from __future__ import annotations

import json
from dataclasses import asdict

from live_memory.memory.library import SessionStart
from live_memory.memory.reading import ShownNote
from live_memory.notes import note_json
from live_memory.notes.rendering import LINE_CHARS, cut, gist
from live_memory.server import bodies, fields, note_bodies
from live_memory.server.http import Request, Response, json_response
from live_memory.server.route import Route, Routes
from live_memory.server.state import ServerState
from live_memory.store.note_store import Change
from live_memory.text.secrets import redact

MAX_READ_CHARS = 4_000_000  # for programs; a model's tool shows less


async def toc(state: ServerState, request: Request) -> Response:
    """The table of contents that a session begins with, or one that is narrowed."""
    query = request.query
    start = SessionStart(fields.text(query, "session_id"), fields.text(query, "source"))
    if start.session_id:
        state.library.session_started(start)
    narrowed = note_bodies.filter_of(query, state.clock.wall_s())
    table = await state.library.toc(bodies.cwd(query), narrowed)
    return json_response({"context": redact(table.text), "notes": table.count})


async def recall(state: ServerState, request: Request) -> Response:
    """The notes that a prompt needs, ready to be put beside it; nothing while the gate is shut."""
    prompt = note_bodies.prompt(bodies.json_object(request.body))
    state.desk.note_client()
    recalled = await state.library.recall(prompt.cwd, prompt.text, prompt.session_id)
    return json_response({"notes": [asdict(note) for note in recalled.notes], "context": recalled.context})


async def search(state: ServerState, request: Request) -> Response:
    """The notes that a question finds, best first."""
    text = fields.text(request.query, "q")
    wanted = note_bodies.search_query(request.query, text, state.clock.wall_s())
    found = await state.library.search(bodies.cwd(request.query), wanted)
    results = [
        {
            "id": each.note.id,
            "kind": each.note.kind,
            "title": each.note.title or cut(gist(each.note), LINE_CHARS),  # a fact has none
            "score": round(each.score, 4),
            "stage": each.stage,
            "state": each.state,
            "description": each.note.description,
            "status": each.note.status,
            "scope": each.note.scope,
        }
        for each in found
    ]
    return json_response({"results": results})


async def save(state: ServerState, request: Request) -> Response:
    """Keep a note: made, updated, or merged into one that says the same."""
    given = bodies.json_object(request.body)
    actor = note_bodies.actor(given)
    saved = await state.library.save(bodies.cwd(given), note_bodies.draft(given, actor), actor)
    return json_response({"id": saved.note.id, "outcome": saved.outcome, "remarks": list(saved.remarks)})


async def get(state: ServerState, request: Request) -> Response:
    """Notes by id, whole, with what is connected with them as far as asked for."""
    max_chars = fields.number(request.query, "max_chars", MAX_READ_CHARS, MAX_READ_CHARS)
    wanted = note_bodies.wanted(request.query, max_chars)
    reading = await state.library.get(bodies.cwd(request.query), wanted)
    notes = [_read_json(shown) for shown in reading.shown]
    return json_response({"notes": notes, "missing": list(reading.missing), "left_out": reading.left_out})


async def forget(state: ServerState, request: Request) -> Response:
    """Drop notes by id; the log can bring them back."""
    given = bodies.json_object(request.body)
    ids = note_bodies.some_ids(given)
    gone = await state.library.forget(bodies.cwd(given), ids, note_bodies.actor(given))
    forgotten = [note.id for note in gone]
    return json_response({"forgotten": forgotten, "missing": [each for each in ids if each not in forgotten]})


async def undo(state: ServerState, request: Request) -> Response:
    """Take back a change by its number or all of a batch; the newest one where neither is named."""
    given = bodies.json_object(request.body)
    number = fields.number(given, "number", 0) or None
    changes = await state.library.undo(bodies.cwd(given), number, fields.text(given, "batch"))
    return json_response({"changes": [_change_json(change) for change in changes]})


async def log(state: ServerState, request: Request) -> Response:
    """The newest changes, newest first."""
    limit = fields.number(request.query, "limit", note_bodies.DEFAULT_LOG, note_bodies.MAX_LOG)
    changes = await state.library.log(bodies.cwd(request.query), limit)
    return json_response({"changes": [_change_json(change) for change in changes]})


async def state_get(state: ServerState, request: Request) -> Response:
    """The working state kept under a key; null where there is none."""
    key = note_bodies.state_key(request.query)
    kept = await state.library.state_get(bodies.cwd(request.query), key)
    return json_response({"key": key, "value": None if kept is None else json.loads(kept), "is_set": kept is not None})


async def state_set(state: ServerState, request: Request) -> Response:
    """Keep any JSON value under a key, in the place of what was there."""
    given = bodies.json_object(request.body)
    key, value = note_bodies.state_key(given), note_bodies.state_value(given)
    saved = await state.library.state_set(bodies.cwd(given), key, value, note_bodies.actor(given))
    return json_response({"key": key, "id": saved.note.id, "outcome": saved.outcome})


def _read_json(shown: ShownNote) -> dict[str, object]:
    beside = {"state": shown.state, "backlinks": list(shown.backlinks), "disputes": list(shown.disputes)}
    return {**note_json.to_json(shown.note), **beside}


def _change_json(change: Change) -> dict[str, object]:
    note = change.after or change.before
    return {
        "number": change.number,
        "at_s": change.at_s,
        "action": change.action,
        "id": change.key[1],
        "scope": change.key[0],
        "title": note.title if note else "",
        "actor": change.actor,
        "reason": change.reason,
        "batch": change.batch,
    }


NOTE_ROUTES: Routes = {
    ("GET", "/toc"): Route(toc, "desk"),
    ("POST", "/recall"): Route(recall, "desk"),
    ("GET", "/search"): Route(search, "desk"),
    ("POST", "/notes"): Route(save, "desk"),
    ("GET", "/notes"): Route(get, "desk"),
    ("POST", "/forget"): Route(forget, "desk"),
    ("POST", "/undo"): Route(undo, "desk"),
    ("GET", "/log"): Route(log, "desk"),
    ("GET", "/state"): Route(state_get, "desk"),
    ("POST", "/state"): Route(state_set, "desk"),
}
