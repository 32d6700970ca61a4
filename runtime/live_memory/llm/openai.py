"""Any OpenAI-compatible /chat/completions. The SDK is imported, in a thread, by the first request; retries are ours.

The prompt is rendered so that what a later request shares with an earlier one is a prefix of its bytes: the texts of
neighbouring turns of one side are joined, and nothing before the trailing turn depends on it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from live_memory.errors import ModelError
from live_memory.llm.base import BadRequest, Completion, CompletionRequest, Usage
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
from live_memory.llm.openai_reply import ChatReply, Echo
from live_memory.llm.providers import OPENAI, provider_named
from live_memory.llm.reply import Json
from live_memory.window.messages import Prompt, Text, ToolCall, ToolResult, ToolSpec, Turn

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CACHE_KEY_CHARS = 32
CHARS_PER_TOKEN = 4  # for a server that counts nothing
BLOCK_SEPARATOR = "\n\n"
FIRST_REASONING_GPT = 5
NEW_LENGTH_NAME = (
    "max_completion_tokens"  # what OpenAI's own models want; most compatible servers know the old one only
)


class OpenAIModel:
    """A Model at a /chat/completions endpoint."""

    def __init__(self, choice: Choice) -> None:
        self.provider = choice.provider
        self.name = choice.model
        self._choice = choice
        self._client = LazyClient(choice, _new_client)
        self._echoes: Echoes[Echo] = Echoes()
        self._length_name = NEW_LENGTH_NAME if choice.provider == OPENAI.name else "max_tokens"
        self._refused: set[str] = set()  # optional parameters this server has rejected

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        """The reply; ModelError's children as base.py says. A refusal and a full answer budget are stop reasons.

        An optional parameter that the server rejects by name is left out from then on."""
        while True:
            optional = self._optional(request)
            try:
                return await self._complete_once(request, optional, on_text)
            except BadRequest as error:
                if not self._adapts_to(str(error), optional):
                    raise

    def wire(self, request: CompletionRequest) -> Json:
        """What is sent for `request`, for the trace."""
        tools = [_tool(tool) for tool in request.prompt.tools]
        return {
            "model": self.name,
            "messages": self._messages(request.prompt),
            "tools": tools,
            self._length_name: request.max_output_tokens,
            **self._optional(request),
        }

    async def prepare(self) -> None:
        await self._client.started()

    async def close(self) -> None:
        await self._client.close()

    async def _complete_once(
        self, request: CompletionRequest, optional: Mapping[str, object], on_text: Callable[[str], None]
    ) -> Completion:
        async with in_time(self._choice, request.timeout_s):
            client = await self._client.started()
            reply = await self._streamed(client, request, optional, on_text)
        return self._finished(reply, request)

    async def _streamed(
        self,
        client: AsyncOpenAI,
        request: CompletionRequest,
        optional: Mapping[str, object],
        on_text: Callable[[str], None],
    ) -> ChatReply:
        import httpx2
        import openai

        reply = ChatReply(request.max_output_tokens)
        try:
            stream = await client.chat.completions.create(
                model=self.name,
                messages=self._messages(request.prompt),
                stream=True,
                tools=[_tool(tool) for tool in request.prompt.tools] or openai.omit,
                extra_body={self._length_name: request.max_output_tokens, **optional},
                timeout=openai.Timeout(request.timeout_s, connect=min(CONNECT_TIMEOUT_S, request.timeout_s)),
                extra_headers={"Authorization": openai.omit} if self._choice.auth == "none" else {},
            )
            async with stream:
                await reply.read(stream, on_text)
        except (openai.OpenAIError, httpx2.HTTPError, MalformedReply, ValueError, RecursionError) as error:
            raise self._translated(error, request.timeout_s) from error
        return reply

    def _finished(self, reply: ChatReply, request: CompletionRequest) -> Completion:
        reply.require_whole(self._choice)
        calls = reply.tool_calls()
        for call, echo in zip(calls, reply.echoes(), strict=True):
            self._echoes.keep(call.id, echo)
        usage = reply.usage or self._estimated(request, reply)
        return Completion(reply.text(), calls, usage, reply.stop_reason())

    def _optional(self, request: CompletionRequest) -> Json:
        """What a compatible server may not know: usage in the stream, routing by cache key, reasoning off, a reply's schema."""
        provider = provider_named(self.provider)
        wanted: Json = {"stream_options": {"include_usage": True}}
        if provider is not None:
            wanted |= provider.extras if provider is not OPENAI or _reasons(self.name) else {}
            if provider.has_cache_key and request.cache_key:
                digest = hashlib.sha256(request.cache_key.encode()).hexdigest()
                wanted["prompt_cache_key"] = digest[:CACHE_KEY_CHARS]  # a path is nobody's business
        if request.json_schema is not None:
            named = {"name": "reply", "strict": True, "schema": dict(request.json_schema)}
            wanted["response_format"] = {"type": "json_schema", "json_schema": named}
        return {name: value for name, value in wanted.items() if name not in self._refused}

    def _adapts_to(self, complaint: str, optional: Mapping[str, object]) -> bool:
        """Whether the next request will be another one: without what the server named, or with its name for a length."""
        refused = {name for name in optional if name in complaint}
        self._refused |= refused
        wants_new_name = NEW_LENGTH_NAME in complaint and self._length_name != NEW_LENGTH_NAME
        if wants_new_name:
            self._length_name = NEW_LENGTH_NAME
        return bool(refused) or wants_new_name

    def _messages(self, prompt: Prompt) -> Any:
        system = BLOCK_SEPARATOR.join(part for part in prompt.system if part)
        messages: list[Json] = [{"role": "system", "content": system}] if system else []
        for turn in prompt.turns:
            for message in self._turn_messages(turn):
                if message["role"] == "user" and messages and messages[-1]["role"] == "user":
                    messages[-1]["content"] += BLOCK_SEPARATOR + message["content"]
                else:
                    messages.append(message)
        return messages

    def _turn_messages(self, turn: Turn) -> Iterator[Json]:
        for block in turn.blocks:
            if isinstance(block, ToolResult):
                yield {"role": "tool", "tool_call_id": block.call_id, "content": block.text}
        text = BLOCK_SEPARATOR.join(block.text for block in turn.blocks if isinstance(block, Text) and block.text)
        calls = [block for block in turn.blocks if isinstance(block, ToolCall)]
        if calls:
            echo = self._echoes.of(calls[0].id) or Echo()
            yield {
                "role": "assistant",
                "content": text or None,
                **echo.of_message,
                "tool_calls": [*map(self._call, calls)],
            }
        elif text:
            yield {"role": turn.role, "content": text}

    def _call(self, call: ToolCall) -> Json:
        echo = self._echoes.of(call.id) or Echo()
        function = {"name": call.name, "arguments": _valid_json(call.arguments_json)}
        return {"id": call.id, "type": "function", "function": function, **echo.of_call}

    def _estimated(self, request: CompletionRequest, reply: ChatReply) -> Usage:
        sent = json.dumps(self._messages(request.prompt), ensure_ascii=False)
        written = reply.text() + "".join(call.arguments_json for call in reply.tool_calls())
        return Usage(input_tokens=len(sent) // CHARS_PER_TOKEN, output_tokens=len(written) // CHARS_PER_TOKEN)

    def _translated(self, error: Exception, timeout_s: float) -> ModelError:
        """The one place where the SDK's errors become base.py's."""
        import httpx2
        import openai

        if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
            return out_of_time(self._choice, timeout_s)
        if isinstance(error, openai.APIConnectionError):
            broke = isinstance(error.__cause__, httpx2.ReadError | httpx2.RemoteProtocolError)
            return broken_off(self._choice) if broke else no_connection(self._choice)
        if isinstance(error, openai.APIError) and (error.body or isinstance(error, openai.APIStatusError)):
            return failure(_refusal(error), self._choice)
        if isinstance(error, httpx2.TransportError):
            return broken_off(self._choice)
        return nonsense(self._choice)


def _new_client(choice: Choice) -> AsyncOpenAI:
    """Blocking: the import alone takes a second or so."""
    import openai

    client = openai.AsyncOpenAI(api_key=choice.api_key or "-", base_url=choice.base_url, max_retries=0)
    _ = client.chat.completions  # imports the rest here, off the event loop
    return client


def _tool(tool: ToolSpec) -> Any:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)}
    return {"type": "function", "function": function}


