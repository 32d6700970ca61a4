"""Calls of the notes' tools: from arguments to the text that a model reads. What notes say stands in a fence, as data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from live_memory.errors import QuestionError
from live_memory.memory.library import FoundNote
from live_memory.memory.reading import Reading
from live_memory.notes.rendering import cut, shown_as_data, table_line, whole_text
from live_memory.server import bodies, note_bodies
from live_memory.server.fields import Fields
from live_memory.server.note_tools import GET, SAVE, SEARCH, TOC
from live_memory.server.state import ServerState
from live_memory.text.secrets import redact

Caller: TypeAlias = Callable[[ServerState, Fields], Awaitable[str]]

MAX_SHOWN_CHARS = 45_000  # below the size from which Claude Code puts a tool's result into a file
TOOL_RESULTS = 8  # where the model names no limit
ACTOR: Literal["claude"] = "claude"


async def result(state: ServerState, name: str, given: Fields) -> str:
    """What the tool `name` answers; QuestionError for arguments that it cannot use."""
    if state.phase.status == "draining":
        raise QuestionError("draining", "The server is ending; call again in a moment.", status=503)
    return redact(await CALLERS[name](state, given))  # a note may be older than what is known of secrets now


async def _search(state: ServerState, given: Fields) -> str:
    text = bodies.required_text(given, "query", "what to look for")
    wanted = note_bodies.search_query({"limit": TOOL_RESULTS, **given}, text, state.clock.wall_s())
    found = await state.library.search(bodies.cwd(given), wanted)
    if not found:
        return "No note fits. Try other words, or memory_toc for all there is."
    return f"{shown_as_data(_lines(found))}\nFetch the texts with memory_get, several ids in one call."


def _lines(found: Sequence[FoundNote]) -> str:
    return "\n".join(f"{table_line(each.note, each.state)} [{each.stage}]" for each in found)


async def _get(state: ServerState, given: Fields) -> str:
    reading = await state.library.get(bodies.cwd(given), note_bodies.wanted(given))
    parts = [shown_as_data(cut(_texts(reading), MAX_SHOWN_CHARS))] if reading.shown else []
    if reading.missing:
        parts.append(f"There is no note {', '.join(reading.missing)}; memory_search finds ids.")
    if reading.left_out:
        parts.append(f"{reading.left_out} more had no room: fetch fewer at a time, or with a smaller depth.")
    return "\n".join(parts)


def _texts(reading: Reading) -> str:
    return "\n\n".join(whole_text(each.note, each.state, each.backlinks, each.disputes) for each in reading.shown)


async def _save(state: ServerState, given: Fields) -> str:
    saved = await state.library.save(bodies.cwd(given), note_bodies.draft(given, ACTOR), ACTOR)
    return "\n".join([f"{saved.outcome.capitalize()} #{saved.note.id}.", *saved.remarks])


async def _toc(state: ServerState, given: Fields) -> str:
    narrowed = note_bodies.filter_of(given, state.clock.wall_s())
    table = await state.library.toc(bodies.cwd(given), narrowed)
    return table.text or "There are no such notes yet. memory_save keeps one."


CALLERS: Mapping[str, Caller] = {SEARCH.name: _search, GET.name: _get, SAVE.name: _save, TOC.name: _toc}
