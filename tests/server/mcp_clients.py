"""The MCP SDK's own client, in both protocol eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from server.live import AUTHORIZATION, PATIENCE_S

ERAS = ["2026-07-28", "legacy"]
ARGUMENTS = {"question": "where is main?", "cwd": "/repo"}


@asynccontextmanager
async def mcp_client(port: int, era: str, headers: dict[str, str] | None = None) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers=AUTHORIZATION | (headers or {}), timeout=PATIENCE_S) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport, mode="auto" if era != "legacy" else "legacy") as client:
            yield client


def text_of(result: object) -> str:
    assert isinstance(result, CallToolResult)
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text
