"""MCP without the SDK: what a client sees while packages are missing is what the whole server says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from server.desks import HandDesk, request_of, state_of
from server.live import live_server

from live_memory.errors import QuestionError
from live_memory.server.http import Response
from live_memory.server.routes import dispatch
from live_memory.server.state import Phase

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
INSTALLING = Phase("installing", step="unpacking")
DEGRADED = Phase("degraded", reason="The package index cannot be reached.")
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
ARGUMENTS = {"question": "Where is the door?", "cwd": "/repo"}
CALL = {"name": "ask_live_memory", "arguments": ARGUMENTS}
CLIENT = {"capabilities": {}, "clientInfo": {"name": "peer", "version": "1"}}


def message(method: str, params: dict[str, Any] | None = None, *, era: str = HANDSHAKE) -> dict[str, Any]:
    meta = {"_meta": META} if era == MODERN else {}
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**(params or {}), **meta}}


async def plain(sent: object, phase: Phase, desk: HandDesk | None = None) -> Response:
    return await dispatch(
        state_of(desk or HandDesk(), phase=phase), request_of("POST", "/mcp", json.dumps(sent).encode())
    )


@pytest.mark.parametrize(
    "sent",
    [
        message("initialize", {**CLIENT, "protocolVersion": "2025-11-25"}),
        message("initialize", {**CLIENT, "protocolVersion": "2025-03-26"}),
        message("initialize", {**CLIENT, "protocolVersion": "1999-01-01"}),
        message("ping"),
        message("tools/list"),
        message("tools/call", CALL),
        message("prompts/list"),
        message("server/discover", era=MODERN),
        message("tools/list", era=MODERN),
        message("tools/call", CALL, era=MODERN),
        message("prompts/list", era=MODERN),
        message("ping", era=MODERN),
    ],
    ids=lambda sent: f"{sent['method']}{' modern' if '_meta' in sent['params'] else ''}",
)
async def test_a_client_is_told_what_the_whole_server_tells_it(sent: dict[str, Any]) -> None:
    is_modern = "_meta" in sent["params"]
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN if is_modern else HANDSHAKE,
        **({"Mcp-Method": sent["method"], "Mcp-Name": sent["params"].get("name", "")} if is_modern else {}),
    }
    desk = HandDesk()
    async with live_server(desk) as server:
        whole = await server.call("POST", "/mcp", sent, headers)
    response = await plain(sent, DEGRADED, desk)
    events = [line for line in whole.body.decode().splitlines() if line.startswith("data: {")]
    expected = json.loads(events[-1].removeprefix("data: ") if events else whole.body)
    told = json.loads(response.body)
    for reply in (expected, told):
        result = reply.get("result", {})
        if result.get("isError") is False:
            del result["isError"]  # the default, which the SDK leaves out
    assert told == expected
    assert response.status == whole.status
    assert ("mcp-session-id" in response.headers) == ("mcp-session-id" in whole.headers)


async def test_a_version_of_the_future_is_refused_with_the_ones_we_speak() -> None:
    sent = message("server/discover", era=MODERN)
    sent["params"]["_meta"] = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    response = await plain(sent, INSTALLING)
    assert response.status == 400
    assert json.loads(response.body)["error"]["data"] == {"supported": [MODERN], "requested": "2099-01-01"}


@pytest.mark.parametrize(
    "sent", [{"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 1}]
)
async def test_what_wants_no_reply_gets_none(sent: object) -> None:
    response = await plain(sent, INSTALLING)
    assert (response.status, response.body) == (202, b"")


async def test_while_installing_the_tool_is_there_and_a_call_that_needs_a_model_is_told_to_come_back() -> None:
    desk = HandDesk()
    desk.is_model = True
    assert (await plain(message("tools/list"), INSTALLING, desk)).status == 200
    response = await plain(message("tools/call", CALL), INSTALLING, desk)
    assert (response.status, response.headers["Retry-After"]) == (503, "1")
    assert "unpacking" in response.body.decode()
    assert not desk.asked


async def test_a_degraded_server_answers_a_call() -> None:
    desk = HandDesk()
    desk.is_model = True
    result = json.loads((await plain(message("tools/call", CALL), DEGRADED, desk)).body)["result"]
    assert result["content"][0]["text"].startswith("about: Where is the door?")
    assert result["isError"] is False


@pytest.mark.parametrize(
    "params", [{"name": "ask_live_memory"}, {"name": "ask_live_memory", "arguments": {"cwd": "/repo"}}]
)
async def test_a_call_that_cannot_be_served_says_why_to_the_model(params: dict[str, Any]) -> None:
    result = json.loads((await plain(message("tools/call", params), DEGRADED)).body)["result"]
    assert result["isError"] is True
    assert "question is missing" in result["content"][0]["text"]


async def test_a_question_that_fails_is_a_tool_result_too() -> None:
    desk = HandDesk()
    desk.error = QuestionError("no-folder", "There is no folder /repo.")
    result = json.loads((await plain(message("tools/call", CALL), DEGRADED, desk)).body)["result"]
    assert (result["isError"], result["content"][0]["text"]) == (True, "There is no folder /repo.")


async def test_another_tool_is_unknown() -> None:
    error = json.loads((await plain(message("tools/call", {"name": "rm"}), DEGRADED)).body)["error"]
    assert error["code"] == -32602
    assert "rm" in error["message"]


async def test_a_body_that_is_no_json_object_is_refused() -> None:
    assert (await plain([1], INSTALLING)).status == 400
