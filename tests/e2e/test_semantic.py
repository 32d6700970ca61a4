"""Search by meaning on a real machine: one setting installs it, and nothing waits for it or fails with it."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from lifecycle.command import Machine, command_lines, machine, until

import _client

INSTALL_LIMIT_S = 180.0
ENGLISH = ("Baskets outlive a session", "The shopping cart of an unknown customer is stored for thirty days.")
ITALIAN = "per quanto tempo conserviamo il carrello di chi non ha fatto l'accesso?"


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Machine]:
    """A machine with the runtime's packages, a repository, and one note that says in English what is asked in Italian."""
    (tmp_path / "repository").mkdir()
    with machine(tmp_path) as made:
        made.borrow_packages()
        yield made


def call(made: Machine, *words: str, **more: str) -> Any:
    done = made.run(*words, "--cwd", str(made.folder / "repository"), "--json", **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def semantic(made: Machine) -> dict[str, Any]:
    figures = call(made, "stats")["semantic"]
    assert isinstance(figures, dict)
    return figures


def save(made: Machine, title: str, body: str) -> None:
    done = made.run("save", title, body, "--cwd", str(made.folder / "repository"))
    assert done.returncode == 0, done.stderr


def found(made: Machine, text: str) -> list[tuple[str, str]]:
    return [(hit["title"], hit["stage"]) for hit in call(made, "search", text)["results"]]


def extras(made: Machine) -> list[str]:
    return sorted(name for name in os.listdir(made.data_dir) if name.startswith("semantic-"))


def turn_on(made: Machine) -> None:
    done = made.run("config", "set", "semantic=local")
    assert done.returncode == 0, done.stderr


def test_an_italian_sentence_finds_the_english_note_once_one_setting_is_set(ready: Machine) -> None:
    ready.ensure()
    save(ready, *ENGLISH)
    save(ready, "The lighthouse burns whale oil", "Nothing else is bright enough.")
    assert ("Baskets outlive a session", "semantic") not in found(ready, ITALIAN)
    turn_on(ready)
    until(lambda: semantic(ready).get("embedded") == 2, "both notes have a vector", INSTALL_LIMIT_S)
    assert semantic(ready)["state"] == "on"
    assert found(ready, ITALIAN)[0] == ("Baskets outlive a session", "semantic")
    assert "search by meaning is on" in ready.run("doctor").stdout
    assert len(extras(ready)) == 1


def test_offline_nothing_waits_and_words_find_what_they_find(ready: Machine, tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    ready.extra["LIVE_MEMORY_WHEELHOUSE"] = str(tmp_path / "wheels")
    ready.extra["LIVE_MEMORY_SEMANTIC"] = "local"
    assert ready.ensure()["status"] == "ok"
    save(ready, *ENGLISH)
    until(lambda: semantic(ready)["state"] == "offline", "the installation has failed", INSTALL_LIMIT_S)
    assert "could not be installed" in semantic(ready)["reason"]
    assert found(ready, "shopping cart thirty days") == [("Baskets outlive a session", "bm25")]
    assert "search by meaning is offline" in ready.run("doctor").stdout
    assert extras(ready) == []


def test_a_server_killed_while_it_installs_leaves_nothing_half_made_and_the_next_one_does_it(ready: Machine) -> None:
    ready.extra["LIVE_MEMORY_SEMANTIC"] = "local"
    pid = ready.ensure()["pid"]
    until(lambda: any(".staging-" in name for name in extras(ready)), "it is installing", INSTALL_LIMIT_S)
    os.kill(int(str(pid)), signal.SIGKILL)
    until(lambda: not installers(ready), "no installer is left")
    assert all(".staging-" in name for name in extras(ready))
    ready.ensure()
    until(lambda: semantic(ready)["state"] == "on", "it is installed", INSTALL_LIMIT_S)
    assert [name for name in extras(ready) if ".staging-" in name] == []


@pytest.fixture
def ollama() -> Iterator[tuple[str, list[float]]]:
    """The address of a stand-in that knows two meanings, and how long it takes to answer."""
    delay_s = [0.0]

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            time.sleep(delay_s[0])
            vectors = [[float("cart" in text or "carrello" in text), float("oil" in text), 0.05] for text in texts]
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(json.dumps({"embeddings": vectors}).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", delay_s
    server.shutdown()
    server.server_close()


def recalled(made: Machine, prompt: str) -> tuple[list[str], float]:
    """The ids that a prompt is given, and the seconds that it waited."""
    address = _client.Address(made.port, _client.read_token(str(made.data_dir)))
    body = {"cwd": str(made.folder / "repository"), "prompt": prompt}
    began_s = time.monotonic()
    status, answer = _client.call(address, "POST", "/recall", body, timeout_s=10)
    assert status == 200, answer
    return [note["id"] for note in answer["notes"]], time.monotonic() - began_s  # type: ignore[attr-defined]


def test_ollama_serves_and_holds_no_prompt_up_when_it_hangs(ready: Machine, ollama: tuple[str, list[float]]) -> None:
    address, delay_s = ollama
    ready.extra |= {"LIVE_MEMORY_SEMANTIC": "ollama", "LIVE_MEMORY_SEMANTIC_BASE_URL": address}
    ready.ensure()
    save(ready, *ENGLISH)
    save(ready, "The lighthouse burns whale oil", "Nothing else is bright enough.")
    until(lambda: semantic(ready).get("embedded") == 2, "both notes have a vector")
    assert found(ready, ITALIAN)[0] == ("Baskets outlive a session", "semantic")
    assert recalled(ready, ITALIAN)[0] == ["baskets-outlive-a-session"]
    delay_s[0] = 3.0
    ids, waited_s = recalled(ready, "dopo quanto scade il carrello di un ospite?")
    assert ids == []
    assert waited_s < delay_s[0] / 2
    assert extras(ready) == []


def installers(made: Machine) -> list[int]:
    mine = os.fsencode(str(made.data_dir / "semantic-"))
    return [pid for pid, words in command_lines() if any(mine in word for word in words)]
