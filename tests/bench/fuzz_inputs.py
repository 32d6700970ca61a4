"""`make fuzz [CASES=n] [SEED=n]`: bent inputs for `/notify`, `/ask`, `/watch` and the hooks. None may crash anything, bring a
5xx, or open a file outside of the tree. Prints the seed, so that a finding can be had again."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import runpy
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / folder) for folder in ("runtime", "bin", "hooks", "tests")]

from server.desks import PORT, TOKEN, state_of  # noqa: E402
from support.mutation import Mutator  # noqa: E402

import _client  # noqa: E402  # from hooks/
import _server  # noqa: E402
from live_memory import wiring  # noqa: E402
from live_memory.agent.desk import QuestionDesk  # noqa: E402
from live_memory.agent.equipment import Equipment  # noqa: E402
from live_memory.agent.explorers import Threads  # noqa: E402
from live_memory.agent.seat import Models  # noqa: E402
from live_memory.clock import SystemClock  # noqa: E402
from live_memory.configuration import Configuration  # noqa: E402
from live_memory.llm.base import Completion, CompletionRequest, Usage  # noqa: E402
from live_memory.llm.choice import Choice  # noqa: E402
from live_memory.server.http import Request  # noqa: E402
from live_memory.server.routes import dispatch  # noqa: E402
from live_memory.settings import Settings  # noqa: E402
from live_memory.store.sqlite import SqliteStore  # noqa: E402
from live_memory.window.messages import Text, ToolCall  # noqa: E402

CASES, SEED = 100_000, 20_261_130
PROCESSES = 200  # hooks that run as processes, which takes 30 ms each
HOOK_SHARE, ASK_SHARE = 0.3, 0.3  # of the cases; the others are notices, but for a few questions what to watch
BENT_SHARE = 0.6  # the others are well-formed and name bent paths
RESET_EVERY = 1500  # requests to one window, before it is forgotten
SERVER_ERROR, UNAVAILABLE = 500, 503
CANARY = "CANARY-5f1d-nobody-may-read-this"
SAMPLES = 20  # findings that are shown
EVENTS = ("open", "os.listdir", "os.scandir")
CHANGES = (
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "os.symlink",
    "os.link",
    "os.truncate",
    "os.utime",
)


@dataclass(slots=True)
class Watch:
    """What the process opens or changes outside of `allowed`, while `is_on`; an audit hook of the interpreter, which stays."""

    allowed: tuple[str, ...]
    seen: Counter[str] = field(default_factory=Counter)
    is_on: bool = False

    def install(self) -> None:
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on or event not in (*EVENTS, *CHANGES) or not arguments:
            return
        path = arguments[0]
        if not isinstance(path, (str, bytes)):
            return  # a descriptor, opened before
        name = os.fsdecode(path)
        # A name without a folder is one step down from a descriptor, over no link: the jail's own way (explore/jail.py).
        is_step = event == "open" and "/" not in name and name not in ("", ".", "..")
        is_step = is_step or (
            event == "open" and name == tempfile.gettempdir()
        )  # a nameless file, of a child's complaints
        if not is_step and not os.path.abspath(name).startswith(self.allowed):
            self.seen[f"{event} {name[:120]!r}"] += 1


@dataclass(slots=True)
class Findings:
    """What went wrong, by kind, with the cases that show it; and how often each answer came."""

    cases: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, what: str, case: int, given: object) -> None:
        if len(self.wrong) < SAMPLES:
            self.wrong.append(f"case {case}: {what}: {given!r:.400}")


class HostileModel:
    """A model that calls tools with bent arguments, or cites bent places."""

    provider = "hostile"
    name = "hostile-1"

    def __init__(self, bend: Mutator) -> None:
        self._bend = bend
        self.prompts: list[str] = []

    async def complete(self, request: CompletionRequest, on_text: Callable[[str], None]) -> Completion:
        last = request.prompt.turns[-1].blocks[0]
        self.prompts = [str(block) for turn in request.prompt.turns for block in turn.blocks]
        self.prompts += request.prompt.system
        luck = self._bend.luck
        if isinstance(last, Text) and luck.random() < 0.5:  # every other question
            name = luck.choice(("Read", "Grep", "Glob", "find_paths", "git_search", "get_changed_files", "Bash"))
            arguments = self._bend.bent(
                {"file_path": "src/a.py", "pattern": "VALUE", "path": self._bend.path(), "glob": "*"}
            )
            text = self._bend.encoded(arguments).decode("utf-8", "replace")
            return Completion("", (ToolCall("1", name, text),), Usage(10, 1), "tool_calls")
        answer = f"See {self._bend.path()}:1 and src/a.py:1."
        on_text(answer)
        return Completion(answer, (), Usage(10, 2), "end")

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository with traps in it, and canaries around it."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "repo"

    @property
    def programs(self) -> Path:
        """A PATH on which `sh` only says what it is told: no hook runs a command of ours in earnest."""
        return self.folder / "bin"

    @property
    def canaries(self) -> tuple[Path, ...]:
        return (self.folder / "canary.py", self.folder / "outside" / "canary.py", self.root / ".env")

    def paths(self) -> tuple[str, ...]:
        here = (*self.canaries, self.root, self.root / "src" / "a.py", self.root / "link_out" / "canary.py")
        return tuple(str(path) for path in here)


def make_place(folder: Path) -> Place:
    place = Place(folder.resolve())
    (place.root / ".git").mkdir(parents=True)
    (place.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (place.root / ".gitignore").write_text("build/\n")
    for path in ("src/a.py", "src/b.py", "build/out.py", "deep/er/c.py"):
        (place.root / path).parent.mkdir(parents=True, exist_ok=True)
        (place.root / path).write_text(f"VALUE = {path!r}\n")
    (place.folder / "outside").mkdir()
    (place.folder / "home").mkdir()
    (place.folder / "data").mkdir()
    place.programs.mkdir()
    (place.programs / "sh").symlink_to(shutil.which("echo") or "/bin/echo")
    for canary in place.canaries:
        canary.write_text(f"{CANARY}\n")
        os.utime(canary, (1, canary.stat().st_mtime))  # so old that a read would show on most disks
    (place.root / "link_out").symlink_to(place.folder / "outside")
    (place.root / "link_file.py").symlink_to(place.folder / "canary.py")
    (place.root / "link_loop").symlink_to("link_loop")
    os.mkfifo(place.root / "pipe")
    return place


async def fuzz_server(place: Place, cases: range, seed: int, watch: Watch) -> Findings:
    """Requests to the routes of a server whose desk is real."""
    findings = Findings(len(cases))
    settings = Settings(provider="scripted", default_timeout_s=20.0, daily_budget_usd=0.0)
    configuration = Configuration(settings, {}, {}, home=place.folder / "home")
    choice = Choice("scripted", "a fuzz", "hostile", "hostile-1")
    model = HostileModel(Mutator(random.Random(seed), place.paths()))
    desk = QuestionDesk(
        configuration,
        lambda: configuration,
        Models(lambda _configuration, _now_s: choice, lambda _choice: model),
        SqliteStore(place.folder / "data" / "live-memory.db"),
        Equipment(wiring.explorers(), Threads(), SystemClock(), wiring.tree_files()),
    )
    state = state_of(desk, clock=SystemClock())
    watch.is_on = True
    try:
        for case in cases:
            request = _request(place, Mutator(random.Random(seed + case), place.paths()))
            response = await dispatch(state, request)
            findings.answers[f"{request.path} {response.status}"] += 1
            if response.status >= SERVER_ERROR and response.status != UNAVAILABLE:
                findings.note(f"{request.path} {response.status} {response.body!r:.200}", case, request.body)
            if CANARY.encode() in response.body or any(CANARY in text for text in model.prompts):
                findings.note(f"{request.path} let out what lies outside", case, request.body)
            if case % RESET_EVERY == RESET_EVERY - 1:
                await desk.clear(str(place.root))
        await desk.close(5)
    finally:
        watch.is_on = False
    return findings


def _request(place: Place, bend: Mutator) -> Request:
    luck, cwd = bend.luck, str(place.root)
    lot = luck.random()
    method, path, query = "POST", "/notify", {}
    value: dict[str, Any] = {
        "cwd": luck.choice((cwd, cwd, cwd, str(place.root / "src"))),
        "event": luck.choice(("read", "write", "edit", "change", "add", "unlink")),
        "paths": [
            luck.choice(("src/a.py", "src/b.py", f"{cwd}/deep/er/c.py", bend.path()))
            for _ in range(luck.choice((1, 1, 3)))
        ],
    }
    if luck.random() < 0.3:  # some send texts along
        value["contents"] = {path: f"VALUE = {path!r}\n" for path in value["paths"]}
    if lot < ASK_SHARE / (1 - HOOK_SHARE):
        path, value = "/ask", {"question": f"Where is {bend.path()} set?", "cwd": cwd, "max_answer_tokens": 300}
    elif lot > 0.97:  # a few
        method, path, query, value = "GET", "/watch", {"cwd": bend.path()}, {}
    if luck.random() < BENT_SHARE:
        value = _in_the_tree(place, bend.bent(value))
    body = bend.encoded(value) if value else b""
    headers = {"host": f"127.0.0.1:{PORT}", "authorization": f"Bearer {TOKEN}", "content-length": str(len(body))}
    return Request(method, path, query, headers, body)


def _in_the_tree(place: Place, value: dict[str, Any]) -> dict[str, Any]:
    """`value`, but that its cwd is no other folder that is there: a caller with the token may make any one its workspace."""
    cwd = value.get("cwd") if isinstance(value, dict) else None
    if isinstance(cwd, str) and "\0" not in cwd and os.path.isdir(cwd):
        real = os.path.realpath(cwd)
        if real != str(place.root) and not real.startswith(f"{place.root}/"):
            return {**value, "cwd": str(place.root)}
    return value


class NoStart:
    """In place of the launcher: the hooks may want a server, and get none."""

    def __init__(self, *_arguments: object) -> None:
        """Nothing is started."""

    def has_ended(self, _limit_s: float) -> bool:
        return True


class _Listener(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Hooks hang up when their time is over: say nothing."""


