"""The route of dreams."""

from __future__ import annotations

import json

import pytest
from server.desks import HandDesk, HandDreams, request_of, state_of

from live_memory.server.routes import dispatch
from live_memory.server.state import ServerState


async def dreamt(state: ServerState, **fields: str) -> tuple[int, dict[str, object]]:
    response = await dispatch(state, request_of("POST", "/dream", json.dumps(fields).encode()))
    return response.status, json.loads(response.body)


@pytest.mark.parametrize("mode", ["run", "force", "dry-run", "status", "undo"])
async def test_a_dream_is_asked_for_by_its_mode(mode: str) -> None:
    desk = HandDesk()
    state = state_of(desk)
    assert await dreamt(state, cwd="/repo", mode=mode) == (200, {"state": "done"})
    assert isinstance(state.dreams, HandDreams)
    assert state.dreams.asked == [("/repo", mode)]
    assert desk.clients == (mode != "status")


async def test_another_mode_is_refused_and_no_mode_is_a_run() -> None:
    state = state_of(HandDesk())
    status, answer = await dreamt(state, cwd="/repo", mode="nap")
    assert (status, answer["error"]["code"]) == (400, "bad-field")  # type: ignore[index]
    await dreamt(state, cwd="/repo")
    assert isinstance(state.dreams, HandDreams)
    assert state.dreams.asked == [("/repo", "run")]


async def test_the_stats_tell_of_dreams() -> None:
    response = await dispatch(state_of(HandDesk()), request_of("GET", "/stats"))
    assert json.loads(response.body)["dream"] == {"runs": 0}
