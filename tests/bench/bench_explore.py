"""The read-only tools on a repository of 10,000 files: what a call takes, with ripgrep and without, beside the bare tool.

Each figure is the median of several calls of the tool itself, in this process; the baselines are the same work by a
bare `rg` or by reading the files in Python.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from bench.table import Row, median

from live_memory.errors import ToolRefusal
from live_memory.explore import ripgrep
from live_memory.explore.toolbox import run_tool
from live_memory.text.secrets import redact

FILES = 10_000
CALLS = 7
WORDS = [
    "session",
    "token",
    "request",
    "handler",
    "config",
    "user",
    "account",
    "order",
    "invoice",
    "render",
    "parse",
    "queue",
    "worker",
    "retry",
    "cache",
    "index",
]


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder), "repository")
        _write_repository(root)
        return [*_tool_rows(root), *_redaction_rows(root)]


def _tool_rows(root: Path) -> list[Row]:
    program = ripgrep.find_ripgrep() or "rg"
    everything = _bare(root, [program, "--hidden", "-n", "-i", "retry_worker_17"])
    reading = _median_ms(lambda: [path.read_bytes() for path in root.rglob("*.py")])
    calls: tuple[tuple[str, str, dict[str, object], str], ...] = (
        (
            "Grep, a rare word",
            "Grep",
            {"pattern": "retry_worker_17"},
            f"rg {everything:.0f} ms, reading all files {reading:.0f} ms",
        ),
        (
            "Grep, a word in every file",
            "Grep",
            {"pattern": "session"},
            f"rg {_bare(root, [program, '-n', '-i', 'session']):.0f} ms",
        ),
        ("Grep, one folder and a glob", "Grep", {"pattern": "def ", "path": "pkg07", "glob": "*.py"}, ""),
        (
            "Glob **/*.py",
            "Glob",
            {"pattern": "**/*.py"},
            f"rg --files {_bare(root, [program, '--files', '--hidden']):.0f} ms",
        ),
        ("find_paths by name", "find_paths", {"name": "*cache*"}, ""),
        ("Read, a file of 400 lines", "Read", {"file_path": "pkg07/sub3/module_42.py"}, ""),
        ("Read, a name that is not there", "Read", {"file_path": "module_42x.py"}, ""),
        (
            "get_changed_files",
            "get_changed_files",
            {},
            f"git status {_bare(root, ['git', 'status', '--porcelain']):.0f} ms",
        ),
        ("git_search", "git_search", {"query": "start"}, f"git log {_bare(root, ['git', 'log']):.0f} ms"),
    )
    rows = []
    for what, tool, arguments, baseline in calls:
        rows.append(Row(f"{what}, {FILES:,} files", f"{_call_ms(root, tool, arguments):.0f} ms", baseline))
    with mock.patch.object(ripgrep, "find_ripgrep", return_value=None):
        for what, tool, arguments, _ in calls[:4]:
            rows.append(Row(f"{what}, without ripgrep", f"{_call_ms(root, tool, arguments, 3):.0f} ms"))
    return rows


def _redaction_rows(root: Path) -> list[Row]:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))[:200])
    spent_ms = _median_ms(lambda: redact(text))
    worst = max(
        _median_ms(lambda piece=piece: redact(piece * (100_000 // len(piece))), 3)  # type: ignore[misc]
        for piece in ("key=", "secret", 'token": "', "://a:", "eyJ", "password ", "-u a:", "machine a login b ", "AKIA")
    )
    rate = len(text) / spent_ms / 1000
    return [
        Row(
            "redaction of source code",
            f"{rate:.1f} MB/s, {40 / rate:.0f} ms for an answer of 40,000 characters",
        ),
        Row("redaction, 100,000 characters made to be slow", f"{worst:.0f} ms"),
    ]


def _write_repository(root: Path) -> None:
    drawn = random.Random(1)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    for number in range(FILES):
        folder = root / f"pkg{number // 500:02}" / f"sub{number // 100 % 5}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = 400 if number % 100 == 42 else drawn.randrange(20, 120)
        text = "".join(
            f"def {drawn.choice(WORDS)}_{drawn.choice(WORDS)}_{n}(value):\n    return value.{drawn.choice(WORDS)}\n"
            for n in range(lines // 2)
        )
        (folder / f"module_{number % 100}.py").write_text(f"# session {number}\n{text}", encoding="utf-8")
    identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"]
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    subprocess.run(["git", *identity, "commit", "--quiet", "-m", "Start"], cwd=root, check=True)


def _call_ms(root: Path, tool: str, arguments: dict[str, object], calls: int = CALLS) -> float:
    def call() -> None:
        with contextlib.suppress(ToolRefusal):  # for a name that is not there the refusal is what is measured
            run_tool(root, tool, json.dumps(arguments))

    return _median_ms(call, calls)


def _bare(root: Path, command: list[str]) -> float:
    return _median_ms(lambda: subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, check=False))


def _median_ms(work: Callable[[], object], times: int = CALLS) -> float:
    spent = []
    for _ in range(times):
        started_s = time.perf_counter()
        work()
        spent.append((time.perf_counter() - started_s) * 1000)
    return median(spent)
