"""`live-memory save`, `search`, `get`, `toc`, `state`, `log` and `forget`."""

from __future__ import annotations

import json

import pytest
from cli.command_line import run
from cli.stand_in import Asked, Reply, StandIn, always, refusal

NOTE = {
    "id": "cart-rounding",
    "kind": "decision",
    "title": "Totals are rounded per line",
    "description": "rounding of carts",
    "body": "Half-even, because of the tax office.\nSee #tax.",
    "status": "open",
    "scope": "git:example.com/shop",
    "state": "STALE",
    "refs": ["tax"],
    "supersedes": [],
    "backlinks": ["invoice", "receipt"],
    "sources": {"shop/cart.py": "aa"},
    "updated_at_s": 1767225600.0,
}
FOUND = {**NOTE, "score": 3.2, "stage": "bm25"}
CHANGE = {
    "number": 12,
    "at_s": 1767225600.0,
    "action": "create",
    "id": "cart-rounding",
    "actor": "claude",
    "title": "Totals are rounded per line",
    "reason": "",
}


def test_a_note_is_saved_with_all_that_was_said_about_it(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /notes"] = always(
        {"id": "cart-rounding", "outcome": "created", "remarks": ["shop/x.py is gone."]}
    )
    given = ("--kind", "decision", "--refs", "tax,vat", "--files=shop/cart.py", "--scope", "global", "--cwd", "/shop")
    done = run(env, "save", "Rounding", "Half-even.", *given)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Created: cart-rounding\n", "shop/x.py is gone.\n")
    assert server.bodies("/notes") == [
        {
            "cwd": "/shop",
            "title": "Rounding",
            "body": "Half-even.",
            "actor": "user",
            "kind": "decision",
            "scope": "global",
            "refs": ["tax", "vat"],
            "files": ["shop/cart.py"],
        }
    ]


@pytest.mark.parametrize("words", [(), ("-",)])
def test_a_body_may_come_on_stdin(env: dict[str, str], server: StandIn, words: tuple[str, ...]) -> None:
    server.routes["POST /notes"] = always({"id": "a", "outcome": "created", "remarks": []})
    done = run(env, "save", "Title", *words, "--json", stdin="first line\n会话\n")
    assert json.loads(done.stdout) == {"id": "a", "outcome": "created", "remarks": []}
    assert server.bodies("/notes")[0]["body"] == "first line\n会话\n"


def test_results_are_a_table_with_what_found_them(env: dict[str, str], server: StandIn) -> None:
    second = {"id": "tax", "kind": "reference", "title": "Tax\noffice", "stage": "cognates", "scope": "global"}
    server.routes["GET /search"] = always({"results": [FOUND, second]})
    done = run(env, "search", "which", "rounding", "-k", "5", "--kind", "decision,reference", "--cwd", "/a b")
    assert done.stdout.splitlines() == [
        "cart-rounding  decision, open, STALE  Totals are rounded per line [bm25]",
        "tax            reference, global      Tax office [cognates]",
    ]
    assert server.asked[-1].query == {"cwd": "/a b", "q": "which rounding", "k": "5", "kind": "decision,reference"}


def test_a_search_without_a_result_says_so_and_fails(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /search"] = always({"results": []})
    done = run(env, "search", "nothing")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "live-memory: no note fits.\n")