@contextmanager
def stand_in(bend: Mutator) -> Iterator[int]:
    """A server that answers hooks with bent replies; yields its port."""

    class Handler(BaseHTTPRequestHandler):
        disable_nagle_algorithm = True  # else the body waits for a delayed ACK

        def _reply(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            reply = {
                "name": "live-memory",
                "status": "ok",
                "version": "1",
                "paths": ["/a"],
                "notes": [],
                "context": "c",
            }
            body = bend.encoded(bend.bent(reply))
            self.send_response(bend.luck.choice((200, 200, 200, 401, 404, 503)))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = _reply

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = _Listener(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def fuzz_hooks(place: Place, cases: range, seed: int, watch: Watch) -> Findings:
    """Events on the stdin of every hook script, run in this process as Claude Code's interpreter would run it."""
    findings = Findings(len(cases))
    scripts = sorted(path for path in (ROOT / "hooks").glob("*.py") if not path.name.startswith("_"))
    data, kept, start = place.folder / "data", dict(os.environ), _server.Start
    _server.Start = NoStart  # type: ignore[assignment,misc]
    with stand_in(Mutator(random.Random(seed))) as port:
        (data / "token").write_text(TOKEN)
        started = _client.linux_start(os.getpid())
        (data / "server.json").write_text(
            json.dumps({"pid": os.getpid(), "started": started, "port": port, "version": "1"})
        )
        os.environ.update(CLAUDE_PLUGIN_DATA=str(data), LIVE_MEMORY_PORT=str(port), HOME=str(place.folder / "home"))
        os.environ["PATH"] = str(place.programs)
        try:
            for case in cases:
                bend = Mutator(random.Random(seed + case), place.paths())
                script = bend.luck.choice(scripts)
                told = bend.encoded(bend.bent(_event(place, bend)))
                watch.is_on = True
                wrong = _run(script, told)
                watch.is_on = False
                findings.answers[f"{script.name} {'wrong' if wrong else 'fine'}"] += 1
                if wrong:
                    findings.note(f"{script.name}: {wrong}", case, told)
        finally:
            watch.is_on = False
            _server.Start = start  # type: ignore[misc]
            os.environ.clear()
            os.environ.update(kept)
    return findings


def fuzz_processes(place: Place, cases: range, seed: int) -> Findings:
    """The same for hooks as processes of their own, but for those that would start a server."""
    findings = Findings(len(cases))
    data = str(place.folder / "none")
    environment = {"PATH": os.environ["PATH"], "HOME": str(place.folder / "home"), "CLAUDE_PLUGIN_DATA": data}
    names = ("post_tool_use.py", "file_changed.py", "stop.py", "user_prompt_submit.py")
    for case in cases:
        bend = Mutator(random.Random(seed + case), place.paths())
        command = [sys.executable, "-ESs", str(ROOT / "hooks" / bend.luck.choice(names))]
        told = bend.encoded(bend.bent(_event(place, bend)))
        done = subprocess.run(command, input=told, env=environment, capture_output=True, timeout=20, check=False)
        is_fine = (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        findings.answers[f"{Path(command[-1]).name} as a process {'fine' if is_fine else 'wrong'}"] += 1
        if not is_fine:
            findings.note(f"exit {done.returncode}, {done.stdout!r} {done.stderr!r:.300}", case, told)
    return findings


def _run(script: Path, told: bytes) -> str:
    """What is wrong with what the hook did; empty when nothing is."""
    said, complained, stdin = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(told), encoding="utf-8")
    try:
        with redirect_stdout(said), redirect_stderr(complained):
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        if ended.code not in (None, 0):
            return f"exit {ended.code}"
    except BaseException as error:  # whatever it is, the hook let it out
        return f"{type(error).__name__}: {error}"
    finally:
        sys.stdin = stdin
    if complained.getvalue():
        return f"it complained: {complained.getvalue():.200}"
    try:
        return "" if not said.getvalue() or isinstance(json.loads(said.getvalue()), dict) else "its answer is no object"
    except ValueError:
        return f"its answer is no JSON: {said.getvalue():.200}"


def _event(place: Place, bend: Mutator) -> dict[str, Any]:
    luck = bend.luck
    path = luck.choice(("src/a.py", str(place.root / "src" / "a.py"), bend.path()))
    return {
        "session_id": "5f1d",
        "transcript_path": luck.choice((str(place.root / "src" / "a.py"), bend.path())),
        "cwd": str(place.root),
        "hook_event_name": "PostToolUse",
        "tool_name": luck.choice(
            ("Read", "Edit", "NotebookEdit", "mcp__plugin_live-memory_live-memory__ask_live_memory")
        ),
        "tool_input": {luck.choice(("file_path", "notebook_path", "cwd")): path, "question": "Where?"},
        "file_path": path,
        "event": luck.choice(("change", "add", "unlink")),
        "source": "startup",
        "reason": "exit",
        "trigger": "auto",
        "prompt": f"/live-memory:live-memory-stats {bend.path()}",
        "command_name": luck.choice(("live-memory:live-memory-stats", "live-memory:live-memory-config", "other:x")),
        "command_args": luck.choice(("show", "set port=1", quote(bend.path(), errors="replace"))),
    }


def allowed_places(place: Place) -> tuple[str, ...]:
    """Where files may be opened: the tree, the data folder, and what Python and the hooks themselves need."""
    code = [path for folder in (sys.prefix, sys.base_prefix, str(ROOT)) for path in (folder, os.path.realpath(folder))]
    system = (
        f"/proc/{os.getpid()}",
        *_processes_above(),
        "/proc/sys/kernel/random/boot_id",
        "/etc/localtime",
        os.devnull,
    )
    return (str(place.root), str(place.folder / "data"), *code, *system)


def _processes_above() -> Iterator[str]:
    """Where the system tells of our parents: a hook looks there for the Claude Code that runs it."""
    pid = os.getppid()
    while pid > 1:
        path = Path(f"/proc/{pid}/stat")
        yield str(path)
        pid = int(path.read_text(errors="replace").rpartition(")")[2].split()[1])


def touched(place: Place) -> list[str]:
    """The canaries outside of the tree that were read (as far as the disk keeps the time of it), and all that were changed."""
    read = [str(path) for path in place.canaries if not path.is_relative_to(place.root) and path.stat().st_atime > 1]
    return read + [str(path) for path in place.canaries if path.read_text().strip() != CANARY]


def fuzz(cases: int, seed: int) -> tuple[tuple[Findings, ...], list[str]]:
    """The findings of the server and of the hooks, and what was touched that nobody may touch."""
    hooks, processes = int(cases * HOOK_SHARE), min(PROCESSES, cases // 100)
    with tempfile.TemporaryDirectory() as name:
        place = make_place(Path(name))
        watch = Watch(allowed_places(place))
        watch.install()
        server = asyncio.run(fuzz_server(place, range(cases - hooks), seed, watch))
        spoken = fuzz_hooks(place, range(cases - hooks, cases), seed, watch)
        apart = fuzz_processes(place, range(processes), seed)
        outside = [f"{what} ({count} times)" for what, count in watch.seen.most_common(SAMPLES)]
        outside += [f"canary touched: {path}" for path in touched(place)]
        database = b"".join(path.read_bytes() for path in (place.folder / "data").glob("live-memory.db*"))
        outside += ["a canary's text is in the database"] if CANARY.encode() in database else []
    return (server, spoken, apart), outside


def main(cases: int = CASES, seed: int = SEED) -> int:
    print(f"{cases} cases, seed {seed}", flush=True)
    begin_s = time.monotonic()
    every, outside = fuzz(cases, seed)
    for findings in every:
        print(f"{findings.cases} cases: {dict(sorted(findings.answers.items()))}")
    wrong = [*(line for findings in every for line in findings.wrong), *outside]
    for line in wrong:
        print(f"WRONG {line}")
    print(f"{time.monotonic() - begin_s:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in sys.argv[1:])))
