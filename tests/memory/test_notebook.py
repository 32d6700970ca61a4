"""Saving notes: what becomes of what was said, what is joined, what is replaced, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from memory.notes_scene import REPO, NotesScene

from live_memory.errors import QuestionError
from live_memory.memory.place import Place
from live_memory.notes.draft import HERE
from live_memory.notes.lifecycle import DAY_S
from live_memory.notes.note import GLOBAL, Note

TOKENS = "The session manager issues tokens in the login route and keeps them for an hour in the cache of the gateway."


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[NotesScene]:
    made = NotesScene(tmp_path)
    yield made
    made.close()


async def test_a_note_gets_an_id_from_its_title_and_what_its_kind_entails(scene: NotesScene) -> None:
    saved = await scene.save("  Tokens of \n the login ", TOKENS, kind="root-cause", description="who issues tokens")
    note, now_s = saved.note, scene.clock.wall_s()
    assert (saved.outcome, saved.remarks) == ("created", ())
    assert (note.scope, note.id, note.title) == (REPO, "tokens-of-the-login", "Tokens of the login")
    assert (note.kind, note.priority, note.origin, note.status) == ("root-cause", "P1", "claude", "")
    assert (note.created_at_s, note.updated_at_s, note.verified_at_s, note.used_at_s) == (now_s, now_s, now_s, 0.0)
    assert note.expires_at_s == now_s + 90 * DAY_S
    assert scene.note(note.id) == note


async def test_a_note_for_every_repository_is_kept_once_for_all(scene: NotesScene, tmp_path: Path) -> None:
    await scene.save("Style", "Short sentences.", kind="preference", scope=GLOBAL)
    elsewhere = scene.place = Place(tmp_path, "git:example.com/other")
    assert [note.id for note in scene.store.notes(elsewhere.scopes)] == ["style"]
    again = await scene.save("", "", id="style", status="done")
    assert (again.note.scope, again.note.status) == (GLOBAL, "done")


async def test_an_id_names_the_note_to_change_and_what_is_not_said_stays(scene: NotesScene) -> None:
    await scene.save(
        "Port",
        "See #why.",
        id="port",
        kind="decision",
        description="which port",
        refs=("net",),
        status="open",
        priority="P2",
    )
    first = scene.note("port")
    saved = await scene.save("The port", "7712, see #where.", id="#port")
    note = saved.note
    assert saved.outcome == "updated"
    assert (note.title, note.description, note.kind, note.status, note.priority) == (
        "The port",
        "which port",
        "decision",
        "open",
        "P2",
    )
    assert note.refs == ("net", "where")
    assert (note.created_at_s, note.updated_at_s) == (first.created_at_s, first.updated_at_s + 1)


async def test_a_note_is_marked_done_without_being_said_anew(scene: NotesScene, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one")
    first = (await scene.save("Fix", "Mend a.py soon.", status="open")).note
    (tmp_path / "a.py").write_text("two")
    note = (await scene.save("", "", id="fix", status="done")).note
    assert (note.title, note.body, note.status) == ("Fix", "Mend a.py soon.", "done")
    assert (note.verified_at_s, note.sources, note.symbols) == (first.verified_at_s, first.sources, first.symbols)


async def test_what_a_body_cites_becomes_a_ref_and_its_own_id_none(scene: NotesScene) -> None:
    note = (await scene.save("Port", "See #why and #port, not #12.", id="port", refs=("net", "#why"))).note
    assert note.refs == ("net", "why")


async def test_identifiers_are_kept_as_symbols(scene: NotesScene) -> None:
    body = "`SessionManager` and bind_port in src/auth/session.ts, e.g. 1.5 times C++."
    note = (await scene.save("Names", body, symbols=("Extra",))).note
    assert note.symbols == ("Extra", "SessionManager", "bind_port", "src/auth/session.ts", "C++")


async def test_the_same_said_again_is_joined_with_what_was_said(scene: NotesScene, tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("b")
    first = await scene.save("Tokens", TOKENS, refs=("one",))
    again = await scene.save("The tokens", f"{TOKENS}\nThe gateway renews them.", refs=("two",), files=("b.py",))
    assert (again.outcome, again.note.id) == ("merged", first.note.id)
    assert again.note.body.endswith("renews them.")
    assert (again.note.refs, list(again.note.sources)) == (("one", "two"), ["b.py"])
    shorter = await scene.save("Tokens", TOKENS)
    assert (shorter.outcome, shorter.note.body) == ("merged", again.note.body)
    assert shorter.note.updated_at_s == again.note.updated_at_s
    assert shorter.note.verified_at_s == scene.clock.wall_s()
    assert len(scene.notes()) == 1


async def test_what_says_something_else_is_not_joined(scene: NotesScene) -> None:
    await scene.save("Port", "The server listens on 7711.")
    other = await scene.save("Port", "The server listens on 7712.")
    third = await scene.save("Port", "The server listens on 7711.", kind="decision")
    elsewhere = await scene.save("Port", "The server listens on 7711.", scope=GLOBAL)
    assert [each.note.id for each in (other, third, elsewhere)] == ["port-2", "port-3", "port-4"]
    assert "#port bears the same name" in other.remarks[0]


async def test_a_note_takes_the_place_of_others(scene: NotesScene) -> None:
    await scene.save("Old", "The port is 80.", id="old")
    await scene.save("Older", "The port is 79.", id="older", status="superseded")
    saved = await scene.save("New", "The port is 7711.", id="new", supersedes=("old", "older", "none", "new"))
    assert scene.note("old").status == "superseded"
    assert saved.note.supersedes == ("old", "older", "none")
    assert saved.remarks == (
        "There is no note #none that it could take the place of.",
        "A note does not take its own place.",
    )
    assert [(change.action, change.key[1]) for change in scene.notebook.log(scene.place, 2)] == [
        ("supersede", "old"),
        ("create", "new"),
    ]


async def test_what_is_replaced_by_nearly_the_same_is_not_joined_with_it(scene: NotesScene) -> None:
    await scene.save("Tokens", TOKENS)
    saved = await scene.save("Tokens", TOKENS, supersedes=("tokens",))
    assert (saved.outcome, saved.note.id, scene.note("tokens").status) == ("created", "tokens-2", "superseded")
    again = await scene.save("Tokens", TOKENS)
    assert (again.outcome, again.note.id) == ("merged", "tokens-2")


async def test_no_note_takes_the_place_of_its_successor(scene: NotesScene) -> None:
    await scene.save("A", "One thing.", id="a1")
    await scene.save("B", "Another thing.", id="b1", supersedes=("a1",))
    await scene.save("C", "A third thing.", id="c1", supersedes=("b1",))
    with pytest.raises(QuestionError, match="#c1 took the place of #a1"):
        await scene.save("A", "One thing.", id="a1", supersedes=("c1",))
    assert scene.note("c1").status == ""


async def test_the_files_that_a_note_names_are_its_sources(scene: NotesScene, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("one")
    (tmp_path / "Makefile").write_text("all:")
    (tmp_path / ".env").write_text("X=1")
    body = "`./src/a.py` and .env, not src/b.py or ../../etc/passwd."
    saved = await scene.save("Files", body, files=("Makefile", "no.py", ".env"))
    digests = {path: sha256((tmp_path / path).read_bytes()).hexdigest() for path in ("Makefile", "src/a.py")}
    assert saved.note.sources == digests
    assert saved.remarks == tuple(
        f"There is no file {path} that can be read; it is not among its sources." for path in ("no.py", ".env")
    )
    (tmp_path / "src" / "a.py").write_text("two")
    again = await scene.save("Files", "Makefile rules.", id="files")
    assert set(again.note.sources) == {"Makefile", "src/a.py"}
    assert again.note.sources["src/a.py"] == sha256(b"two").hexdigest()
    assert (await scene.save("Everywhere", "Makefile and src/a.py", scope=GLOBAL)).note.sources == {}


async def test_secrets_and_what_was_shown_before_are_not_kept(scene: NotesScene) -> None:
    body = (
        "Key AKIAZ7Q2M4N6P8R0T2VB is used.\n<live-memory-notes>\nrecalled\n</live-memory-notes>\n"
        "Mine.\n---\n[live-memory] model=x latency=1\n<live-memory-answer id='1'>cut off"
    )
    saved = await scene.save("Key", body)
    assert "AKIA" not in saved.note.body
    assert "[redacted" in saved.note.body
    assert "recalled" not in saved.note.body
    assert saved.note.body.endswith("Mine.")
    assert saved.remarks == ("1 secret was taken out of it.",)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"title": " "}, "A note needs a title"),
        ({"body": ""}, "A note needs a body"),
        ({"body": "<live-memory-notes>x</live-memory-notes>"}, "nothing but what Live Memory showed before"),
        ({"title": "x" * 301}, "The title has 301 characters: 300 at most"),
        ({"description": "x" * 1001}, "The description has 1001 characters"),
        ({"body": "x" * 65536}, "takes 65,537 bytes and may take 65,536 .note_max_bytes."),
        ({"kind": "poem"}, "kind cannot be 'poem': it is one of fact, decision"),
        ({"status": "later"}, "status cannot be 'later': it is one of open, done, superseded, disputed"),
        ({"priority": "P9"}, "priority cannot be 'P9': it is one of P0, P1, P2"),
        ({"scope": "mine"}, "scope cannot be 'mine'"),
        ({"id": "a b"}, "id names 'a b', which is no id"),
        ({"id": "../x"}, "which is no id"),
        ({"refs": ("#",)}, "refs names '', which is no id"),
        ({"supersedes": ("12",)}, "supersedes names '12', which is no id"),
    ],
)
async def test_what_is_no_note_is_refused_with_a_sentence(
    scene: NotesScene, fields: dict[str, str], sentence: str
) -> None:
    with pytest.raises(QuestionError, match=sentence):
        await scene.save(**{"title": "T", "body": "b", **fields})
    assert scene.notes() == ()


async def test_a_new_note_of_an_unknown_id_needs_words(scene: NotesScene) -> None:
    with pytest.raises(QuestionError, match="There is no note #none: a new one needs a title and a body"):
        await scene.save("", "", id="none", status="done")


async def test_there_is_an_end_to_how_many_notes_are_kept(scene: NotesScene) -> None:
    scene.set(notes_max_count=1)
    await scene.save("One", "The first one.")
    with pytest.raises(QuestionError, match="There are 1 notes here already"):
        await scene.save("Two", "Something else.")
    await scene.save("One", "The first one, changed.", id="one")


@pytest.mark.parametrize(
    ("word", "kind", "priority"),
    [
        ("architectural_decision", "decision", "P0"),
        ("debug_solution", "root-cause", "P1"),
        ("technical_insight", "reference", "P1"),
        ("session_note", "session", "P2"),
        ("routine", "project", "P2"),
        ("", "project", "P1"),
    ],
)
async def test_am_memorys_words_are_kinds(scene: NotesScene, word: str, kind: str, priority: str) -> None:
    note = (await scene.save("T", "Something.", kind=word)).note
    assert (note.kind, note.priority) == (kind, priority)


async def test_any_text_can_be_kept(scene: NotesScene) -> None:
    for text in ("\ud83d\ude00 \ud800 a\x00b", "`'\"; -- %s {}", "会话令牌", "x" * 10_000, "```\n#no", "\u202eabc"):
        saved = await scene.save(text[:100], text)
        assert saved.note in scene.notes()
        json.dumps(saved.note.body).encode()


async def test_what_is_for_this_repository_alone_changes_no_global_note_of_that_id(scene: NotesScene) -> None:
    everywhere = (await scene.save("Style", "Short sentences.", id="style", scope=GLOBAL)).note
    assert (await scene.save("Style", "Long ones here.", id="style", scope=HERE)).outcome == "created"
    assert (scene.note("style").body, scene.note("style", GLOBAL)) == ("Long ones here.", everywhere)
    assert (await scene.save("", "Very long ones.", id="style")).note.scope == REPO
    assert (await scene.save("", "Brief.", id="style", scope=GLOBAL)).note.scope == GLOBAL
    await scene.notebook.forget(scene.place, ["style"])
    assert (await scene.save("", "Terse.", id="style")).note.scope == GLOBAL


async def test_a_use_renews_a_note(scene: NotesScene) -> None:
    note = (await scene.save("T", "Something.")).note
    scene.clock.advance(DAY_S)
    scene.notebook.touch([(REPO, note.id), (REPO, "none")])
    used = scene.note(note.id)
    assert (used.use_count, used.used_at_s) == (1, scene.clock.wall_s())
    assert used.expires_at_s == scene.clock.wall_s() + 90 * DAY_S
    assert used.verified_at_s == note.verified_at_s


@pytest.mark.parametrize("note_id", ["t", ""], ids=["updated", "merged"])
async def test_a_clock_that_is_set_back_makes_no_note_older(scene: NotesScene, note_id: str) -> None:
    first = (await scene.save("T", "The pool holds 9 lanes.")).note
    scene.clock.advance(-400 * DAY_S)
    again = await scene.save("T", "The pool holds 9 lanes.", id=note_id)
    assert again.outcome == ("updated" if note_id else "merged")
    for then, now in zip(stamps(first), stamps(again.note), strict=True):
        assert now >= then


def stamps(note: Note) -> tuple[float, ...]:
    assert note.expires_at_s is not None
    return (note.created_at_s, note.updated_at_s, note.verified_at_s, note.expires_at_s)


async def test_working_state_is_kept_by_key(scene: NotesScene) -> None:
    assert scene.notebook.state_get(scene.place, "next step") is None
    for key, value in (("next step", '{"n": 1}'), ("next-step", '"other"'), ("next step", '{"n": 2}')):
        await scene.notebook.state_set(scene.place, key, value)
    assert scene.notebook.state_get(scene.place, "next  step") == '{"n": 2}'
    assert scene.notebook.state_get(scene.place, "next-step") == '"other"'
    assert {note.id for note in scene.notes()} == {"state-next-step", "state-next-step-2"}
    assert scene.note("state-next-step").expires_at_s is None
    with pytest.raises(QuestionError, match="The value of 'next step' is no JSON"):
        await scene.notebook.state_set(scene.place, "next step", "{")
    saved = await scene.save("next step", "[3]", kind="state")
    assert (saved.outcome, scene.notebook.state_get(scene.place, "next step")) == ("updated", "[3]")


async def test_the_log_is_trimmed_once_a_day(scene: NotesScene) -> None:
    await scene.save("One", "The first one.")
    scene.clock.advance(91 * DAY_S)
    await scene.save("Two", "Something else.")
    assert [change.key[1] for change in scene.notebook.log(scene.place, 9)] == ["two"]


async def test_working_state_is_found_however_many_keys_have_the_same_words(scene: NotesScene) -> None:
    keys = [f"a{sign}b" for sign in ".- _/:,;|=+~!?"]
    for number, key in enumerate(keys):
        await scene.notebook.state_set(scene.place, key, str(number))
    assert [scene.notebook.state_get(scene.place, key) for key in keys] == [str(each) for each in range(len(keys))]
    assert (await scene.notebook.state_set(scene.place, keys[-1], "99")).outcome == "updated"
    assert scene.notebook.state_get(scene.place, keys[-1]) == "99"
    assert scene.notebook.state_get(scene.place, "a*b") is None
    await scene.notebook.forget(scene.place, ["state-a-b", "state-a-b-5"])
    assert scene.notebook.state_get(scene.place, keys[-1]) == "99"


GITHUB_TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq3Zk5Vv0nXxN0mQpTj1l0u"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"at": "here <live-memory-notes> there", "n": 1}, {"at": "here ", "n": 1}),
        ("<live-memory-notes>", ""),
        ({"key": PRIVATE_KEY, "n": [1]}, {"key": "[redacted: private key]\n[redacted: private key]", "n": [1]}),
        ({"token": {"x": GITHUB_TOKEN}}, {"token": {"x": "[redacted: GitHub token]"}}),
        ({GITHUB_TOKEN: 1}, {"[redacted: GitHub token]": 1}),
        ({"a\r\nb": " c\r\n\0 "}, {"a\r\nb": " c\r\n\0 "}),
    ],
)
async def test_working_state_stays_json_whatever_is_taken_out_of_it(
    scene: NotesScene, value: object, kept: object
) -> None:
    await scene.notebook.state_set(scene.place, "key", json.dumps(value))
    text = scene.notebook.state_get(scene.place, "key")
    assert text is not None
    assert json.loads(text) == kept


async def test_working_state_that_would_be_torn_is_refused(scene: NotesScene) -> None:
    torn = json.dumps(
        "MIIEowIBAAKCAQEA7bq3Zk5Vv0nXxN0mQpTj1l0u-----END RSA PRIVATE KEY----------BEGIN RSA PRIVATE KEY-----"
    )
    with pytest.raises(QuestionError, match="holds a secret"):
        await scene.notebook.state_set(scene.place, "key", torn)
    for constant in ("NaN", "[" * 100_000):
        with pytest.raises(QuestionError, match="is no JSON"):
            await scene.notebook.state_set(scene.place, "key", constant)


async def test_working_state_that_came_as_a_note_in_words_is_a_text(scene: NotesScene) -> None:
    for words in ("plain words", "NaN", "[" * 10_000):
        await scene.save("key", words, kind="state")
        text = scene.notebook.state_get(scene.place, "key")
        assert text is not None
        assert json.loads(text) == words


async def test_working_state_is_found_by_a_key_that_held_a_secret(scene: NotesScene) -> None:
    await scene.notebook.state_set(scene.place, f"of {GITHUB_TOKEN}", "1")
    assert scene.notebook.state_get(scene.place, f"of {GITHUB_TOKEN}") == "1"
    assert [note.title for note in scene.notes()] == ["of [redacted: GitHub token]"]


@pytest.mark.parametrize("field", ["id", "refs", "supersedes"])
async def test_a_secret_is_no_id(scene: NotesScene, field: str) -> None:
    named: dict[str, Any] = {field: GITHUB_TOKEN if field == "id" else (GITHUB_TOKEN,)}
    with pytest.raises(QuestionError, match=f"{field} names what looks like a secret") as refusal:
        await scene.save("T", "Something.", **named)
    assert GITHUB_TOKEN not in str(refusal.value)


async def test_names_that_hold_a_secret_or_have_no_end_are_not_kept(scene: NotesScene) -> None:
    (scene.place.root / f"{GITHUB_TOKEN}.py").write_text("x")
    files = (f"{GITHUB_TOKEN}.py", f"no-{GITHUB_TOKEN}.py", "long" * 1000, "red\x1b[31m")
    saved = await scene.save("T", "Something.", symbols=("parse_it", GITHUB_TOKEN, "x" * 100_000), files=files)
    assert (saved.note.symbols, saved.note.sources) == (("parse_it",), {})
    assert len(saved.remarks) == len(files)
    assert all(len(remark) < 200 and remark.isprintable() for remark in saved.remarks)
    assert GITHUB_TOKEN not in "".join(saved.remarks)
