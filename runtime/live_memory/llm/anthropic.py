"""Anthropic's Messages API. The SDK is imported, in a thread, by the first request; retries are ours, not its own."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from live_memory.errors import ModelError
from live_memory.llm.anthropic_reply import MessagesReply
from live_memory.llm.base import OF_A_WINDOW, BadRequest, CacheLifetime, Completion, CompletionRequest
from live_memory.llm.breakpoints import Blocks, cacheable_from, message_breakpoints, system_breakpoints
from live_memory.llm.catalog import model_card
from live_memory.llm.choice import Choice
from live_memory.llm.client import CONNECT_TIMEOUT_S, LazyClient, in_time
from live_memory.llm.echoes import Echoes
from live_memory.llm.failures import (
    MalformedReply,
    Refusal,
    broken_off,
    failure,
    no_connection,
    nonsense,
    out_of_time,
    retry_after_s,
)
from live_memory.llm.reply import Json
from live_memory.text.tokens import estimate_tokens
from live_memory.window.messages import Block, Text, ToolCall, ToolSpec, Turn

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

OAUTH_BETA = "oauth-2025-04-20"  # the header value under which api.anthropic.com takes a subscription's token
THINK_UNLESS_TOLD = ("claude-haiku-5", "claude-sonnet-5", "claude-opus-5")
ALWAYS_THINK = ("claude-fable", "claude-mythos")
SCHEMA_COMPLAINT = re.compile(r"output_config|output_format|schema|structured", re.IGNORECASE)
THINKING_ROOM_TOKENS = 4096  # for the models that always think: thoughts count as output


class AnthropicModel:
    """A Model at a Messages endpoint."""

    def __init__(self, choice: Choice) -> None:
        self.provider = choice.provider
        self.name = choice.model
        self._choice = choice
        self._client = LazyClient(choice, _new_client)
        self._thoughts: Echoes[tuple[Json, ...]] = Echoes()
        self._history_blocks: dict[str, int] = {}
        card = model_card(choice.provider, choice.model)
        self._cache_min_tokens = card.cache_min_tokens if card else 0
        self._takes_schemas = True
        self._thinking: Json | None = {"type": "disabled"} if choice.model.startswith(THINK_UNLESS_TOLD) else None

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        """The reply; ModelError's children as base.py says. A refusal and a full answer budget are stop reasons."""
        try:
            return await self._complete_once(request, on_text)
        except BadRequest as error:
            if not self._adapts_to(str(error), request):
                raise
            return await self.complete(request, on_text)

    def _adapts_to(self, complaint: str, request: CompletionRequest) -> bool:
        """Whether the next request will be another one: this model always thinks, or takes no schema, and says so."""
        if self._thinking is not None and "thinking" in complaint:
            self._thinking = None
            return True
        if self._takes_schemas and request.json_schema is not None and SCHEMA_COMPLAINT.search(complaint):
            self._takes_schemas = False
            return True
        return False

    async def prepare(self) -> None:
        await self._client.started()

    async def close(self) -> None:
        await self._client.close()

    async def _complete_once(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        async with in_time(self._choice, request.timeout_s):
            client = await self._client.started()
            reply = await self._streamed(client, request, on_text)
        return self._finished(reply, request)

    async def _streamed(
        self, client: AsyncAnthropic, request: CompletionRequest, on_text: Callable[[str], None]
    ) -> MessagesReply:
        import anthropic
        import httpx2

        reply = MessagesReply(request.max_output_tokens)
        try:
            stream = await client.messages.create(
                **self._body(request),
                stream=True,
                timeout=anthropic.Timeout(request.timeout_s, connect=min(CONNECT_TIMEOUT_S, request.timeout_s)),
                extra_headers=await self._auth_headers(),
            )
            async with stream:
                await reply.read(stream, on_text)
        except (anthropic.AnthropicError, httpx2.HTTPError, MalformedReply, ValueError, RecursionError) as error:
            raise self._translated(error, request.timeout_s) from error
        return reply

    def _finished(self, reply: MessagesReply, request: CompletionRequest) -> Completion:
        reply.require_whole(self._choice)
        calls = reply.tool_calls()
        if calls and reply.thoughts():
            self._thoughts.keep(calls[0].id, reply.thoughts())
        if request.purpose not in OF_A_WINDOW:
            return Completion(reply.text(), calls, reply.usage, reply.stop_reason())
        prompt = request.prompt  # a history holds no thoughts, so its blocks count the same in every request
        self._history_blocks[request.cache_key] = sum(
            len(self._content(t)) for t in prompt.turns[: prompt.prefix_turns]
        )
        return Completion(reply.text(), calls, reply.usage, reply.stop_reason())

    async def _auth_headers(self) -> dict[str, Any]:
        from anthropic import omit

        choice = self._choice
        if choice.auth == "key":
            return {"X-Api-Key": choice.api_key, "Authorization": omit}
        if choice.auth == "none":
            return {"Authorization": omit}
        token = await asyncio.to_thread(choice.read_token) if choice.read_token else choice.api_key
        headers: dict[str, Any] = {"Authorization": f"Bearer {token}"}
        return headers | ({"anthropic-beta": OAUTH_BETA} if choice.auth == "subscription" else {})

    def wire(self, request: CompletionRequest) -> Json:
        """What is sent for `request`, for the trace."""
        return self._body(request)

    def _body(self, request: CompletionRequest) -> Json:
        prompt = request.prompt
        turns = [self._content(turn) for turn in prompt.turns]
        system: list[Json] = [{"type": "text", "text": part} for part in prompt.system if part]
        tools = [_tool(tool) for tool in prompt.tools]
        self._mark(request, tools, system, turns)
        body: Json = {
            "model": self.name,
            "max_tokens": request.max_output_tokens + self._thinking_room_tokens(),
            "messages": [
                {"role": turn.role, "content": content}
                for turn, content in zip(prompt.turns, turns, strict=True)
                if content
            ],
        }
        if system:
            body["system"] = system
        if tools:
            body["tools"] = tools
        if self._thinking:
            body["thinking"] = self._thinking
        if request.json_schema is not None and self._takes_schemas:
            body["output_config"] = {"format": {"type": "json_schema", "schema": dict(request.json_schema)}}
        return body

    def _mark(self, request: CompletionRequest, tools: list[Json], system: list[Json], turns: list[list[Json]]) -> None:
        """Set the breakpoints. What the next question will not begin with (this one's rounds) is kept for five minutes."""
        blocks = [block for content in turns for block in content]
        counted = self._counted(request, [len(content) for content in turns])
        marks = message_breakpoints(counted)
        sizes = (sum(map(_tokens, parts)) for parts in (tools, *([part] for part in (*system, *blocks))))
        first = cacheable_from(sizes, self._cache_min_tokens) - 1  # the tools are one part, which carries no mark
        for index in system_breakpoints(len(system), len(marks)):
            if index >= first:
                system[index]["cache_control"] = _cache_control(request.cache_lifetime)
        for index in marks:
            if index + len(system) >= first:
                lasting = index < counted.history
                blocks[index]["cache_control"] = _cache_control(request.cache_lifetime if lasting else "5m")

    def _thinking_room_tokens(self) -> int:
        thinks = self._thinking is None and self.name.startswith((*ALWAYS_THINK, *THINK_UNLESS_TOLD))
        return THINKING_ROOM_TOKENS if thinks else 0

    def _content(self, turn: Turn) -> list[Json]:
        """A turn's blocks; the API takes no empty text, and wants a round's thoughts back before its tool calls."""
        content = [_block(block) for block in turn.blocks if not isinstance(block, Text) or block.text]
        first_call = next((block for block in turn.blocks if isinstance(block, ToolCall)), None)
        thoughts = self._thoughts.of(first_call.id) if first_call else None
        return [*(dict(thought) for thought in thoughts or ()), *content]

    def _counted(self, request: CompletionRequest, sizes: list[int]) -> Blocks:
        prompt = request.prompt
        rounds = [i for i, turn in enumerate(prompt.turns) if i >= prompt.prefix_turns and turn.role == "assistant"]
        history = sum(sizes[: prompt.prefix_turns])
        earlier = self._history_blocks.get(request.cache_key, 0)
        return Blocks(
            total=sum(sizes),
            history=history,
            earlier_history=earlier if earlier < history else 0,
            before_round=sum(sizes[: rounds[-1]]) if rounds else history,
        )

    def _translated(self, error: Exception, timeout_s: float) -> ModelError:
        """The one place where the SDK's errors become base.py's."""
        import anthropic
        import httpx2

        if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
            return out_of_time(self._choice, timeout_s)
        if isinstance(error, anthropic.APIStatusError):
            return failure(_refusal(error), self._choice)
        if isinstance(error, anthropic.APIConnectionError | httpx2.ConnectError):
            return no_connection(self._choice)
        if isinstance(error, httpx2.TransportError):
            return broken_off(self._choice)
        return nonsense(self._choice)


def _new_client(choice: Choice) -> AsyncAnthropic:
    """A client that knows no key: each request carries its own. Blocking: the import alone takes a second or two."""
    import anthropic

    client = anthropic.AsyncAnthropic(api_key="-", base_url=choice.base_url, max_retries=0, open_telemetry=False)
    _ = client.messages  # imports the rest here, off the event loop
    return client


def _cache_control(lifetime: CacheLifetime) -> Json:
    return {"type": "ephemeral", "ttl": "1h"} if lifetime == "1h" else {"type": "ephemeral"}


def _tokens(part: Json) -> int:
    """The estimated size of a tool, a system text or a block."""
    return estimate_tokens(part["text"] if part.get("type") == "text" else json.dumps(part, ensure_ascii=False))


def _tool(tool: ToolSpec) -> Json:
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}


def _block(block: Block) -> Json:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, ToolCall):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": _object(block.arguments_json)}
    return {"type": "tool_result", "tool_use_id": block.call_id, "content": block.text, "is_error": block.is_error}


def _object(arguments_json: str) -> Json:
    """The arguments as the object that the API wants; a broken text is sent back under a name of its own."""
    try:
        value = json.loads(arguments_json)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"unparsed": arguments_json}


def _refusal(error: Any) -> Refusal:
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    said = inner if isinstance(inner, dict) else {}
    in_stream = error.status_code < HTTPStatus.BAD_REQUEST
    return Refusal(
        status=0 if in_stream else error.status_code,
        kind=str(said.get("type") or ""),
        message=str(said.get("message") or (inner if isinstance(inner, str) else "")),
        retry_after_s=None if in_stream else retry_after_s(error.response.headers),
        limit_tokens=said["n_ctx"] if isinstance(said.get("n_ctx"), int) else None,
    )
