"""The directory tree of a checkout with a million files: time and peak memory, in a process of its own.

The index is made from one blob, so that no working tree has to be written: git lists a million tracked paths, and an
empty folder of untracked ones. A second checkout has 50,000 untracked files on disk, where git has to walk. The
baselines are what a simpler tool does with the same input: git's own listing without any tree, and a list of all paths.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.table import Row

MILLION = 1_000_000
UNTRACKED = 50_000
MAX_TOKENS = 8000
TARGET_S = 3.0
TARGET_PEAK_MB = 200
RUNTIME = Path(__file__).resolve().parents[2] / "runtime"

TREE = """
import json, resource, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from live_memory.explore.tree import directory_tree
start = time.perf_counter()
tree = directory_tree(Path(sys.argv[2]), int(sys.argv[3]))
spent_s = time.perf_counter() - start
own, git = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps([spent_s, own, git, len(tree)]))
"""
NAIVE = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
printed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=sys.argv[2], capture_output=True, text=True).stdout
folders = {}
for path in printed.splitlines():
    at = folders
    for part in path.split("/"):
        at = at.setdefault(part, {})
spent_s = time.perf_counter() - start
own, git = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps([spent_s, own, git, len(folders)]))
"""


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder), "monorepo")
        _index_of(root, MILLION)
        tree, naive, listing_s = _measured(TREE, root), _measured(NAIVE, root), _git_listing_s(root)
        other = Path(os.path.realpath(folder), "untracked")
        _files_on_disk(other, UNTRACKED)
        walked = _measured(TREE, other)
    peak_mb = tree[1] / 1024
    return [
        Row(
            "directory tree, 1,000,000 files in the index: time",
            f"{tree[0]:.2f} s",
            f"{naive[0]:.2f} s as nested dicts; git ls-files alone {listing_s:.2f} s",
            f"≤ {TARGET_S:.0f} s",
            tree[0] <= TARGET_S,
        ),
        Row(
            "directory tree, 1,000,000 files in the index: peak memory",
            f"{peak_mb:.0f} MB (git beside it {tree[2] / 1024:.0f} MB)",
            f"{naive[1] / 1024:.0f} MB as nested dicts",
            f"≤ {TARGET_PEAK_MB} MB",
            peak_mb <= TARGET_PEAK_MB,
        ),
        Row(f"directory tree, {UNTRACKED:,} untracked files on disk: time", f"{walked[0]:.2f} s"),
    ]


def _paths(count: int) -> Iterator[str]:
    """A monorepo's shape: 40 projects of 25 packages of 10 folders of 100 files."""
    for number in range(count):
        project, package, folder, file = number // 25_000, number // 1000 % 25, number // 100 % 10, number % 100
        yield f"projects/project-{project:02}/packages/package-{package:02}/src/part-{folder}/module_{file:02}.ts"


def _index_of(root: Path, count: int) -> None:
    _git(root.parent, "init", "--quiet", str(root))
    blob = (
        subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=root, input=b"", capture_output=True, check=True)
        .stdout.decode()
        .strip()
    )
    with subprocess.Popen(["git", "update-index", "--index-info"], cwd=root, stdin=subprocess.PIPE) as git:
        assert git.stdin is not None
        for path in _paths(count):
            git.stdin.write(f"100644 {blob} 0\t{path}\n".encode())
        git.stdin.close()
        assert git.wait() == 0


def _files_on_disk(root: Path, count: int) -> None:
    _git(root.parent, "init", "--quiet", str(root))
    folder = ""
    for path in _paths(count):
        parent = path.rpartition("/")[0]
        if parent != folder:
            folder = parent
            (root / folder).mkdir(parents=True, exist_ok=True)
        os.close(os.open(root / path, os.O_CREAT | os.O_WRONLY))


def _git(cwd: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=cwd, check=True)


def _measured(program: str, root: Path) -> tuple[float, float, float, int]:
    """Seconds, own peak kB, git's peak kB, and the size of what came out."""
    printed = subprocess.run(
        [sys.executable, "-ESs", "-c", program, str(RUNTIME), str(root), str(MAX_TOKENS)],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    spent_s, own_kb, git_kb, size = json.loads(printed)
    return spent_s, own_kb, git_kb, size


def _git_listing_s(root: Path) -> float:
    start = time.perf_counter()
    subprocess.run(["git", "ls-files"], cwd=root, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start
