"""A server at work that is killed again and again on the same data: several clients ask it while files change, in a window
so small that it is compacted all the time. What the clients were told is kept, to be held against what is found later.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import random
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

from server.live import PATIENCE_S, Reply, exchange
from server.processes import AUTHORIZATION, listening, made_data_dir, port_of, serving
from support import dying_server
from support.dying_server import Change, armed, change_of
from support.prompts import DUMMY_KEY
from support.provider_server import ProviderServer, WireReply, WireRequest
from support.wire import chat_stream

from live_memory.llm.trace import parts_of, text_of

CLIENTS = 3
FILES = 6
MAX_EDITS = 500
MODEL = "some-model"
SETTINGS = {
    "provider": "openai",
    "api_key": DUMMY_KEY,
    "model": MODEL,
    "max_context_tokens": "7000",
    "max_answer_tokens": "256",
    "ledger_max_tokens": "400",
    "distill_min_interval_s": "0",
    "force_explore_when_cold": "false",
    "daily_budget_usd": "0",
}
QUESTION = re.compile(r"What does (unit\d+) do\?")
UNIT = re.compile(r"\bunit\d+\b")
VERSION = re.compile(r'path="(src/\w+\.py)">\s*VERSION = (\d+)')

# Where nothing is said of a statement, the kill comes from outside.
Occasion: TypeAlias = Literal["statement", "summary", "any time"]


@dataclass(frozen=True, slots=True)
class Moment:
    """When a server dies: at a statement (see dying_server), or `delay_s` after a summary was asked for or after the work
    began."""

    occasion: Occasion
    change: Change | Literal["nothing"] = "nothing"
    nth: int = 1
    offset: str = ""
    delay_s: float = 0.0


@dataclass(slots=True)
class Asked:
    """A question as a client put it, in which life, how far the server had noted its statements before, and the answer,
    empty while there is none."""

    unit: str
    life: int
    before_bytes: int
    answer: str = ""


@dataclass(slots=True)
class Life:
    """One process of the server, from its start to its death."""

    number: int
    process: subprocess.Popen[bytes]
    listener: socket.socket
    statements: Path
    troubles: list[str] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)
    _port: int = field(init=False)

    def __post_init__(self) -> None:
        self._port = port_of(self.listener)

    def call(self, path: str, body: object) -> Reply | None:
        """None when the server died over it."""
        try:
            return exchange(self._port, "POST", path, json.dumps(body).encode(), AUTHORIZATION)
        except (OSError, http.client.HTTPException):
            self.is_over.set()
            return None

    def bury(self) -> None:
        """Nobody is there any more, nor will be on this port: clients that still call are refused."""
        self.is_over.set()
        self.process.kill()
        self.listener.close()

    def noted(self) -> bytes:
        return self.statements.read_bytes() if self.statements.exists() else b""


class Speaker:
    """Plays the model: answers at once, looks a file up now and then, writes facts of what is dropped."""

    def __init__(self) -> None:
        self.prompts: dict[str, str] = {}  # by unit, what the question's first request said
        self.is_summarising = threading.Event()

    def __call__(self, request: WireRequest) -> WireReply:
        body = request.body
        usage = {"prompt_tokens": len(json.dumps(body["messages"])) // 4, "completion_tokens": 60}
        last = [str(message["content"]) for message in body["messages"] if message["role"] == "user"][-1]
        if not body.get("tools"):
            self.is_summarising.set()
            return WireReply(chunks=chat_stream((_facts(last),), usage=usage))
        unit = QUESTION.findall(last)[-1]
        is_first = unit not in self.prompts
        self.prompts.setdefault(unit, text_of(parts_of(body)))
        if is_first and _number(unit) % 4 == 0:
            path = json.dumps({"file_path": _module(unit)})
            call = {"index": 0, "id": unit, "type": "function", "function": {"name": "Read", "arguments": path}}
            return WireReply(chunks=chat_stream(calls=(call,), finish="tool_calls", usage=usage))
        return WireReply(chunks=chat_stream((answer_to(unit),), usage=usage))


class Siege:
    """A data folder, what clients were told about it over all lives, and one server after the other."""

    def __init__(self, folder: Path, provider: ProviderServer) -> None:
        self.data_dir = made_data_dir(folder)
        self.root = (folder / "repo").resolve()
        self.questions: list[Asked] = []
        self.versions: dict[str, list[str]] = {}  # by path, the SHA-256 of each, in order
        self.noted: dict[str, int] = {}  # by path, the newest version that the server said it took
        self.prefixes_held = 0
        self._speaker = Speaker()
        self._provider = provider
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._lives = 0
        self._noted_before = b""
        (self.root / "src").mkdir()
        for number in range(FILES):
            self._edit(f"src/module_{number}.py", 0)
        provider.answer_by(self._speaker)

    def live(self, moment: Moment, chance: random.Random) -> Change | None:
        """Start a server, see that it goes on where the last one was killed, and work with it until `moment`. What the
        transaction does that the kill came into, None where it came between two."""
        with self._server(moment) as life:
            first = self._ask(life)
            assert first.answer, life.troubles
            self._look_at_the_prefix(first, life)
            self._work(life, moment, chance)
        assert life.troubles == []
        lines = life.noted().splitlines()
        if moment.occasion == "statement":
            lines = lines[:-1]  # the last one was not run any more
        self._noted_before = b"\n".join(lines)
        return interrupted(lines)

    def die_early(self, moment: Moment) -> None:
        """Start a server that dies over the first question at the latest."""
        armed(self._statements(self._lives + 1)).touch()
        with self._server(moment) as life:
            client = threading.Thread(target=self._ask, args=(life,))
            client.start()
            try:
                assert life.process.wait(PATIENCE_S) == -signal.SIGKILL
            finally:
                life.bury()
                client.join(PATIENCE_S)

    @contextmanager
    def _server(self, moment: Moment) -> Iterator[Life]:
        self._lives += 1
        statements = self._statements(self._lives)
        program = (dying_server.__file__, str(statements), moment.change, str(moment.nth), moment.offset)
        address = {"base_url": self._provider.address}
        with listening() as listener, serving(self.data_dir, listener, program, **SETTINGS, **address) as process:
            yield Life(self._lives, process, listener, statements)

    def _statements(self, life: int) -> Path:
        return self.data_dir.parent / f"statements-{life}"

    def _ask(self, life: Life) -> Asked:
        with self._lock:
            asked = Asked(f"unit{next(self._numbers):05d}", life.number, len(life.noted()))
            self.questions.append(asked)
        reply = life.call("/ask", {"question": question_about(asked.unit), "cwd": str(self.root)})
        if reply is not None:
            said = reply.json()
            asked.answer = str(said.get("answer"))
            if (reply.status, said.get("model"), asked.answer) != (200, MODEL, answer_to(asked.unit)):
                life.troubles.append(f"{asked.unit}: {reply.status} {said}")
        return asked

    def _look_at_the_prefix(self, first: Asked, life: Life) -> None:
        """Whether this life's first prompt begins with the prompts of the life before, up to their questions; but for those
        since when there was a compaction."""
        now = self._speaker.prompts[first.unit]
        if compactions(life.noted()):
            return
        for asked in self.questions:
            before = self._speaker.prompts.get(asked.unit, "")
            if asked.life != life.number - 1 or not before or compactions(self._noted_before[asked.before_bytes :]):
                continue
            assert now.startswith(before[: before.index(question_about(asked.unit))]), (asked.unit, first.unit)
            self.prefixes_held += 1

    def _work(self, life: Life, moment: Moment, chance: random.Random) -> None:
        """Clients ask and files change until the server is dead."""
        self._speaker.is_summarising.clear()
        paths = [f"src/module_{chance.randrange(FILES)}.py" for _ in range(MAX_EDITS)]
        clients = [threading.Thread(target=self._ask_on, args=(life,)) for _ in range(CLIENTS)]
        clients.append(threading.Thread(target=self._edit_on, args=(life, paths)))
        armed(life.statements).touch()
        for client in clients:
            client.start()
        try:
            if moment.occasion == "summary":
                assert self._speaker.is_summarising.wait(PATIENCE_S)
            if moment.occasion != "statement":
                life.is_over.wait(moment.delay_s)
                life.process.kill()
            assert life.process.wait(PATIENCE_S) == -signal.SIGKILL
        finally:
            life.bury()
            for client in clients:
                client.join(PATIENCE_S)

    def _ask_on(self, life: Life) -> None:
        while not life.is_over.is_set():
            self._ask(life)

    def _edit_on(self, life: Life, paths: Sequence[str]) -> None:
        for path in paths:
            if life.is_over.is_set():
                return
            version = len(self.versions[path])
            text = self._edit(path, version)
            notice = {"cwd": str(self.root), "event": "edit", "paths": [path], "contents": {path: text}}
            reply = life.call("/notify", notice)
            if reply is None:
                return
            self.noted[path] = version
            if reply.status != 200:
                life.troubles.append(f"{path}: {reply.status} {reply.body!r}")

    def _edit(self, path: str, version: int) -> str:
        text = f"VERSION = {version}\n" + "".join(f"step_{n} = {n * 7}\n" for n in range(20))
        staging = self.root.parent / "staging"
        staging.write_text(text)
        staging.replace(self.root / path)  # whole, as the server looks at it meanwhile
        self.versions.setdefault(path, []).append(hashlib.sha256(text.encode()).hexdigest())
        return text


def question_about(unit: str) -> str:
    return f"What does {unit} do?"


def question_about_file(path: str) -> str:
    return f"Which VERSION does {path} set?"


def answer_to(unit: str) -> str:
    """As long as answers are, and another for each unit."""
    steps = " ".join(f"Then it takes step {_number(unit) * 10 + n} of its own." for n in range(10))
    return f"The function {unit} lives in {_module(unit)}:1. {steps}"


def compactions(noted: bytes) -> int:
    """How many of the transactions in `noted` froze a window anew and were committed."""
    found, transaction = 0, list[str]()
    for line in noted.decode("utf-8", "replace").splitlines():
        if line.startswith("BEGIN"):
            transaction = []
        found += line == "COMMIT" and change_of(transaction) == "compaction"
        transaction.append(line)
    return found


def interrupted(lines: Sequence[bytes]) -> Change | None:
    """What the transaction does that `lines` end in the midst of; None where they end between two."""
    words = [line.decode("utf-8", "replace") for line in lines]
    starts = [number for number, line in enumerate(words) if line.startswith("BEGIN")]
    last = words[starts[-1] :] if starts else []
    return None if "COMMIT" in last or "ROLLBACK" in last or not last else change_of(last)


def _facts(asked: str) -> str:
    """A fact of each question and each file in the material, one a line."""
    material = asked.partition("The material to be dropped:")[2]
    units = dict.fromkeys(UNIT.findall(material))
    facts = [f"`{unit}` in {_module(unit)} takes ten steps of its own." for unit in units]
    facts += [f"{path} sets VERSION to {version}." for path, version in VERSION.findall(material)]
    return "\n".join(facts) or "NONE"


def _number(unit: str) -> int:
    return int(unit.removeprefix("unit"))


def _module(unit: str) -> str:
    return f"src/module_{_number(unit) % FILES}.py"