def _valid_json(arguments_json: str) -> str:
    """The arguments as they were written; servers that parse them get a broken text under a name of its own."""
    try:
        json.loads(arguments_json)
    except (ValueError, RecursionError):
        return json.dumps({"unparsed": arguments_json})
    return arguments_json


def _reasons(model: str) -> bool:
    """Whether an OpenAI model reasons unless told otherwise: those of GPT-5 and later."""
    generation = model.removeprefix("gpt-")[:1]
    return model.startswith("gpt-") and generation.isdigit() and int(generation) >= FIRST_REASONING_GPT


def _refusal(error: Any) -> Refusal:
    body = error.body
    if isinstance(body, list) and body:  # Gemini wraps its error in a list
        body = body[0]
    said = body.get("error", body) if isinstance(body, dict) else {}
    said = said if isinstance(said, dict) else {"message": str(said)}
    code = said.get("code")
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or (code if isinstance(code, int) else 0)
    kinds = (said.get("type"), code if isinstance(code, str) else "", said.get("status"))
    return Refusal(
        status=status,
        kind=" ".join(str(kind) for kind in kinds if kind),
        message=str(said.get("message") or (body if isinstance(body, str) else json.dumps(said) if said else "")),
        retry_after_s=retry_after_s(response.headers) if response is not None else None,
        limit_tokens=said["n_ctx"] if isinstance(said.get("n_ctx"), int) else None,
    )
