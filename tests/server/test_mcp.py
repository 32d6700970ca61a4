"""The MCP endpoint, spoken to by the SDK's own client in both protocol eras."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp import MCPError
from mcp.types import CallToolResult
from server.desks import HandDesk
from server.live import AUTHORIZATION, PATIENCE_S, LiveServer, live_server
from server.mcp_clients import ARGUMENTS, ERAS, mcp_client, text_of

from live_memory.agent.answers import Question
from live_memory.errors import QuestionError
from live_memory.server.note_tools import NOTE_TOOLS
from live_memory.server.tool import ASK, INSTRUCTIONS, TOOL_DESCRIPTION, TOOL_NAME

SHORTEST_CUT_CHARS = 2048  # where the older of the two measured clients cuts instructions and descriptions


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_of_either_era_finds_the_tools_and_asks(era: str) -> None:
    desk = HandDesk()
    async with live_server(desk) as server, mcp_client(server.port, era) as client:
        assert (client.protocol_version == "2026-07-28") == (era != "legacy")
        assert client.instructions == INSTRUCTIONS
        tool, *others = (await client.list_tools()).tools
        assert tool.name == TOOL_NAME
        assert [other.name for other in others] == [definition.name for definition in NOTE_TOOLS]
        assert tool.input_schema["required"] == ["question"]
        result = await client.call_tool(TOOL_NAME, {**ARGUMENTS, "max_answer_tokens": 300})
        text = text_of(result)
        assert text.startswith("about: where is main?\n\n---\n[live-memory] model=hand-1 ")
        assert not result.is_error
    assert desk.asked == [Question("where is main?", "/repo", 300)]


@pytest.mark.parametrize("era", ERAS)
async def test_an_answer_is_prose_and_nothing_else(era: str) -> None:
    async with live_server(HandDesk()) as server, mcp_client(server.port, era) as client:
        result = await client.call_tool(TOOL_NAME, ARGUMENTS)
        assert isinstance(result, CallToolResult)
        assert result.structured_content is None
        assert [content.type for content in result.content] == ["text"]
        assert not any(tool.output_schema for tool in (await client.list_tools()).tools)


@pytest.mark.parametrize("text", [INSTRUCTIONS, TOOL_DESCRIPTION, *(tool.description for tool in NOTE_TOOLS)])
def test_what_the_model_is_told_fits_where_clients_cut(text: str) -> None:
    assert len(text) < SHORTEST_CUT_CHARS
    assert text.isascii()


def test_the_tool_says_that_it_only_reads() -> None:
    assert ASK.annotations["readOnlyHint"] is True
    assert ASK.annotations["destructiveHint"] is False


@pytest.mark.parametrize("era", ERAS)
async def test_arguments_that_cannot_be_used_come_back_as_a_sentence(era: str) -> None:
    desk = HandDesk()
    unusable: list[tuple[dict[str, object], str]] = [
        ({"question": "q"}, "cwd is missing: pass the absolute path of the repository's root"),
        ({"cwd": "/repo"}, "question is missing"),
        ({"question": 7, "cwd": "/repo"}, "question must be text"),
        ({"question": "q", "cwd": "/repo", "max_answer_tokens": "lots"}, "max_answer_tokens must be"),
        ({}, "question is missing"),
    ]
    async with live_server(desk) as server, mcp_client(server.port, era) as client:
        for arguments, words in unusable:
            result = await client.call_tool(TOOL_NAME, arguments)
            assert result.is_error
            assert words in text_of(result)
    assert not desk.asked


@pytest.mark.parametrize("era", ERAS)
async def test_a_question_the_desk_refuses_comes_back_as_its_sentence(era: str) -> None:
    desk = HandDesk()
    desk.error = QuestionError("bad-cwd", "There is no folder /repo: pass an existing one.")
    async with live_server(desk) as server, mcp_client(server.port, era) as client:
        result = await client.call_tool(TOOL_NAME, ARGUMENTS)
        assert result.is_error
        assert text_of(result) == str(desk.error)


@pytest.mark.parametrize("era", ERAS)
async def test_a_fault_of_ours_is_told_without_its_contents(era: str, caplog: pytest.LogCaptureFixture) -> None:
    desk = HandDesk()
    desk.error = RuntimeError("sk-secret")
    async with live_server(desk) as server, mcp_client(server.port, era) as client:
        result = await client.call_tool(TOOL_NAME, ARGUMENTS)
        assert result.is_error
        assert "sk-secret" not in text_of(result)
    assert "request failed path=/mcp" in caplog.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_that_does_not_exist_is_a_protocol_error(era: str) -> None:
    async with live_server(HandDesk()) as server, mcp_client(server.port, era) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("forget_everything", {})
        assert caught.value.code == -32602
        assert "forget_everything" in caught.value.message


@pytest.mark.parametrize("era", ERAS)
async def test_every_step_of_the_work_is_progress(era: str) -> None:
    desk = HandDesk()
    desk.progress = ("Searching the code", "Read src/main.py", "Writing the answer")
    desk.gate.clear()
    seen: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, message))
        if len(seen) == len(desk.progress):
            desk.gate.set()

    async with live_server(desk) as server, mcp_client(server.port, era) as client:
        async with asyncio.timeout(PATIENCE_S):
            await client.call_tool(TOOL_NAME, ARGUMENTS, progress_callback=note)
    assert seen == [(1, "Searching the code"), (2, "Read src/main.py"), (3, "Writing the answer")]


@pytest.mark.parametrize("era", ERAS)
async def test_a_long_silence_is_broken_by_progress(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("live_memory.server.mcp.PROGRESS_INTERVAL_S", 0.01)
    desk = HandDesk()
    desk.progress = ("Reading",)
    desk.gate.clear()
    seen: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, message))
        if len(seen) == 3:
            desk.gate.set()

    async with live_server(desk) as server, mcp_client(server.port, era) as client:
        async with asyncio.timeout(PATIENCE_S):
            await client.call_tool(TOOL_NAME, ARGUMENTS, progress_callback=note)
    assert seen[:3] == [(1, "Reading"), (2, "Reading"), (3, "Reading")]


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_the_client_cancels_is_not_worked_on(era: str, caplog: pytest.LogCaptureFixture) -> None:
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server, mcp_client(server.port, era) as client:
        calling = asyncio.create_task(client.call_tool(TOOL_NAME, ARGUMENTS))
        async with asyncio.timeout(PATIENCE_S):
            await desk.arrived.wait()
            calling.cancel()
            assert (await desk.cancelled.get()).text == "where is main?"
        desk.gate.set()
        assert text_of(await client.call_tool(TOOL_NAME, ARGUMENTS)).startswith("about:")
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
async def test_a_client_that_hangs_up_cancels_its_call(version: str, caplog: pytest.LogCaptureFixture) -> None:
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server:
        writer = await send_call(server, version, request_id=7)
        async with asyncio.timeout(PATIENCE_S):
            await desk.arrived.wait()
            writer.close()
            assert (await desk.cancelled.get()).text == "where is main?"
        assert (await server.call("GET", "/health")).status == 200
    assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


async def test_a_cancellation_ends_the_call_of_its_own_session_only() -> None:
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server:
        ours, theirs = {"Mcp-Session-Id": "ours"}, {"Mcp-Session-Id": "theirs"}
        writers = [await send_call(server, "2025-11-25", 7, session) for session in (ours, theirs)]
        async with asyncio.timeout(PATIENCE_S):
            while len(desk.asked) < 2:
                await desk.arrived.wait()
                desk.arrived.clear()
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
            stranger = await server.call("POST", "/mcp", cancelled, mcp_headers("2025-11-25", {}))
            assert stranger.status == 202
            assert desk.cancelled.empty()
            await server.call("POST", "/mcp", cancelled, mcp_headers("2025-11-25", ours))
            await desk.cancelled.get()
        assert desk.cancelled.empty()
        assert len(desk.working) == 1
        desk.gate.set()
        for writer in writers:
            writer.close()


async def test_a_session_that_the_server_never_heard_of_is_served() -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with live_server(HandDesk()) as server:
        reply = await server.call("POST", "/mcp", listing, mcp_headers("2025-11-25", {"Mcp-Session-Id": "from before"}))
        assert reply.status == 200
        assert TOOL_NAME.encode() in reply.body


async def test_there_is_no_stream_to_open_and_no_session_to_end() -> None:
    async with live_server(HandDesk()) as server:
        for method in ("GET", "DELETE", "PUT"):
            reply = await server.call(method, "/mcp", headers=mcp_headers("2025-11-25", {"Mcp-Session-Id": "any"}))
            assert reply.status == 405
            assert reply.headers["allow"] == "POST"


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
async def test_a_body_that_is_no_message_is_refused_and_the_server_lives(version: str) -> None:
    async with live_server(HandDesk()) as server:
        for body in (b"", b"{", b"[]", b"null", b'"x"', b"[" * 100_000, b"\xff", b'{"id": {}}'):
            reply = await server.call("POST", "/mcp", body, mcp_headers(version, {}))
            assert 400 <= reply.status < 500, body[:10]
        assert (await server.call("GET", "/health")).status == 200


@pytest.mark.parametrize("era", ERAS)
async def test_64_calls_at_once_are_all_answered(era: str) -> None:
    async with live_server(HandDesk()) as server, mcp_client(server.port, era) as client:
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            calls = [
                tasks.create_task(client.call_tool(TOOL_NAME, {"question": f"q{i}", "cwd": "/repo"})) for i in range(64)
            ]
        answers = [text_of(call.result()).partition("\n")[0] for call in calls]
    assert answers == [f"about: q{i}" for i in range(64)]


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_in_flight_is_answered_by_a_draining_server(era: str) -> None:
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server, mcp_client(server.port, era) as client:
        await (
            client.list_tools()
        )  # the client checks an answer against the listing, and a draining server lists nothing
        calling = asyncio.create_task(client.call_tool(TOOL_NAME, ARGUMENTS))
        await desk.arrived.wait()
        server.state.drain()
        assert (await server.call("POST", "/mcp", {}, mcp_headers("2025-11-25", {}))).status == 503
        desk.gate.set()
        assert text_of(await calling).startswith("about: where is main?")
    assert desk.is_closed


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_outlasts_the_drain_is_told_to_come_back(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("live_memory.server.app.DRAIN_S", 0.05)
    desk = HandDesk()
    desk.gate.clear()
    async with live_server(desk) as server, mcp_client(server.port, era) as client:
        await client.list_tools()
        calling = asyncio.create_task(client.call_tool(TOOL_NAME, ARGUMENTS))
        await desk.arrived.wait()
        server.state.drain()
        result = await calling
        assert result.is_error
        assert "ask again" in text_of(result)


def mcp_headers(version: str, more: dict[str, str]) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
    } | more


async def send_call(
    server: LiveServer, version: str, request_id: int, more: dict[str, str] | None = None
) -> asyncio.StreamWriter:
    """A tool call written to a connection of its own, its answer not awaited."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "1"},
    }
    params = {"name": TOOL_NAME, "arguments": ARGUMENTS, "_meta": meta if version == "2026-07-28" else {}}
    message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
    body = json.dumps(message).encode()
    headers = mcp_headers(version, {"Mcp-Method": "tools/call", "Mcp-Name": TOOL_NAME}) | AUTHORIZATION | (more or {})
    headers |= {"Host": f"127.0.0.1:{server.port}", "Content-Length": str(len(body))}
    head = "POST /mcp HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(head.encode() + body)
    await writer.drain()
    return writer
