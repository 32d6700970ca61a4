"""Embedders over HTTP: what they send, what they read, and how they fail, against a stand-in on 127.0.0.1."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from live_memory.embed.choice import embedder_of
from live_memory.embed.extra import SemanticExtra
from live_memory.embed.http import OLLAMA, OPENAI, HttpEmbedder
from live_memory.embed.local import LocalEmbedder
from live_memory.memory.embedding import EmbeddingError
from live_memory.settings import Settings

KEY = "dummy-key"


@dataclass
class StandIn:
    """Answers every request with `status` and `reply`, and keeps what it was asked."""

    reply: Any = None
    status: int = 200
    asked: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)
    address: str = ""


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    made = StandIn()

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.asked.append((self.path, body, self.headers.get("Authorization", "")))
            self.send_response(made.status)
            if made.status == 307:
                self.send_header("Location", made.address + "/elsewhere")
            self.end_headers()
            self.wfile.write(made.reply if isinstance(made.reply, bytes) else json.dumps(made.reply).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    made.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def test_ollama_is_asked_for_all_texts_at_once(stand_in: StandIn) -> None:
    stand_in.reply = {"embeddings": [[3.0, 4.0], [0.0, 1.0]]}
    embedder = HttpEmbedder(OLLAMA, stand_in.address, "nomic-embed-text")
    one, other = embedder.embed(["first", ""])
    assert [list(one), list(other)] == [pytest.approx([0.6, 0.8]), [0.0, 1.0]]
    assert stand_in.asked == [("/api/embed", {"model": "nomic-embed-text", "input": ["first", " "]}, "")]


def test_an_endpoint_is_shown_its_key_and_may_answer_in_any_order(stand_in: StandIn) -> None:
    stand_in.reply = {"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [2, 0]}]}
    embedder = HttpEmbedder(OPENAI, stand_in.address + "/v1/", "small", KEY)
    assert [list(vector) for vector in embedder.embed(["a", "b"])] == [[1.0, 0.0], [0.0, 1.0]]
    assert stand_in.asked == [("/v1/embeddings", {"model": "small", "input": ["a", "b"]}, f"Bearer {KEY}")]
    assert KEY not in f"{embedder} {embedder.name}"


@pytest.mark.parametrize(
    "reply",
    [{}, [], None, b"<html>", {"embeddings": [[1.0]]}, {"embeddings": [[0.0], [1.0]]}, {"embeddings": [["x"], [1]]}],
)
def test_a_reply_without_the_vectors_is_a_failure(stand_in: StandIn, reply: object) -> None:
    stand_in.reply = reply
    with pytest.raises(EmbeddingError, match="gave"):
        HttpEmbedder(OLLAMA, stand_in.address, "m").embed(["a", "b"])


@pytest.mark.parametrize(
    ("status", "words"), [(401, "answered 401: set semantic_api_key"), (404, "no model m"), (500, "answered 500")]
)
def test_a_refusal_says_what_to_do(stand_in: StandIn, status: int, words: str) -> None:
    stand_in.status = status
    with pytest.raises(EmbeddingError, match=words):
        HttpEmbedder(OPENAI, stand_in.address, "m", KEY).prepare()


def test_texts_and_key_go_nowhere_but_where_they_were_meant_for(stand_in: StandIn) -> None:
    stand_in.status = 307
    with pytest.raises(EmbeddingError, match="answered 307"):
        HttpEmbedder(OPENAI, stand_in.address, "m", KEY).embed(["a"])
    assert len(stand_in.asked) == 1


def test_a_server_that_is_not_there_is_named_without_what_its_address_hides(stand_in: StandIn) -> None:
    with pytest.raises(EmbeddingError, match=r"^http://127\.0\.0\.1:9 cannot be reached"):
        HttpEmbedder(OLLAMA, "http://user:hidden@127.0.0.1:9", "m").prepare()


def test_the_settings_name_the_embedder(tmp_path: Any) -> None:
    packages = SemanticExtra(tmp_path)
    assert embedder_of(Settings(), packages) is None
    assert isinstance(embedder_of(Settings(semantic="local"), packages), LocalEmbedder)
    ollama = embedder_of(Settings(semantic="ollama"), packages)
    assert ollama is not None
    assert ollama.name == "nomic-embed-text at http://127.0.0.1:11434"
    endpoint = embedder_of(
        Settings(semantic="endpoint", semantic_base_url="https://e.example/v1", semantic_model="m"), packages
    )
    assert endpoint is not None
    assert endpoint.name == "m at https://e.example/v1"
