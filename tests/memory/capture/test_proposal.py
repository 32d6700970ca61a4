"""What a model's reply holds, the gate before it, and the notes that come of it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_memory.memory.asking import BadShape
from live_memory.memory.capture.gate import is_substantial, priority
from live_memory.memory.capture.harvest import Harvest, parse_harvest
from live_memory.memory.capture.proposal import (
    SCHEMA,
    Candidate,
    SessionAccount,
    parse_account,
    parse_proposal,
)
from live_memory.memory.capture.session_note import plain_account, session_draft
from live_memory.memory.transcripts import Survey
from live_memory.settings import Settings

NOTE = {"kind": "decision", "title": "Redis", "description": "d", "body": "b", "evidence": "e", "files": ["a.py"]}
REPLY = {"notes": [NOTE], "session": {"topic": "t", "done": ["x"], "open": []}}
CANDIDATE = Candidate("decision", "Redis", "d", "b", "e", ("a.py",))


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "Here it is:\n{}\nThat is all."])
def test_the_object_is_found_whatever_stands_around_it(around: str) -> None:
    proposal = parse_proposal(around.replace("{}", json.dumps(REPLY)))
    assert proposal.candidates == (CANDIDATE,)
    assert proposal.account == SessionAccount("t", ("x",), ())


@pytest.mark.parametrize("text", ["", "NONE", "[1]", '{"notes": 1}', '{"notes": [{"kind": ', "{" * 100_000, "{}"])
def test_a_reply_without_such_an_object_is_out_of_shape(text: str) -> None:
    with pytest.raises(BadShape):
        parse_proposal(text)


def test_what_is_no_note_is_passed_over_and_what_is_too_long_is_cut() -> None:
    odd = [1, None, {"title": 7}, {**NOTE, "title": "x" * 9999, "files": "a.py"}]
    proposal = parse_proposal(json.dumps({"notes": odd, "session": "none"}))
    assert [candidate.title for candidate in proposal.candidates] == ["", "x" * 160]
    assert proposal.candidates[1].files == ()
    assert proposal.account == SessionAccount()


@given(st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["notes", "session", "title", "kind", "files", "done"]), x)))  # fmt: skip
def test_any_json_is_a_proposal_or_out_of_shape(value: object) -> None:
    with suppress(BadShape):
        parse_proposal(json.dumps(value))


def test_the_schema_is_one_that_providers_can_hold_a_reply_to() -> None:
    def check(schema: object) -> None:
        assert isinstance(schema, dict)
        if schema["type"] == "object":
            assert schema["required"] == list(schema["properties"])
            assert schema["additionalProperties"] is False
            for each in schema["properties"].values():
                check(each)
        elif schema["type"] == "array":
            check(schema["items"])

    check(SCHEMA)


def test_a_harvest_comes_back_as_it_was_kept_where_it_fits() -> None:
    harvest = Harvest(10, 20, "mark", (CANDIDATE,), SessionAccount("t", ("x",), ("y",)), 3, True)
    assert parse_harvest(harvest.to_json(), 10) == harvest
    assert parse_harvest(harvest.to_json(), 11) is None
    assert parse_harvest("{}", 10) is None
    assert parse_account("nonsense") == SessionAccount()


@pytest.mark.parametrize(
    ("survey", "expected"),
    [
        (Survey(turns=2, chars=400), True),
        (Survey(turns=1, chars=400, edits=1), True),
        (Survey(turns=1, chars=40_000), False),
        (Survey(turns=9, chars=399, edits=9), False),
    ],
)
def test_a_session_is_worth_a_model_when_enough_was_said_and_asked_or_edited(survey: Survey, expected: bool) -> None:
    assert is_substantial(survey, Settings()) is expected
    assert not is_substantial(Survey(turns=1, chars=400, edits=1), Settings(capture_min_edits=0))


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("decision", "Redis.", "P0"),
        ("preference", "Short commits.", "P0"),
        ("root-cause", "The flush ran first. The commit came later. A lock mends it.", "P1"),
        ("root-cause", "The flush ran before the commit.", "P2"),
        ("reference", "先运行迁移。再部署。最后清理缓存。", "P1"),
        ("reference", "Ok. Yes. No. Perhaps. The dashboard is at grafana.test.", "P2"),
    ],
)
def test_decisions_are_kept_for_ever_three_facts_longer_than_fewer(kind: str, body: str, expected: str) -> None:
    assert priority(Candidate(kind, "t", "", body, "e")) == expected


def test_a_sessions_note_says_what_was_done_and_what_is_open() -> None:
    account = SessionAccount("Port clash", ("found the cause",), ("write the test", "tell Ann"))
    draft = session_draft("AB12-CD34-ffff", account)
    assert draft is not None
    assert (draft.id, draft.title, draft.status) == ("session-ab12cd34", "Port clash", "open")
    assert draft.body == "Done:\n- found the cause\n\nOpen:\n- write the test\n- tell Ann"
    assert (draft.description, draft.kind) == ("write the test", "session")
    assert session_draft("x", SessionAccount()) is None


def test_without_a_model_it_holds_only_what_was_asked_and_edited() -> None:
    survey = Survey(user_texts=((1, "Mend the\nport"), (2, "And test it " * 40)), edited=("/r/a.py", "/other/b.py"))
    account = plain_account(survey, Path("/r"))
    assert account.topic == "Mend the port"
    assert account.done[:2] == ("edited a.py", "edited /other/b.py")
    assert account.done[2].startswith("last asked: And test it")
    assert plain_account(Survey(), Path("/r")) == SessionAccount()
