"""The server's life as a user meets it: `headers`, a start, twenty at once, the very first run, what it weighs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.table import Row, median, percentile
from lifecycle.command import Machine, machine, until

import _client
from launcher import paths

HEADERS_ROUNDS = 40
START_ROUNDS = 7
AT_ONCE = 20
HEADERS_TARGET_MS = 60.0
START_TARGET_S = 1.2
UV_TARGET_S, PIP_TARGET_S = 6.0, 20.0
IDLE_TARGET_MIB, USED_TARGET_MIB = 80, 150
WHOLE_LIMIT_S = 300.0
QUESTION = "How does the launcher decide that a server is already running?"
BARE = [sys.executable, "-ESs", "-c", "0"]
BOTH_INSTALLERS = f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as name, machine(Path(name)) as ready:
        ready.borrow_packages()
        rows = [_start(ready), _headers(ready), *_weight(ready), _at_once(ready)]
    rows += _first_run("uv", BOTH_INSTALLERS, UV_TARGET_S)
    return rows + _first_run("pip", os.defpath, PIP_TARGET_S)


def _headers(ready: Machine) -> Row:
    ready.ensure()
    bare_ms, own_ms = [], []
    for _ in range(HEADERS_ROUNDS):
        bare_ms.append(_timed_s(lambda: subprocess.run(BARE, check=True)) * 1000)
        own_ms.append(_timed_s(lambda: ready.run("headers")) * 1000)
    return Row(
        "`headers` with the server up",
        f"{median(own_ms):.0f} ms, p95 {percentile(own_ms, 0.95):.0f} ms",
        f"python -ESs {median(bare_ms):.0f} ms",
        f"≤ {HEADERS_TARGET_MS:.0f} ms p50",
        median(own_ms) <= HEADERS_TARGET_MS,
    )


def _start(ready: Machine) -> Row:
    bare_s, own_s = [], []
    for _ in range(START_ROUNDS):
        bare_s.append(_timed_s(lambda: subprocess.run(BARE, check=True)))
        own_s.append(_timed_s(ready.ensure))
        ready.run("stop")
    return Row(
        "`ensure` from nothing with a ready venv, to /health ok",
        f"{median(own_s):.2f} s, worst of {START_ROUNDS} {max(own_s):.2f} s",
        f"python -ESs {median(bare_s):.2f} s",
        f"≤ {START_TARGET_S} s",
        median(own_s) <= START_TARGET_S,
    )


def _at_once(ready: Machine) -> Row:
    ready.run("stop")
    alone_s = _timed_s(ready.ensure)
    ready.run("stop")
    starts: list[subprocess.Popen[str]] = []

    def all_at_once() -> None:
        starts.extend(ready.start("ensure", "--json") for _ in range(AT_ONCE))
        for start in starts:
            start.communicate()

    together_s = _timed_s(all_at_once)
    until(lambda: len(ready.servers()) == 1, "one server is left")
    failed = sum(start.returncode != 0 for start in starts)
    return Row(
        f"{AT_ONCE} `ensure` at once, until the last has returned",
        f"{together_s:.2f} s, {len(ready.servers())} server, {failed} failed",
        f"one alone {alone_s:.2f} s",
        "one server",
        failed == 0,
    )


def _weight(ready: Machine) -> list[Row]:
    pid = ready.ensure()["pid"]
    address = _client.Address(ready.port, _client.read_token(str(ready.data_dir)))
    _client.call(address, "POST", "/mcp", {}, timeout_s=60)  # answered once its SDK is there
    idle_mib = _resident_mib(pid)
    ready.ask(QUESTION, Path(paths.PLUGIN_ROOT))
    used_mib = _resident_mib(pid)
    bare = [*BARE[:-1], "print(next(line for line in open('/proc/self/status') if line.startswith('VmRSS')))"]
    baseline = int(subprocess.run(bare, capture_output=True, text=True, check=True).stdout.split()[1]) / 1024
    return [
        Row(
            "memory idle, as the launcher starts it",
            f"{idle_mib:.0f} MiB",
            f"python -ESs {baseline:.0f} MiB",
            f"≤ {IDLE_TARGET_MIB} MB",
            idle_mib <= IDLE_TARGET_MIB,
        ),
        Row(
            "memory after a question", f"{used_mib:.0f} MiB", "", f"≤ {USED_TARGET_MIB} MB", used_mib <= USED_TARGET_MIB
        ),
    ]


def _first_run(installer: str, search_path: str, target_s: float) -> list[Row]:
    """A fresh machine: `ask` to its first answer, and how long until MCP and models are there as well."""
    with tempfile.TemporaryDirectory() as name, machine(Path(name), PATH=search_path) as fresh:
        fresh.data_dir.mkdir()
        (fresh.data_dir / "python").write_text(os.path.realpath(sys.executable) + "\n")
        begin_s = time.perf_counter()
        asking = fresh.start("ask", QUESTION, "--cwd", paths.PLUGIN_ROOT)
        assert asking.stdout is not None
        answer = asking.stdout.readline()
        answered_s = time.perf_counter() - begin_s
        asking.communicate()
        until(lambda: fresh.health().get("status") == "ok", "the server is whole", WHOLE_LIMIT_S)
        whole_s = time.perf_counter() - begin_s
        again_s = _timed_s(lambda: fresh.run("ask", QUESTION, "--cwd", paths.PLUGIN_ROOT))
    baseline = f"the same question again {again_s:.2f} s"
    target = f"≤ {target_s:.0f} s"
    is_answered = bool(answer) and asking.returncode == 0 and answered_s <= target_s
    return [
        Row(f"first run with {installer}, `ask` to its answer", f"{answered_s:.2f} s", baseline, target, is_answered),
        Row(f"first run with {installer}, until MCP and models are there too", f"{whole_s:.2f} s"),
    ]


def _timed_s(work: Callable[[], object]) -> float:
    begin_s = time.perf_counter()
    work()
    return time.perf_counter() - begin_s


def _resident_mib(pid: object) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
