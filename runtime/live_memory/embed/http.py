"""Meaning told by a server: Ollama's `/api/embed`, or any `/embeddings` that speaks as OpenAI's does. Standard library only.

It is sent the texts of notes and prompts, their secrets taken out, and nothing else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from live_memory.llm.providers import is_loopback, shown_address
from live_memory.memory.embedding import EmbeddingError
from live_memory.notes.vectors import Vector, unit

TIMEOUT_S = 20.0
MAX_REPLY_BYTES = 32 * 1024 * 1024
LEVEL = 0.4  # between models whose unrelated texts are at 0.1 and those at 0.7; the notes soon tell
OLLAMA_ADDRESS = "http://127.0.0.1:11434"
OLLAMA_MODEL = "nomic-embed-text"
OPENAI_ADDRESS = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a sort of server is asked: the path below its address, and where its reply has the vectors."""

    path: str
    read: Callable[[Any], list[Any]]


OLLAMA = Dialect("/api/embed", lambda reply: reply["embeddings"])
OPENAI = Dialect(
    "/embeddings",
    lambda reply: [row["embedding"] for row in sorted(reply["data"], key=lambda row: row.get("index", 0))],
)


class _NoRedirect(HTTPRedirectHandler):
    """A key and the texts go to the address that was set, not where it points."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True)
class HttpEmbedder:
    """The Embedder port over a server at `address`, which speaks `dialect`."""

    dialect: Dialect
    address: str
    model: str
    key: str = field(default="", repr=False)
    level: float = LEVEL

    @property
    def name(self) -> str:
        return f"{self.model} at {shown_address(self.address)}"

    @property
    def needs_installation(self) -> bool:
        return False

    def prepare(self) -> None:
        """Ask once, so that what is wrong is known at once."""
        self.embed(["warm"])

    def embed(self, texts: Sequence[str]) -> list[Vector[float]]:
        reply = self._post({"model": self.model, "input": [text or " " for text in texts]})
        try:
            rows = self.dialect.read(reply)
            vectors = [unit(_number(value) for value in row) for row in rows]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EmbeddingError(f"{shown_address(self.address)} gave no vectors") from error
        if len(vectors) != len(texts):
            raise EmbeddingError(f"{shown_address(self.address)} gave {len(vectors)} vectors for {len(texts)} texts")
        return vectors

    def close(self) -> None:
        """Nothing of it runs on."""

    def _post(self, body: Mapping[str, object]) -> Any:
        where = shown_address(self.address)
        headers = {"Content-Type": "application/json", "User-Agent": "live-memory"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        direct = [ProxyHandler({})] if is_loopback(self.address) else []
        try:
            url = self.address.rstrip("/") + self.dialect.path
            request = Request(url, json.dumps(body).encode(), headers)  # noqa: S310  # the settings take http(s) only
            with build_opener(_NoRedirect, *direct).open(request, timeout=TIMEOUT_S) as reply:
                raw = reply.read(MAX_REPLY_BYTES + 1)
        except HTTPError as error:
            with error:
                raise EmbeddingError(f"{where} answered {error.code}{_advice(error.code, self.model)}") from None
        except URLError as error:
            raise EmbeddingError(f"{where} cannot be reached ({error.reason})") from None
        except (OSError, ValueError) as error:
            raise EmbeddingError(f"{where} cannot be reached ({type(error).__name__})") from None
        try:
            return json.loads(raw[:MAX_REPLY_BYTES])
        except (ValueError, RecursionError):
            raise EmbeddingError(f"{where} gave no JSON") from None


NOT_FOUND = 404


def _advice(status: int, model: str) -> str:
    if status in (401, 403):
        return ": set semantic_api_key"
    return f": it may have no model {model}; set semantic_model" if status == NOT_FOUND else ""


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise TypeError("no number")
    return float(value)
