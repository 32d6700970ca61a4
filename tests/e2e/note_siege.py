"""Eight sessions that save and search without a pause, beside questions in a window so small that it is compacted all the
time, on one real server that is killed in the middle. What they were told is held against what is found in the end."""

from __future__ import annotations

import http.client
import json
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e.siege import FILES, SETTINGS, Speaker, answer_to, question_about
from server.live import PATIENCE_S, exchange
from server.processes import AUTHORIZATION, RUNTIME, TOKEN, listening, made_data_dir, port_of, serving
from support import note_client
from support.provider_server import provider_server

from live_memory.wiring import DATABASE_FILE

SESSIONS = 8
SERVER = (str(RUNTIME),)
COMPACTED = "compacted root="
POLL_S = 0.1
HERE = {"capture": "off", "compaction_threshold": "0.5", "compaction_floor": "0.3"}


@dataclass(slots=True)
class Told:
    """All that clients were told, and what they had trouble with. Seconds are those of the requests that succeeded."""

    sent: list[str] = field(default_factory=list)  # bodies, in each client's order
    kept: dict[str, str] = field(default_factory=dict)  # by id, the body that was acknowledged last
    save_s: list[float] = field(default_factory=list)
    search_s: list[float] = field(default_factory=list)
    answers: int = 0
    troubles: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was told, what the database holds in the end (id → body), its own word on its soundness, and the server's log."""

    told: Told
    bodies: dict[str, str]
    integrity: str
    log: str
    damaged: tuple[Path, ...]

    @property
    def lost(self) -> dict[str, str]:
        """The writes that were acknowledged and are not there; one that was sent after it may stand in its place."""
        sent = frozenset(self.told.sent)
        return {
            note_id: body
            for note_id, body in self.told.kept.items()
            if self.bodies.get(note_id) != body and not _is_later(self.bodies.get(note_id, ""), body, sent)
        }


def besieged(folder: Path, seconds: float, clients: int = SESSIONS) -> Outcome:
    """The outcome of `seconds` of work by `clients`, and of as many more as a compaction takes, in the middle of which the
    server is killed; it is killed once more in the end."""
    data_dir = made_data_dir(folder)
    root = (folder / "repo").resolve()
    (root / "src").mkdir()
    for number in range(FILES):
        (root / "src" / f"module_{number}.py").write_text(f"VERSION = {number}\n")
    told, stop, is_over = Told(), folder / "stop", threading.Event()
    log_file = data_dir / "logs" / "server.log"
    with provider_server() as provider, listening() as listener:
        provider.answer_by(Speaker())
        port, address = port_of(listener), {"base_url": provider.address}
        asking = threading.Thread(target=_ask, args=(port, root, told, is_over))
        with serving(data_dir, listener, SERVER, **SETTINGS, **HERE, **address) as first:
            sessions = [_session(port, root, number, stop) for number in range(clients)]
            try:
                asking.start()
                is_over.wait(seconds / 2)
                _wait_for_compaction(log_file)
                first.kill()  # the listener stays: whoever calls meanwhile waits for the next server
                with serving(data_dir, listener, SERVER, **SETTINGS, **HERE, **address) as second:
                    exchange(port, "GET", "/health", b"", AUTHORIZATION)
                    is_over.wait(seconds / 2)
                    stop.touch()
                    for session in sessions:
                        session.wait(2 * PATIENCE_S)
                    is_over.set()
                    asking.join(PATIENCE_S)
                    second.kill()
            finally:
                is_over.set()
                for session in sessions:
                    session.kill()
    for number in range(clients):
        _take_down(_said(stop, number), told)
    with closing(sqlite3.connect(data_dir / DATABASE_FILE)) as connection:
        bodies = dict(connection.execute("SELECT id, body FROM notes WHERE kind <> 'fact'"))
        integrity = connection.execute("PRAGMA integrity_check").fetchone()[0]
        connection.execute(
            "INSERT INTO note_index (note_index) VALUES ('integrity-check')"
        )  # raises where it is not sound
    return Outcome(told, bodies, integrity, log_file.read_text(), tuple(data_dir.glob("*.damaged-*")))


def _session(port: int, root: Path, number: int, stop: Path) -> subprocess.Popen[bytes]:
    words = (str(port), TOKEN, str(root), str(number), str(stop))
    command = [sys.executable, "-Es", note_client.__file__, *words]
    with _said(stop, number).open("wb") as said:
        return subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)


def _said(stop: Path, number: int) -> Path:
    return stop.with_name(f"session-{number}")


def _wait_for_compaction(log_file: Path) -> None:
    end_s = time.monotonic() + 2 * PATIENCE_S
    while COMPACTED not in log_file.read_text() and time.monotonic() < end_s:
        time.sleep(POLL_S)


def _take_down(said: Path, told: Told) -> None:
    for line in said.read_text().splitlines():
        try:
            what: dict[str, Any] = json.loads(line)
        except ValueError:
            told.troubles.append(line)  # of a traceback
            continue
        match what["event"]:
            case "sent":
                told.sent.append(what["body"])
            case "kept":
                told.kept[what["id"]] = what["body"]
                told.save_s.append(what["took_s"])
            case "found":
                told.search_s.append(what["took_s"])
            case _:
                told.troubles.append(what["what"])


def _ask(port: int, root: Path, told: Told, is_over: threading.Event) -> None:
    number = 0
    while not is_over.is_set():
        number += 1
        unit = f"unit{number:05d}"
        body = json.dumps({"question": question_about(unit), "cwd": str(root)}).encode()
        try:
            reply = exchange(port, "POST", "/ask", body, AUTHORIZATION)
        except (OSError, http.client.HTTPException):
            continue
        if (reply.status, reply.json().get("answer")) == (http.client.OK, answer_to(unit)):
            told.answers += 1
        else:
            told.troubles.append(f"{unit}: {reply.status} {reply.body[:300]!r}")


def _is_later(body: str, before: str, sent: frozenset[str]) -> bool:
    """Whether `body` was sent to take the place of `before`, and nobody heard what became of it."""
    return body in sent and body.startswith(before.rstrip("."))