def test_a_note_is_shown_whole_with_what_it_is_connected_with(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /notes"] = always({"notes": [NOTE], "missing": [], "left_out": 3})
    done = run(env, "get", "cart-rounding", "--follow-refs", "--backlinks", "--depth", "2", "--cwd", "/shop")
    assert done.stdout.splitlines() == [
        "# cart-rounding: Totals are rounded per line",
        "decision, open, STALE · git:example.com/shop · updated 2026-01-01 00:00",
        "rounding of carts",
        "",
        "Half-even, because of the tax office.",
        "See #tax.",
        "",
        "refs: tax",
        "cited by: invoice, receipt",
        "files: shop/cart.py",
        "",
        "3 more had no room.",
    ]
    wanted = {"cwd": "/shop", "ids": "cart-rounding", "follow_refs": "1", "backlinks": "1", "depth": "2"}
    assert server.asked[-1].query == wanted


def test_an_id_that_no_note_has_is_named(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /notes"] = always({"notes": [NOTE], "missing": ["none"], "left_out": 0})
    done = run(env, "get", "cart-rounding", "none")
    assert done.returncode == 1
    assert done.stdout.startswith("# cart-rounding")
    assert done.stderr == "live-memory: There is no note none; `live-memory search` finds ids.\n"


def test_the_table_of_contents_is_the_one_of_a_session(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /toc"] = always({"context": "heading\n- #a (decision): b", "notes": 1})
    done = run(env, "toc", "--status", "open", "--since", "7d", "--cwd", "/shop")
    assert done.stdout == "heading\n- #a (decision): b\n"
    assert server.asked[-1].query == {"cwd": "/shop", "status": "open", "since": "7d"}
    server.routes["GET /toc"] = always({"context": "", "notes": 0})
    assert run(env, "toc").stderr == "live-memory: there are no such notes yet.\n"


def test_the_log_is_a_table(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /log"] = always({"changes": [CHANGE, {**CHANGE, "number": 9, "reason": "said again"}]})
    assert run(env, "log", "--limit", "2", "--cwd", "/shop").stdout.splitlines() == [
        "12  2026-01-01 00:00  create  cart-rounding  claude  Totals are rounded per line",
        "9   2026-01-01 00:00  create  cart-rounding  claude  said again",
    ]
    assert server.asked[-1].query == {"cwd": "/shop", "limit": "2"}


def test_notes_are_forgotten_and_brought_back(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /forget"] = always({"forgotten": ["a"], "missing": ["b"]})
    done = run(env, "forget", "a", "b", "--cwd", "/shop")
    assert (done.returncode, done.stderr) == (1, "live-memory: There is no note b; `live-memory search` finds ids.\n")
    assert done.stdout.startswith("Forgotten: a.")
    assert server.bodies("/forget") == [{"cwd": "/shop", "ids": ["a", "b"], "actor": "user"}]
    server.routes["POST /undo"] = always({"changes": [{**CHANGE, "id": "a", "reason": "undo of 12"}]})
    assert run(env, "forget", "--undo", "12", "--cwd", "/shop").stdout == "Taken back, for a (undo of 12).\n"
    run(env, "forget", "--undo", "--cwd", "/shop")
    assert server.bodies("/undo") == [{"cwd": "/shop", "number": 12}, {"cwd": "/shop"}]


def test_working_state_is_any_json_value(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /state"] = always({"key": "work", "id": "state-work", "outcome": "created"})
    assert run(env, "state", "set", "work", '{"ticket": 7}', "--cwd", "/shop").stdout == "Kept: work\n"
    run(env, "state", "set", "work", "just words", "--cwd", "/shop")
    assert [body["value"] for body in server.bodies("/state")] == [{"ticket": 7}, "just words"]
    server.routes["GET /state"] = always({"key": "work", "value": {"ticket": 7}, "is_set": True})
    assert run(env, "state", "get", "work").stdout == '{"ticket": 7}\n'
    server.routes["GET /state"] = always({"key": "work", "value": "just words", "is_set": True})
    assert run(env, "state", "get", "work").stdout == "just words\n"
    server.routes["GET /state"] = always({"key": "work", "value": None, "is_set": False})
    done = run(env, "state", "get", "work")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("live-memory: There is no state 'work' here")


@pytest.mark.parametrize(
    ("arguments", "route", "answer"),
    [
        (("search", "x"), "GET /search", {"results": [FOUND]}),
        (("get", "x"), "GET /notes", {"notes": [NOTE], "missing": [], "left_out": 0}),
        (("toc",), "GET /toc", {"context": "x", "notes": 1}),
        (("log",), "GET /log", {"changes": [CHANGE]}),
        (("forget", "x"), "POST /forget", {"forgotten": ["x"], "missing": []}),
        (("forget", "--undo"), "POST /undo", {"changes": [CHANGE]}),
        (("state", "get", "x"), "GET /state", {"key": "x", "value": 1, "is_set": True}),
        (("state", "set", "x", "1"), "POST /state", {"key": "x", "id": "state-x", "outcome": "created"}),
    ],
)
def test_json_is_what_the_server_says(
    env: dict[str, str], server: StandIn, arguments: tuple[str, ...], route: str, answer: object
) -> None:
    server.routes[route] = always(answer)
    done = run(env, *arguments, "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, answer)


@pytest.mark.parametrize(
    "arguments",
    [
        ("save",),
        ("save", "a", "b", "c"),
        ("search",),
        ("search", "x", "-k", "many"),
        ("get",),
        ("get", "x", "--depth", "deep"),
        ("toc", "x"),
        ("log", "x"),
        ("forget",),
        ("forget", "--undo", "x"),
        ("state",),
        ("state", "get"),
        ("state", "set", "x"),
        ("state", "drop", "x"),
    ],
)
def test_wrong_usage_is_told_as_such(env: dict[str, str], server: StandIn, arguments: tuple[str, ...]) -> None:
    done = run(env, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("live-memory: ")
    assert not [asked for asked in server.asked if asked.path != "/health"]


def test_a_refusal_is_the_servers_sentence(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /notes"] = lambda asked: refusal(400, "bad-field", "kind cannot be 'x'.")
    done = run(env, "save", "a", "b", "--kind", "x")
    assert (done.returncode, done.stderr) == (1, "live-memory: kind cannot be 'x'.\n")


def test_a_server_that_gives_way_is_asked_again(env: dict[str, str], server: StandIn) -> None:
    def first_draining(asked: Asked) -> Reply:
        server.routes["GET /log"] = always({"changes": []})
        return refusal(503, "draining", "The server is ending.")

    server.routes["GET /log"] = first_draining
    assert run(env, "log").returncode == 0


def test_what_notes_say_cannot_command_the_terminal(env: dict[str, str], server: StandIn) -> None:
    server.routes["GET /notes"] = always({"notes": [{**NOTE, "body": "\x1b[2J", "title": "a\x07"}], "missing": []})
    server.routes["GET /search"] = always({"results": [{**FOUND, "title": "\x1b[2J"}]})
    server.routes["GET /toc"] = always({"context": "\x1b[2J", "notes": 1})
    for arguments in (("get", "x"), ("search", "x"), ("toc",)):
        assert "\x1b" not in run(env, *arguments).stdout
