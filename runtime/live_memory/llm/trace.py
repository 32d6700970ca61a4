"""Every request as it was sent, one file each, and whether the next one continued it: the prefix doctor's two halves.

A provider reads tools, system text and messages in that order; what is compared here is that order, not the JSON's.
Cache marks are left out of the comparison: they are instructions, not content.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from live_memory.llm.base import OF_A_WINDOW, Completion, CompletionRequest, Model
from live_memory.llm.scripted import shared_chars

logger = logging.getLogger(__name__)

OWNER_ONLY = 0o600
OWNER_ONLY_FOLDER = 0o700
SHOWN_CHARS = 60  # of each side, from shortly before the first difference
SHOWN_BEFORE_CHARS = 20

Json = dict[str, Any]
Part = tuple[str, str]  # what it is, and its text


@runtime_checkable
class WireModel(Model, Protocol):
    """A model that can say what it would send."""

    def wire(self, request: CompletionRequest) -> Json:
        """The body of `request`; never a key."""
        ...


class TracedModel:
    """A model whose every request is written into a folder first."""

    def __init__(self, model: WireModel, folder: Path) -> None:
        self._model = model
        self._folder = folder

    @property
    def provider(self) -> str:
        return self._model.provider

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        try:
            self._write(request)
        except OSError:  # a full disk must not cost an answer
            logger.exception("request not traced folder=%s", self._folder)
        return await self._model.complete(request, on_text)

    async def prepare(self) -> None:
        await self._model.prepare()

    async def close(self) -> None:
        await self._model.close()

    def _write(self, request: CompletionRequest) -> None:
        prompt = request.prompt
        prefix = replace(prompt, turns=prompt.turns[: prompt.prefix_turns])
        sent = {
            "provider": self.provider,
            "model": self.name,
            "purpose": request.purpose,
            "workspace": request.cache_key,
            "prefix_chars": len(text_of(parts_of(self._model.wire(replace(request, prompt=prefix))))),
            "request": self._model.wire(request),
        }
        content = json.dumps(sent, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")
        self._folder.mkdir(mode=OWNER_ONLY_FOLDER, parents=True, exist_ok=True)
        number = max((int(path.stem) for path in numbered(self._folder)), default=0) + 1
        while True:  # another process may take the number
            try:
                opened = os.open(self._folder / f"{number:06}.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
                break
            except FileExistsError:
                number += 1
        with os.fdopen(opened, "wb") as file:
            file.write(content)


def traced(model: Model, folder: str) -> Model:
    """`model`, with its requests written into `folder` where one is named and the model can say what it sends."""
    return TracedModel(model, Path(folder).expanduser()) if folder and isinstance(model, WireModel) else model


def numbered(folder: Path) -> list[Path]:
    """The requests in `folder`, in the order they were sent."""
    return sorted((path for path in folder.glob("*.json") if path.stem.isdigit()), key=lambda path: int(path.stem))


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was written; `prefix_chars` of its text were expected to stand in the next one too."""

    name: str
    model: str
    purpose: str
    workspace: str
    prefix_chars: int
    parts: tuple[Part, ...]

    @classmethod
    def read(cls, path: Path) -> Sent:
        """OSError where it cannot be read, ValueError where it is no request."""
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            model, purpose, workspace = (str(told[key]) for key in ("model", "purpose", "workspace"))
            parts = tuple(parts_of(told["request"]))
            return cls(path.stem, model, purpose, workspace, int(told["prefix_chars"]), parts)
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} holds no traced request") from error


@dataclass(frozen=True, slots=True)
class Pair:
    """Two requests for one window, one after the other. `shared_chars` of `prefix_chars` (the shorter prefix of both) are
    the same; where they are not all, `place` is the part that differs first and `was` and `is_now` are what stands there."""

    earlier: str
    later: str
    prefix_chars: int
    shared_chars: int
    place: str = ""
    was: str = ""
    is_now: str = ""

    @property
    def held(self) -> bool:
        return self.shared_chars >= self.prefix_chars


def pairs(requests: Iterable[Sent]) -> Iterator[Pair]:
    """Each request beside the one before it that the same model got for the same window; what is no window's has none."""
    latest: dict[tuple[str, str], Sent] = {}
    for request in requests:
        if request.purpose not in OF_A_WINDOW:
            continue
        key = (request.model, request.workspace)
        if key in latest:
            yield compared(latest[key], request)
        latest[key] = request


def compared(earlier: Sent, later: Sent) -> Pair:
    """How far `later` continues `earlier`. Of two questions at once the one that began sooner may be sent later: the
    shorter prefix has to hold."""
    one, other = text_of(earlier.parts), text_of(later.parts)
    shared = shared_chars(one, other)
    prefix = min(earlier.prefix_chars, later.prefix_chars)
    if shared >= prefix:
        return Pair(earlier.name, later.name, prefix, shared)
    start = max(0, shared - SHOWN_BEFORE_CHARS)
    was, is_now = one[start : shared + SHOWN_CHARS], other[start : shared + SHOWN_CHARS]
    return Pair(earlier.name, later.name, prefix, shared, _place(earlier.parts, shared), was, is_now)


def text_of(parts: Iterable[Part]) -> str:
    """Everything that a provider reads, in its order. A part's end is not marked: what is appended to one continues it."""
    return "".join(f"\x1e{label}\x1f{text}" if label else text for label, text in _numberless(parts))


def parts_of(body: Json) -> Iterator[Part]:
    """The tools, the system text and each message's blocks of a request's body, in either protocol."""
    for tool in body.get("tools") or ():
        yield f"tool {tool.get('name') or tool.get('function', {}).get('name')}", _plain(tool)
    for number, part in enumerate(_blocks(body.get("system"))):
        yield f"system {number + 1}", _block_text(part)
    for number, message in enumerate(body.get("messages") or (), 1):
        for block in _blocks(message.get("content")):
            yield f"message {number} ({message['role']})", _block_text(block)
        for call in message.get("tool_calls") or ():
            yield f"message {number} ({message['role']})", _plain(call)


def _numberless(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts with a label only where a new one begins."""
    before = ""
    for label, text in parts:
        yield ("" if label == before else label), text
        before = label


def _place(parts: Iterable[Part], offset: int) -> str:
    """The label of the part that `offset` lies in."""
    found = "the end"
    for label, text in _numberless(parts):
        found = label or found
        offset -= len(text) + (len(label) + 2 if label else 0)
        if offset < 0:
            return found
    return "the end"


def _blocks(content: Any) -> list[Any]:
    if content is None:
        return []
    return content if isinstance(content, list) else [content]


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    return str(block["text"]) if block.get("type") == "text" else _plain(block)


def _plain(block: Json) -> str:
    return json.dumps({name: value for name, value in block.items() if name != "cache_control"}, ensure_ascii=False)
