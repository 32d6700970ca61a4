"""The routes of the notes: what each answers and refuses, in the whole server and in the degraded one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from server.desks import HandDesk, request_of, state_of

from live_memory.clock import ManualClock
from live_memory.notes.note import Note
from live_memory.server.note_routes import NOTE_ROUTES
from live_memory.server.routes import dispatch
from live_memory.server.state import Phase, ServerState
from live_memory.store.note_store import Change

DEGRADED = Phase("degraded", reason="The packages could not be installed.")
INSTALLING = Phase("installing", step="unpacking")
ROUNDING = {
    "title": "Totals are rounded half-even per line",
    "body": "The tax office rounds each line of an invoice, so Cart.total does. See #tax-office.",
    "kind": "decision",
    "description": "rounding of carts",
}
TAX = {
    "id": "tax-office",
    "title": "Rules of the tax office",
    "body": "https://tax.example.com/rounding",
    "kind": "reference",
}


class Notes:
    """The notes' routes of one server, asked as JSON."""

    def __init__(self, root: Path, phase: Phase | None = None) -> None:
        self.clock = ManualClock()
        self.state: ServerState = state_of(HandDesk(), phase=phase, clock=self.clock)
        self.cwd = str(root)

    async def post(self, path: str, **fields: object) -> dict[str, Any]:
        status, answer = await self.exchange("POST", path, {"cwd": self.cwd, **fields})
        assert status == 200, answer
        return answer

    async def get(self, path: str, **query: str) -> dict[str, Any]:
        status, answer = await self.exchange("GET", path, query={"cwd": self.cwd, **query})
        assert status == 200, answer
        return answer

    async def exchange(
        self, method: str, path: str, body: object = None, query: dict[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        raw = b"" if body is None else json.dumps(body).encode()
        request = request_of(method, path, raw)
        response = await dispatch(self.state, replace(request, query=query) if query else request)
        return response.status, json.loads(response.body)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "cart.py").write_text("class Cart: ...")
    return folder


@pytest.fixture(params=[None, DEGRADED, INSTALLING], ids=["whole", "degraded", "installing"])
def notes(root: Path, request: pytest.FixtureRequest) -> Notes:
    return Notes(root, request.param)


async def test_a_note_is_kept_found_listed_and_read(notes: Notes) -> None:
    saved = await notes.post("/notes", **ROUNDING, files=["shop/cart.py"], status="open")
    assert saved == {"id": "totals-are-rounded-half-even-per-line", "outcome": "created", "remarks": []}
    (result,) = (await notes.get("/search", q="rounding of carts"))["results"]
    assert (result["id"], result["kind"], result["state"]) == (saved["id"], "decision", "FRESH")
    assert {"title", "score", "stage", "description", "scope"} <= set(result)
    table = await notes.get("/toc", source="startup")
    assert table["notes"] == 1
    assert f"- #{saved['id']} (decision, open)" in table["context"]
    read = await notes.get("/notes", ids=f"#{saved['id']},none")
    assert (read["missing"], read["left_out"]) == (["none"], 0)
    (note,) = read["notes"]
    assert note["body"] == ROUNDING["body"]
    assert note["refs"] == ["tax-office"]
    assert (note["origin"], note["state"], list(note["sources"])) == ("user", "FRESH", ["shop/cart.py"])


async def test_a_fact_that_is_found_says_what_it_holds_in_place_of_a_title(notes: Notes) -> None:
    fact = {"id": "fact-1", "scope": "repo", "kind": "fact", "title": "", "body": "The port\nis 4711."}
    await notes.post("/import", notes=[fact])
    (result,) = (await notes.get("/search", q="port", kind="fact"))["results"]
    assert result["title"] == "The port is 4711."


async def test_what_is_far_too_long_for_an_id_is_not_repeated_whole(notes: Notes) -> None:
    (missing,) = (await notes.get("/notes", ids="x" * 5000))["missing"]
    assert len(missing) < 200


async def test_a_prompt_gets_the_notes_that_it_needs_ready_to_be_put_beside_it(notes: Notes) -> None:
    await notes.post("/notes", **ROUNDING)
    recalled = await notes.post("/recall", prompt="Why is the rounding of totals half-even per line?", session_id="s")
    assert [set(note) for note in recalled["notes"]] == [{"id", "title", "score", "state"}]
    assert "<live-memory-notes>" in recalled["context"]
    assert ROUNDING["body"].partition(".")[0] in recalled["context"]
    nothing = await notes.post("/recall", prompt="zebra xylophone quagmire", session_id="s")
    assert nothing == {"notes": [], "context": ""}


async def test_without_notes_everything_is_empty_and_nothing_fails(notes: Notes) -> None:
    assert await notes.get("/toc") == {"context": "", "notes": 0}
    assert await notes.get("/search", q="x") == {"results": []}
    assert await notes.get("/log") == {"changes": []}
    assert await notes.get("/state", key="work") == {"key": "work", "value": None, "is_set": False}
    assert await notes.post("/forget", ids=["none"]) == {"forgotten": [], "missing": ["none"]}


async def test_a_chain_is_followed_through_the_route(notes: Notes) -> None:
    await notes.post("/notes", **TAX)
    saved = await notes.post("/notes", **ROUNDING)
    forwards = await notes.get("/notes", ids=saved["id"], follow_refs="1")
    assert [note["id"] for note in forwards["notes"]] == [saved["id"], "tax-office"]
    backwards = await notes.get("/notes", ids="tax-office", backlinks="1", depth="3")
    assert [note["id"] for note in backwards["notes"]] == ["tax-office", saved["id"]]
    assert backwards["notes"][0]["backlinks"] == [saved["id"]]


async def test_a_forgotten_note_comes_back_by_its_number_in_the_log(notes: Notes) -> None:
    saved = await notes.post("/notes", **ROUNDING)
    gone = await notes.post("/forget", ids=[saved["id"]], actor="claude")
    assert gone == {"forgotten": [saved["id"]], "missing": []}
    (forgotten, created) = (await notes.get("/log"))["changes"]
    assert (forgotten["action"], forgotten["actor"], forgotten["id"]) == ("forget", "claude", saved["id"])
    assert (created["action"], created["actor"]) == ("create", "user")
    assert forgotten["number"] > created["number"]
    (taken_back,) = (await notes.post("/undo", number=forgotten["number"]))["changes"]
    assert taken_back["id"] == saved["id"]
    assert (await notes.get("/notes", ids=saved["id"]))["missing"] == []
    assert len((await notes.get("/log", limit="1"))["changes"]) == 1


@pytest.mark.parametrize("value", [{"ticket": [1, None, "会话"]}, "words", 7, None, [], False])
async def test_working_state_is_any_value_under_a_key(root: Path, value: object) -> None:
    notes = Notes(root)
    kept = await notes.post("/state", key="active work", value=value)
    assert kept["outcome"] == "created"
    assert await notes.get("/state", key="active work") == {"key": "active work", "value": value, "is_set": True}
    assert (await notes.post("/state", key="active work", value="new"))["outcome"] == "updated"


async def test_a_note_is_changed_by_its_id_and_keeps_what_was_not_named(root: Path) -> None:
    notes = Notes(root)
    await notes.post("/notes", **TAX, status="open")
    assert (await notes.post("/notes", id="#tax-office", status="done"))["outcome"] == "updated"
    (note,) = (await notes.get("/notes", ids="tax-office"))["notes"]
    assert (note["title"], note["kind"], note["status"]) == (TAX["title"], "reference", "done")


async def test_the_words_of_am_memory_are_understood(root: Path) -> None:
    notes = Notes(root)
    saved = await notes.post("/notes", title="Soft limits", content="YARN ignores them.", source="debug_solution")
    (note,) = (await notes.get("/notes", ids=saved["id"]))["notes"]
    assert (note["kind"], note["body"]) == ("root-cause", "YARN ignores them.")


async def test_a_table_is_narrowed_by_kind_status_and_age(root: Path) -> None:
    notes = Notes(root)
    await notes.post("/notes", **TAX, status="done")
    notes.clock.advance(3 * 86400)
    await notes.post("/notes", **ROUNDING)
    assert (await notes.get("/toc", kind="reference,session"))["notes"] == 1
    assert (await notes.get("/toc", status="done"))["notes"] == 1
    assert (await notes.get("/toc", since="2d"))["notes"] == 1
    assert (await notes.get("/toc", since="1w"))["notes"] == 2


async def test_facts_are_listed_only_where_they_are_asked_for(root: Path) -> None:
    notes = Notes(root)
    fact = Note(str(root), "fact-1", "fact", "", "Cart.total rounds half-even (shop/cart.py).")
    notes.state.library.shelf.store.apply([Change("create", None, fact, 1.0, "user")])
    assert (await notes.get("/toc"))["notes"] == 0
    assert "- #fact-1 (fact): Cart.total rounds half-even" in (await notes.get("/toc", kind="fact"))["context"]


async def test_what_a_session_was_given_is_forgotten_where_its_context_is(root: Path) -> None:
    notes = Notes(root)
    await notes.post("/notes", **ROUNDING)
    prompt = "Why is the rounding of totals half-even per line?"
    assert (await notes.post("/recall", prompt=prompt, session_id="s"))["notes"]
    assert not (await notes.post("/recall", prompt=prompt, session_id="s"))["notes"]
    await notes.get("/toc", session_id="s", source="compact")
    assert (await notes.post("/recall", prompt=prompt, session_id="s"))["notes"]
    assert not (await notes.post("/recall", prompt=prompt, session_id="s"))["notes"]
    await notes.post("/session", event="session-start", session_id="s", source="clear")
    assert (await notes.post("/recall", prompt=prompt, session_id="s"))["notes"]


async def test_stats_count_the_notes_unless_they_are_asked_for_at_every_redraw(root: Path) -> None:
    notes = Notes(root)
    await notes.post("/notes", **ROUNDING, status="open")
    await notes.post("/notes", **TAX)
    figures = (await notes.get("/stats"))["notes"]
    assert (figures["notes"], figures["open"], figures["kinds"]) == (2, 1, {"decision": 1, "reference": 1})
    assert figures["text_bytes"] > 100
    assert "notes" not in await notes.get("/stats", notes="off")
    _, everywhere = await notes.exchange("GET", "/stats")
    assert everywhere["notes"] == {"notes": 2, "scopes": 1}


@pytest.mark.parametrize(
    ("path", "fields", "words"),
    [
        ("/notes", {"title": "t"}, "body is missing"),
        ("/notes", {"body": "b"}, "title is missing"),
        ("/notes", {"title": "t", "body": " "}, "body is empty"),
        ("/notes", {"title": ["t"], "body": "b"}, "title must be text"),
        ("/notes", {"title": "t", "body": "b", "kind": "poem"}, "poem"),
        ("/notes", {"title": "t", "body": "b", "status": "pending"}, "pending"),
        ("/notes", {"title": "t", "body": "b", "priority": "P9"}, "P9"),
        ("/notes", {"title": "t", "body": "b", "scope": "galaxy"}, "scope must be repo, or global"),
        ("/notes", {"title": "t", "body": "b", "refs": [7]}, "refs must be a list of texts"),
        ("/notes", {"title": "t", "body": "b", "actor": "dream"}, "actor cannot be 'dream'"),
        ("/notes", {"title": "\ud800", "body": "b"}, "surrogate"),
        ("/notes", {"id": "unknown", "status": "done"}, "There is no note #unknown"),
        ("/notes", {"title": "t", "body": "b", "cwd": "here"}, "absolute"),
        ("/recall", {}, "prompt is missing"),
        ("/forget", {}, "ids is missing"),
        ("/forget", {"ids": [f"n{n}" for n in range(201)]}, "200 notes at most"),
        ("/undo", {"number": -1}, "number must be a whole number"),
        ("/undo", {"number": 99}, "no change 99"),
        ("/state", {"key": "k"}, "value is missing"),
        ("/state", {"value": 1}, "key is missing"),
    ],
)
async def test_what_cannot_be_used_is_refused_with_a_sentence(
    root: Path, path: str, fields: dict[str, object], words: str
) -> None:
    notes = Notes(root)
    status, answer = await notes.exchange("POST", path, {"cwd": notes.cwd, **fields})
    assert 400 <= status < 500
    assert words in answer["error"]["message"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/notes?ids=a", "cwd is missing"),
        ("/notes?cwd=/x", "ids is missing"),
        ("/notes?cwd=/x&ids=a&depth=deep", "depth must be a whole number"),
        ("/notes?cwd=/x&ids=a&backlinks=perhaps", "backlinks must be"),
        ("/search?cwd=/x&q=a&kind=poem", "kind cannot be 'poem'"),
        ("/search?cwd=/x&q=a&scope=galaxy", "scope cannot be 'galaxy'"),
        ("/search?cwd=/x&q=a&since=yesterday", "since cannot be 'yesterday'"),
        ("/toc?cwd=/x&status=pending", "status cannot be 'pending'"),
        ("/log?cwd=/x&limit=-1", "limit must be a whole number"),
        ("/state?cwd=/x", "key is missing"),
    ],
)
async def test_a_query_that_cannot_be_used_is_refused_with_a_sentence(root: Path, path: str, words: str) -> None:
    status, answer = await Notes(root).exchange("GET", path.replace("/x", str(root)))
    assert status == 400
    assert words in answer["error"]["message"]


@pytest.mark.parametrize("query", ["", "*", '"unbalanced', "NEAR(", "\0", "C++", "x" * 10_000, "\U0001f41b", "a:b"])
async def test_any_search_is_answered(root: Path, query: str) -> None:
    notes = Notes(root)
    await notes.post("/notes", **ROUNDING)
    await notes.get("/search", q=query)
    await notes.post("/recall", prompt=query)


@pytest.mark.parametrize(("method", "path"), sorted(NOTE_ROUTES))
async def test_a_server_that_is_about_to_end_writes_and_reads_no_notes(root: Path, method: str, path: str) -> None:
    notes = Notes(root, Phase("draining"))
    assert (await notes.exchange(method, path, {}))[0] == 503


@pytest.mark.parametrize(("method", "path"), sorted(NOTE_ROUTES))
async def test_no_note_is_shown_without_the_token(root: Path, method: str, path: str) -> None:
    response = await dispatch(Notes(root).state, request_of(method, path, b"{}", authorization=""))
    assert response.status == 401
