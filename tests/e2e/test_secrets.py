"""A real server before a scripted provider: every shape of secret on every road into it, and none comes out anywhere.

Looked at are the requests to the model, the answers, the database's bytes, the logs, the stats and the traced prompts. What only
looks like a secret arrives whole.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from memory.capture.scripts import Script
from server.live import exchange
from server.processes import AUTHORIZATION, RUNTIME, listening, made_data_dir, port_of, serving
from support.prompts import DUMMY_KEY
from support.provider_server import ProviderServer, WireReply, WireRequest, json_reply, provider_server
from support.secrets_corpus import LOOKALIKES, SHAPES, Maker, Planted, planted
from support.wire import chat_stream

ANSWER = "It is so, see main.py:1."
SUMMARISING = "You keep the lasting knowledge of one code base."
CAPTURING = "You keep the lasting knowledge of one project."
PATIENCE_S = 30.0
PASSWORD = "w1nter" + "Sun8flower"  # of the provider's address


@dataclass
class Model:
    """What the provider says: tool calls where a question names some, facts for a summary, else an answer; and each time
    with secrets in it, as if the model had them from elsewhere."""

    leaks: list[Planted]
    calls: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def __call__(self, request: WireRequest) -> WireReply:
        messages = request.body["messages"]
        system = str(messages[0]["content"])
        said = "\n\n".join(plant.text for plant in self.leaks)
        if SUMMARISING in system:
            facts = "\n".join(f"- The client of main.py uses {' '.join(plant.text.split())}" for plant in self.leaks)
            return WireReply(chunks=chat_stream((facts,)))
        if CAPTURING in system:
            return WireReply(chunks=chat_stream((json.dumps({"notes": [], "session": {"topic": said[:400]}}),)))
        if messages[-1]["role"] == "user" and self.calls:
            calls, self.calls = self.calls, []
            return WireReply(chunks=chat_stream(calls=tuple(map(_call, range(len(calls)), calls)), finish="tool_calls"))
        return WireReply(chunks=chat_stream((f"{ANSWER}\n\n{said}",)))


@dataclass
class House:
    """A server at work, and everything that it leaves behind."""

    folder: Path
    port: int
    provider: ProviderServer
    model: Model
    answers: list[str] = field(default_factory=list)

    @property
    def repo(self) -> Path:
        return self.folder / "repo"

    def call(self, method: str, path: str, **body: object) -> dict[str, Any]:
        reply = exchange(self.port, method, path, json.dumps(body).encode() if body else b"", AUTHORIZATION)
        self.answers.append(reply.body.decode())
        assert reply.status == 200, reply.body
        return reply.json()

    def ask(self, question: str) -> str:
        return str(self.call("POST", "/ask", question=question, cwd=str(self.repo))["answer"])

    def notify(self, event: str, *paths: str, **contents: str) -> None:
        named = {path.replace("__", "."): text for path, text in contents.items()}
        for path, text in named.items():
            (self.repo / path).write_text(text)
        self.call("POST", "/notify", cwd=str(self.repo), event=event, paths=[*paths, *named], contents=named)

    def stats(self) -> dict[str, Any]:
        return self.call("GET", f"/stats?cwd={self.repo}")

    def sent(self) -> str:
        """Every string in every request to the model."""
        return "\n".join(text for request in self.provider.requests for text in _strings(request.body))

    def kept(self) -> dict[str, str]:
        """All that is left on the disk, by its name; bytes as they are."""
        places = [*(self.folder / "data").rglob("*"), *(self.folder / "traces").rglob("*")]
        return {path.name: path.read_bytes().decode("utf-8", "replace") for path in places if path.is_file()}


@contextmanager
def house(tmp_path: Path, leaks: list[Planted], **settings: str) -> Iterator[House]:
    made_data_dir(tmp_path)
    model = Model(leaks)
    with provider_server() as provider, listening() as listener:
        provider.answer_by(model)
        address = provider.address.replace("://", f"://user:{PASSWORD}@")
        given = {
            "provider": "openai",
            "model": "some-model",
            "base_url": f"{address}/v1",
            "api_key": DUMMY_KEY,
            "trace_prompts": str(tmp_path / "traces"),
            "log_level": "debug",
            "max_context_tokens": "1000000",
        }
        with serving(tmp_path / "data", listener, (str(RUNTIME),), **(given | settings)) as process:
            yield House(tmp_path, port_of(listener), provider, model)
            process.terminate()
            process.communicate(timeout=PATIENCE_S)


def leaking(text: str, plants: list[Planted]) -> list[str]:
    return [plant.kind for plant in plants if any(secret in text for secret in plant.secrets)]


def assert_nothing_leaks(home: House, plants: list[Planted]) -> None:
    places = {"requests": home.sent(), "answers": "\n".join(home.answers), **home.kept()}
    assert {name: leaking(text, plants) for name, text in places.items() if leaking(text, plants)} == {}
    assert [name for name, text in places.items() if PASSWORD in text] == []
    assert [name for name, text in places.items() if DUMMY_KEY in text] == []
    assert any(name.startswith("live-memory.db") for name in places)
    assert any(name.startswith("0000") for name in places)
    assert "server.log" in places


def page(seed: int) -> str:
    """A text with every secret there is, one below the other."""
    return "\n\n".join(plant.text for plant in planted(seed)) + "\n"


def commit(repo: Path, message: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", "-C", repo, "add", "."], check=True)
    subprocess.run(["git", "-C", repo, *identity, "commit", "-qm", message], check=True)


def test_a_secret_on_any_road_into_a_window_reaches_no_model_and_no_disk(tmp_path: Path) -> None:
    roads = [*range(10)]
    token = SHAPES["GitHub token"](Maker(99))
    with house(tmp_path, planted(9), preload_globs="docs/*.md") as home:
        (home.repo / "docs").mkdir()
        (home.repo / "docs" / "reference.md").write_text(page(0))
        (home.repo / "read.py").write_text(page(1))
        (home.repo / "history.py").write_text("a = 1\n")
        commit(home.repo, f"Use {token}")
        (home.repo / "history.py").write_text(page(2))
        commit(home.repo, page(3))
        subprocess.run(["git", "-C", home.repo, "checkout", "-qb", f"wip/{token}"], check=True)
        (home.repo / f"{token}.py").write_text("b = 2\n")
        home.model.calls = [
            ("Read", {"file_path": "read.py"}),
            ("Grep", {"pattern": ".", "path": "read.py", "head_limit": 1000}),
            ("Grep", {"pattern": "[A-Za-z0-9]{20}", "head_limit": 1000}),
            ("git_search", {"patch": True, "path": "history.py"}),
            ("git_search", {"patch": True, "limit": 5}),
            ("get_changed_files", {}),
            ("find_paths", {"query": "py"}),
        ]
        assert ANSWER in home.ask("How is the client of main.py made?")
        home.notify("edit", seen__py=page(4))
        (home.repo / "noted.py").write_text(page(5))
        home.notify("edit", "noted.py", f"{token}.py")
        home.ask("What was worked with?")
        (home.repo / "noted.py").write_text(page(6))  # whoever changed it told nobody
        home.ask("What is in noted.py now?")
        home.ask(f"What does this mean?\n\n{page(7)}")
        home.model.leaks = planted(8)
        home.ask("What did you say?")
        home.provider.answer_by(lambda _request: json_reply(400, {"error": {"message": f"No: Bearer {token}"}}))
        home.ask("And now?")
        figures = home.stats()
    assert figures["redaction"]["secrets_taken_out"] > 100 * len(roads)
    assert_nothing_leaks(home, [*(plant for seed in roads for plant in planted(seed)), Planted("name", "", (token,))])
    for word in ("seen.py", "noted.py", "docs/reference.md", "history.py"):
        assert word in home.sent()
    assert home.sent().count("[redacted: ") > 100 * len(roads)


def test_what_is_distilled_holds_no_secret_though_the_model_writes_some(tmp_path: Path) -> None:
    with house(tmp_path, planted(0), max_context_tokens="24000", distill_min_interval_s="0") as home:
        for number in range(8):
            text = "".join(f"def function_{number}_{line}(): return {line}\n" for line in range(400))
            home.notify("edit", **{f"module_{number}__py": text})
            home.ask(f"What is in module_{number}.py?")
        deadline_s = time.monotonic() + PATIENCE_S
        while not home.stats()["ledger"]["facts"] and time.monotonic() < deadline_s:
            home.ask(f"Anything new since {time.monotonic()}?")
            time.sleep(0.2)
        assert home.stats()["ledger"]["facts"]
    assert_nothing_leaks(home, planted(0))


def test_what_a_session_s_tools_print_reaches_no_model_and_no_disk(tmp_path: Path) -> None:
    with house(tmp_path, planted(1)) as home:
        home.ask("Who is there?")
        script = Script(tmp_path / "session.jsonl", extra={"cwd": str(home.repo), "sessionId": "s-1"})
        script.user("Deploy the shop, and tell me what you find. " * 20)
        for plant in planted(0):
            script.tool("Bash", plant.text, command=f"cat deploy.env # {plant.text}")
            script.claude(f"It printed {plant.text}")
        script.user(f"We keep Redis for sessions. {page(2)}")
        told = {"cwd": str(home.repo), "session_id": "s-1", "transcript_path": str(script.path)}
        home.call("POST", "/session", event="session-end", size_bytes=script.size_bytes, **told)
        deadline_s = time.monotonic() + PATIENCE_S
        while CAPTURING not in home.sent() and time.monotonic() < deadline_s:
            time.sleep(0.2)
        assert "cat deploy.env" in home.sent()
        home.call("GET", "/sessions")
    assert_nothing_leaks(home, [*planted(0), *planted(1), *planted(2)])


@pytest.mark.parametrize("road", ["read", "told", "asked"])
def test_what_only_looks_like_a_secret_arrives_whole(tmp_path: Path, road: str) -> None:
    text = "\n\n".join(LOOKALIKES) + "\n"
    with house(tmp_path, []) as home:
        if road == "read":
            (home.repo / "look.py").write_text(text)
            home.model.calls = [("Read", {"file_path": "look.py"})]
        if road == "told":
            home.notify("edit", look__py=text)
        home.ask(f"What is this? {text}" if road == "asked" else "What is in look.py?")
        figures = home.stats()
    assert figures["redaction"]["secrets_taken_out"] == 0
    assert [line for line in LOOKALIKES if line not in home.sent()] == []


def _call(number: int, call: tuple[str, dict[str, object]]) -> dict[str, Any]:
    name, arguments = call
    told = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": number, "id": f"call-{number}", "type": "function", "function": told}


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inside in value.items():
            yield name
            yield from _strings(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _strings(inside)
