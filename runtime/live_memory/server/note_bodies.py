"""What callers send about notes, parsed once into values, whether it came as a query, a body or a tool's arguments. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from live_memory.errors import QuestionError
from live_memory.memory.library import Filter
from live_memory.memory.reading import MAX_CHARS, MAX_DEPTH, Relation, Wanted
from live_memory.memory.search import SearchQuery
from live_memory.notes.draft import HERE, Draft
from live_memory.notes.note import GLOBAL, Kind, Status
from live_memory.notes.note_json import CHOICES
from live_memory.notes.slugs import MAX_ID_CHARS
from live_memory.server import bodies, fields
from live_memory.server.fields import Fields, bad_field
from live_memory.text.surrogates import whole_characters

DEFAULT_RESULTS, MAX_RESULTS = 10, 200
DEFAULT_LOG, MAX_LOG = 20, 1000
MAX_IDS = 200
REPO_WORDS = ("", "repo", "repository", "project")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that a session is about to send."""

    cwd: str
    text: str
    session_id: str


def prompt(given: Fields) -> Prompt:
    text = given.get("prompt")
    if not isinstance(text, str):
        raise bad_field("prompt is missing: pass the text that recall is for.")
    return Prompt(bodies.cwd(given), whole_characters(text), fields.text(given, "session_id"))


def filter_of(given: Fields, now_s: float) -> Filter:
    """Which notes a table of contents is narrowed to."""
    return Filter(_kinds(given), _statuses(given), fields.instant_s(given, "since", now_s))


def search_query(given: Fields, text: str, now_s: float) -> SearchQuery:
    """`k` is also called `limit`."""
    count = fields.number(given, "k", fields.number(given, "limit", DEFAULT_RESULTS, MAX_RESULTS), MAX_RESULTS)
    scope = fields.word(given, "scope", ("all", "repo", "global"), "all")
    return SearchQuery(
        text,
        k=count,
        kinds=_kinds(given),
        statuses=_statuses(given),
        since_s=fields.instant_s(given, "since", now_s),
        scope=cast(Literal["all", "repo", "global"], scope),
        symbol=fields.text(given, "symbol").strip(),
        path=fields.text(given, "path").strip(),
    )


def draft(given: Fields, actor: Literal["user", "claude"]) -> Draft:
    """The note in `given`. `content` is also a body and `source` a kind, as am-memory called them. Which words a kind, a
    status and a priority may be is the notebook's to say; with an id, what is left out stays as it was."""
    name = fields.text(given, "id").strip().removeprefix("#")
    said = {"title": given.get("title"), "body": given.get("body", given.get("content"))}
    if not name:
        bodies.required_text(said, "title", "what the note says, in one line")
        bodies.required_text(said, "body", "what the note says")
    kind = fields.text(given, "kind") or fields.text(given, "source")
    status = fields.text(given, "status").strip().lower() if given.get("status") is not None else None
    scope = fields.text(given, "scope").strip().lower()
    if scope not in (*REPO_WORDS, GLOBAL):
        raise bad_field("scope must be repo, or global for what holds in every repository.")
    return Draft(
        title=fields.text(said, "title"),
        body=fields.text(said, "body"),
        id=name,
        kind=cast(Kind, kind.strip().lower()),
        description=fields.text(given, "description"),
        refs=fields.ids(given, "refs"),
        status=cast("Status | None", status),
        supersedes=fields.ids(given, "supersedes"),
        priority=fields.text(given, "priority").strip().upper(),
        scope=GLOBAL if scope == GLOBAL else HERE if scope else "",
        origin=actor,
        files=fields.texts(given, "files"),
        symbols=fields.texts(given, "symbols"),
    )


def wanted(given: Fields, max_chars: int = MAX_CHARS) -> Wanted:
    """Which notes to read. `follow_refs` and `backlinks` are flags; a number of steps counts as yes."""
    chosen = some_ids(given)
    relations: set[Relation] = set()
    for name, relation in (("follow_refs", "refs"), ("backlinks", "backlinks")):
        if _is_wanted(given, name):
            relations.add(cast(Relation, relation))
    steps = fields.number(given, "follow_refs", 1) if str(given.get("follow_refs", "")).isdigit() and relations else 1
    depth = fields.number(given, "depth", steps, MAX_DEPTH)
    return Wanted(chosen, frozenset(relations), depth, max_chars)


def some_ids(given: Fields) -> tuple[str, ...]:
    """The ids named, without repetitions; QuestionError where there are none, or far too many."""
    # One more character than an id may have: enough to be none, and to be told so in a sentence.
    chosen = tuple(dict.fromkeys(each[: MAX_ID_CHARS + 1] for each in fields.ids(given, "ids")))
    if not chosen:
        raise bad_field("ids is missing: pass the ids of notes, as search and the table of contents show them.")
    if len(chosen) > MAX_IDS:
        raise bad_field(f"ids may name {MAX_IDS} notes at most.")
    return chosen


def actor(given: Fields) -> Literal["user", "claude"]:
    """Who writes."""
    return cast(Literal["user", "claude"], fields.word(given, "actor", ("user", "claude"), "user"))


def state_key(given: Fields) -> str:
    return bodies.required_text(given, "key", "the name of the state")


def state_value(given: Fields) -> str:
    """The JSON text of the value to keep."""
    if "value" not in given:
        raise bad_field("value is missing: pass what the state shall be, any JSON value.")
    text = json.dumps(given["value"], ensure_ascii=False)
    return fields.checked("value", text)


def _kinds(given: Fields) -> tuple[Kind, ...]:
    return cast(tuple[Kind, ...], fields.words(given, "kind", CHOICES["kind"]))


def _statuses(given: Fields) -> tuple[Status, ...]:
    return cast(tuple[Status, ...], fields.words(given, "status", CHOICES["status"]))


def _is_wanted(given: Mapping[str, object], name: str) -> bool:
    value = given.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return value > 0
    try:
        return fields.flag(given, name)
    except QuestionError:
        return fields.number(given, name, 1) > 0
