"""The two MCP tools that take a question now and give its answer later, where the setting offers them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from mcp import Client, MCPError
from server.desks import HandDesk
from server.live import LiveServer, live_server
from server.mcp_clients import ARGUMENTS, ERAS, mcp_client, text_of

from live_memory.server import mcp
from live_memory.server.plain_mcp import TOOLS
from live_memory.server.tool import RESULT_NAME, SUBMIT_NAME

ALWAYS = [tool.name for tool in TOOLS]


@asynccontextmanager
async def offering(desk: HandDesk, era: str) -> AsyncIterator[tuple[LiveServer, Client]]:
    """A server with the setting on, and a client of it."""
    async with live_server(desk) as server:
        server.state.settings = replace(server.state.settings, async_tools=True)
        async with mcp_client(server.port, era) as client:
            yield server, client


@pytest.mark.parametrize("era", ERAS)
async def test_a_question_is_taken_at_once_and_its_answer_fetched_later(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp, "RESULT_PATIENCE_S", 0.05)
    desk = HandDesk()
    desk.gate.clear()
    async with offering(desk, era) as (_, client):
        assert [tool.name for tool in (await client.list_tools()).tools] == [*ALWAYS, SUBMIT_NAME, RESULT_NAME]
        submitted = text_of(await client.call_tool(SUBMIT_NAME, ARGUMENTS))
        job = {"job_id": submitted.partition("job_id=")[2].partition(":")[0]}
        assert text_of(await client.call_tool(RESULT_NAME, job)).startswith("[running] ")
        desk.gate.set()
        monkeypatch.setattr(mcp, "RESULT_PATIENCE_S", 5.0)
        fetched = text_of(await client.call_tool(RESULT_NAME, job))
        assert fetched.startswith("about: where is main?\n\n---\n[live-memory] model=hand-1 ")
        again = await client.call_tool(RESULT_NAME, job)
        assert again.is_error
        assert "There is no job" in text_of(again)


@pytest.mark.parametrize("era", ERAS)
async def test_they_are_not_there_unless_the_setting_offers_them(era: str) -> None:
    async with live_server(HandDesk()) as server, mcp_client(server.port, era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ALWAYS
        with pytest.raises(MCPError, match=SUBMIT_NAME):
            await client.call_tool(SUBMIT_NAME, ARGUMENTS)


async def test_a_fetch_without_an_id_is_a_sentence() -> None:
    async with offering(HandDesk(), ERAS[0]) as (_, client):
        result = await client.call_tool(RESULT_NAME, {})
        assert result.is_error
        assert "job_id is missing: pass what ask_live_memory_submit returned" in text_of(result)
