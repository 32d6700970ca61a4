"""The server as a process: how soon it answers, what it weighs, 64 questions at once, what MCP adds to a question."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

from bench.table import Row, median, percentile
from server.processes import AUTHORIZATION, listening, made_data_dir, port_of, serving

START_ROUNDS = 7
CALL_ROUNDS = 40
AT_ONCE = 64
PATIENCE_S = 60.0
START_TARGET_S = 1.2
IDLE_TARGET_MIB = 80
USED_TARGET_MIB = 150
AT_ONCE_TARGET_S = 1.0
SDK = "import uvicorn, mcp.server.lowlevel, mcp.server.streamable_http_manager"
WEIGH = "print(next(line for line in open('/proc/self/status') if line.startswith('VmRSS')))"
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        data_dir = made_data_dir(Path(name))
        rows = [_start(data_dir)]
        with _server(data_dir) as (port, pid):
            rows += _weight(port, pid, data_dir)
            rows.append(_at_once(port, data_dir))
            rows.append(_through_mcp(port, data_dir))
    return rows


def _start(data_dir: Path) -> Row:
    started_s, imported_s = [], []
    for _ in range(START_ROUNDS):
        imported_s.append(_timed_s(lambda: subprocess.run([sys.executable, "-Esc", SDK], check=True)))
        begin_s = time.perf_counter()
        with listening() as listener, serving(data_dir, listener):
            _call(port_of(listener), "GET", "/health")
            started_s.append(time.perf_counter() - begin_s)
    return Row(
        "server process start with a ready venv, to first /health ok",
        f"{median(started_s):.2f} s, worst of {START_ROUNDS} {max(started_s):.2f} s",
        f"importing the SDKs alone {median(imported_s):.2f} s",
        f"≤ {START_TARGET_S} s",
        median(started_s) <= START_TARGET_S,
    )


def _weight(port: int, pid: int, data_dir: Path) -> list[Row]:
    _mcp(port, "tools/list", {})  # MCP has been imported once it answers
    idle_mib = _resident_mib(Path(f"/proc/{pid}/status").read_text())
    _ask(port, data_dir, "Where is main?")
    used_mib = _resident_mib(Path(f"/proc/{pid}/status").read_text())
    weighing = [sys.executable, "-Esc", f"{SDK}\n{WEIGH}"]
    bare_mib = _resident_mib(subprocess.run(weighing, capture_output=True, text=True, check=True).stdout)
    baseline = f"a process with the SDKs alone {bare_mib:.0f} MiB"
    return [
        Row("memory idle", f"{idle_mib:.0f} MiB", baseline, f"≤ {IDLE_TARGET_MIB} MB", idle_mib <= IDLE_TARGET_MIB),
        Row(
            "memory after a question", f"{used_mib:.0f} MiB", "", f"≤ {USED_TARGET_MIB} MB", used_mib <= USED_TARGET_MIB
        ),
    ]


def _at_once(port: int, data_dir: Path) -> Row:
    probes_s = _all_at_once(lambda _: _call(port, "GET", "/health"))
    asked_s = _all_at_once(lambda index: _ask(port, data_dir, f"Where is main, asked for the {index}th time?"))
    p95_s = percentile(asked_s, 0.95)
    return Row(
        f"{AT_ONCE} questions at once over HTTP, model 0 ms",
        f"all answered, p95 {p95_s:.2f} s",
        f"{AT_ONCE} health probes at once, p95 {percentile(probes_s, 0.95):.2f} s",
        f"p95 ≤ {AT_ONCE_TARGET_S:g} s",
        p95_s <= AT_ONCE_TARGET_S,
    )


def _through_mcp(port: int, data_dir: Path) -> Row:
    arguments = {"cwd": _repository(data_dir)}
    asked_s, called_s = [], []
    for index in range(CALL_ROUNDS):
        asked_s.append(_timed_s(lambda index=index: _ask(port, data_dir, f"ask {index}")))  # type: ignore[misc]
        params = {"name": "ask_live_memory", "arguments": {**arguments, "question": f"call {index}"}}
        called_s.append(_timed_s(lambda params=params: _mcp(port, "tools/call", params)))  # type: ignore[misc]
    return Row(
        "a question through MCP, model 0 ms",
        f"{median(called_s) * 1000:.1f} ms, p95 {percentile(called_s, 0.95) * 1000:.1f} ms",
        f"the same through /ask {median(asked_s) * 1000:.1f} ms, p95 {percentile(asked_s, 0.95) * 1000:.1f} ms",
    )


@contextmanager
def _server(data_dir: Path) -> Iterator[tuple[int, int]]:
    with listening() as listener, serving(data_dir, listener) as process:
        yield port_of(listener), process.pid


def _ask(port: int, data_dir: Path, question: str) -> None:
    _call(port, "POST", "/ask", {"question": question, "cwd": _repository(data_dir)})


def _mcp(port: int, method: str, params: dict[str, object]) -> None:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
    }
    if "name" in params:
        headers["Mcp-Name"] = str(params["name"])
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    answer = json.loads(_call(port, "POST", "/mcp", message, headers))
    assert "result" in answer, answer
    assert not answer["result"].get("isError"), answer


def _call(port: int, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> bytes:
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        raw = None if body is None else json.dumps(body)
        connection.request(method, path, raw, AUTHORIZATION | (headers or {}))
        response = connection.getresponse()
        answer = response.read()
    assert response.status == 200, answer
    return answer


def _all_at_once(work: Callable[[int], object]) -> list[float]:
    """Seconds of each of many calls begun together; a call that fails fails the measurement."""
    taken_s: list[float] = []
    gate = threading.Barrier(AT_ONCE)

    def one(index: int) -> None:
        gate.wait()
        taken_s.append(_timed_s(lambda: work(index)))

    threads = [threading.Thread(target=one, args=(index,)) for index in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken_s) == AT_ONCE
    return taken_s


def _timed_s(work: Callable[[], object]) -> float:
    begin_s = time.perf_counter()
    work()
    return time.perf_counter() - begin_s


def _repository(data_dir: Path) -> str:
    return str(data_dir.parent / "repo")


def _resident_mib(status: str) -> float:
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
