"""The environment of a plugin whose lock file asks for one small wheel of our own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lifecycle.wheel import MODULE, a_wheel

from launcher import interpreter, paths, venv
from launcher.leash import Leash


def lantern_data_dir(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty data folder for a plugin whose lock file asks for that wheel, found in a folder."""
    lock = folder / "requirements.lock"
    lock.write_text(a_wheel(folder / "wheels"))
    monkeypatch.setattr(paths, "REQUIREMENTS", str(lock))
    monkeypatch.setattr(venv, "IMPORT_PROOFS", (f"import {MODULE}",))
    monkeypatch.setenv("LIVE_MEMORY_WHEELHOUSE", str(folder / "wheels"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # uv, the quicker one
    monkeypatch.setenv("UV_CACHE_DIR", str(folder / "cache"))
    data_dir = folder / "data"
    data_dir.mkdir()
    return str(data_dir)


def venvs(data_dir: str) -> list[str]:
    return sorted(name for name in os.listdir(data_dir) if name.startswith("venv-"))


def assert_built(data_dir: str) -> None:
    """Build the environment, and find it whole."""
    steps: list[str] = []
    venv.build(data_dir, steps.append, Leash())
    assert steps[0].startswith("installing the packages with ")
    assert steps[1] == "checking the packages"
    assert venvs(data_dir) == [os.path.basename(venv.path(data_dir))]
    python = venv.python(venv.path(data_dir))
    assert os.path.realpath(python) == interpreter.real()
    assert subprocess.run([python, "-Es", "-c", f"import {MODULE}"], check=False).returncode == 0
    assert list(Path(venv.path(data_dir)).rglob(f"__pycache__/{MODULE}.*.pyc"))  # the first start finds it compiled
