"""What hooks may tell of sessions over HTTP, and what is told back of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from server.desks import HandCapture, HandDesk, request_of, state_of

from live_memory.memory.capture.reports import SessionReport
from live_memory.server.routes import dispatch
from live_memory.server.state import ServerState

TOLD: dict[str, Any] = {
    "cwd": "/repo",
    "session_id": "aaaa-1111",
    "event": "session-end",
    "transcript_path": "/t/aaaa-1111.jsonl",
    "size_bytes": 1234,
    "reason": "clear",
}


@pytest.fixture
def state() -> ServerState:
    return state_of(HandDesk())


def capture_of(state: ServerState) -> HandCapture:
    assert isinstance(state.capture, HandCapture)
    return state.capture


async def told(state: ServerState, body: object) -> tuple[int, Any]:
    response = await dispatch(state, request_of("POST", "/session", json.dumps(body).encode()))
    return response.status, json.loads(response.body)


async def test_a_report_is_noted_and_counts_as_a_client(state: ServerState) -> None:
    assert await told(state, TOLD) == (200, {"status": "noted"})
    report = SessionReport("/repo", "aaaa-1111", "session-end", "/t/aaaa-1111.jsonl", 1234, "", "clear")
    assert capture_of(state).reports == [report]
    assert isinstance(state.desk, HandDesk)
    assert state.desk.clients == 1


async def test_a_session_may_start_before_it_has_a_transcript(state: ServerState) -> None:
    body = {"cwd": "/repo", "session_id": "a", "event": "session-start", "transcript_path": "", "source": "resume"}
    assert (await told(state, body))[0] == 200


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"event": "lunch"}, "event"),
        ({"event": ["stop"]}, "event"),
        ({"session_id": ""}, "session_id"),
        ({"session_id": "x" * 201}, "session_id"),
        ({"session_id": 7}, "session_id"),
        ({"cwd": None}, "cwd"),
        ({"size_bytes": -1}, "size_bytes"),
        ({"size_bytes": True}, "size_bytes"),
        ({"size_bytes": 1 << 70}, "size_bytes"),
        ({"transcript_path": 7}, "transcript_path"),
        ({"transcript_path": "/t/\ud800.jsonl"}, "transcript_path"),
    ],
)
async def test_a_bad_field_is_named(state: ServerState, changes: dict[str, object], word: str) -> None:
    status, body = await told(state, {**TOLD, **changes})
    assert (status, body["error"]["code"]) == (400, "bad-field")
    assert word in body["error"]["message"]
    assert capture_of(state).reports == []


async def test_sessions_are_listed_by_place_or_by_id(state: ServerState) -> None:
    capture_of(state).listed = ({"session_id": "aaaa-1111"},)
    response = await dispatch(state, request_of("GET", "/sessions?cwd=/repo"))
    assert json.loads(response.body) == {"sessions": [{"session_id": "aaaa-1111"}]}
    await dispatch(state, request_of("GET", "/sessions?session_id=aaaa"))
    assert capture_of(state).asked == [("/repo", ""), ("", "aaaa")]


async def test_stats_show_what_was_captured(state: ServerState) -> None:
    response = await dispatch(state, request_of("GET", "/stats?cwd=/repo"))
    assert json.loads(response.body)["capture"] == {"captured": 0}
