"""The stdio bridge with the real thing on both ends: the MCP SDK's own stdio client, and the server it starts itself."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from cli.repository import small_repository
from lifecycle.command import COMMAND, Machine, machine, until
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent
from support.provider_server import ProviderServer, WireReply, provider_server

ERAS = ["auto", "legacy"]
WAIT_S = 30
TOOL = "ask_live_memory"
QUESTION = {"question": "Where is the harbour opened?"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_repository(tmp_path_factory.mktemp("bridge") / "repository")


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine whose packages are installed; the first bridge starts its server, which serves the whole module."""
    with machine(tmp_path_factory.mktemp("ready")) as made:
        made.borrow_packages()
        yield made


@asynccontextmanager
async def client_of(ready: Machine, cwd: Path, era: str = "auto", **more: str) -> AsyncIterator[Client]:
    """The SDK's client, talking to `live-memory mcp` started in `cwd`."""
    parameters = StdioServerParameters(command=COMMAND, args=["mcp"], env={**ready.environment, **more}, cwd=cwd)
    async with Client(stdio_client(parameters, errlog=sys.stderr), mode=era) as client:
        yield client


def text_of(result: object) -> str:
    assert isinstance(result, CallToolResult)
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_of_either_era_starts_the_server_finds_the_tool_and_asks(
    ready: Machine, repository: Path, era: str
) -> None:
    async with client_of(ready, repository, era) as client:
        assert (await client.list_tools()).tools[0].name == TOOL
        result = await client.call_tool(TOOL, QUESTION)
    assert not result.is_error
    assert "harbour.py:" in text_of(result)
    assert "[live-memory] model=passages" in text_of(result)
    assert ready.health()["status"] == "ok", "the server outlives the bridge"


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_killed_between_two_calls_is_back_for_the_second(
    ready: Machine, repository: Path, era: str
) -> None:
    async with client_of(ready, repository, era) as client:
        await client.call_tool(TOOL, QUESTION)
        killed = ready.health()["pid"]
        os.kill(int(str(killed)), signal.SIGKILL)
        assert "harbour.py:" in text_of(await client.call_tool(TOOL, QUESTION))
        assert ready.health()["pid"] != killed


async def test_many_questions_at_once_are_all_answered(ready: Machine, repository: Path) -> None:
    async with client_of(ready, repository) as client, asyncio.timeout(WAIT_S):
        results = await asyncio.gather(*(client.call_tool(TOOL, QUESTION) for _ in range(16)))
    assert all("harbour.py:" in text_of(result) for result in results)


async def test_a_bad_folder_is_a_tool_error_in_a_sentence(ready: Machine, repository: Path) -> None:
    async with client_of(ready, repository) as client:
        result = await client.call_tool(TOOL, {**QUESTION, "cwd": "/"})
    assert result.is_error
    assert "whole file system" in text_of(result)


@pytest.fixture(scope="module")
def silent_provider() -> Iterator[ProviderServer]:
    """A model that takes the question and never answers."""
    with provider_server() as provider:
        provider.answer(WireReply(chunks=(b": thinking\n\n",), ending="hangs"))
        yield provider


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory, silent_provider: ProviderServer) -> Iterator[Machine]:
    """A machine whose server asks that model."""
    chosen = {"PROVIDER": "openai", "BASE_URL": silent_provider.address + "/v1", "MODEL": "some-model"}
    extra = {f"LIVE_MEMORY_{name}": value for name, value in chosen.items()}
    with machine(tmp_path_factory.mktemp("patient"), **extra) as made:
        made.borrow_packages()
        yield made


def stats(patient: Machine, repository: Path) -> dict[str, object]:
    done = patient.run("stats", "--json", "--cwd", str(repository))
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert isinstance(shown, dict)
    return shown


@pytest.mark.parametrize("era", ERAS)
async def test_a_cancelled_call_ends_the_work_in_the_server(
    patient: Machine, repository: Path, silent_provider: ProviderServer, era: str
) -> None:
    silent_provider.requests.clear()
    progressed = anyio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        progressed.set()

    async with client_of(patient, repository, era) as client, asyncio.timeout(WAIT_S):
        call = asyncio.create_task(client.call_tool(TOOL, QUESTION, progress_callback=on_progress))
        await progressed.wait()
        await asyncio.to_thread(until, lambda: silent_provider.requests, "the model was asked")
        assert stats(patient, repository)["running"] == 1
        call.cancel()
        await asyncio.to_thread(until, lambda: stats(patient, repository)["running"] == 0, "the work ended")
        assert (await client.list_tools()).tools[0].name == TOOL, "the bridge goes on"


async def test_a_client_that_ends_in_the_middle_leaves_no_work_behind(
    patient: Machine, repository: Path, silent_provider: ProviderServer
) -> None:
    silent_provider.requests.clear()
    async with client_of(patient, repository) as client:
        call = asyncio.create_task(client.call_tool(TOOL, QUESTION))
        await asyncio.to_thread(until, lambda: silent_provider.requests, "the model was asked")
        call.cancel()
    await asyncio.to_thread(until, lambda: stats(patient, repository)["running"] == 0, "the work ended")
