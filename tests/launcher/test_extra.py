"""An extra's folder: installed beside its place from a small wheel of our own, tried out, renamed whole."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from lifecycle.wheel import MODULE, a_wheel

from launcher import extra
from launcher.errors import InstallFailed
from launcher.leash import Leash


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A lock file that asks for the one wheel of a wheelhouse."""
    path = tmp_path / "extra.lock"
    path.write_text(a_wheel(tmp_path / "wheels"))
    monkeypatch.setattr(extra, "PROOF", f"import sys; sys.path.insert(0, sys.argv[1]); import {MODULE}")
    monkeypatch.setenv("LIVE_MEMORY_WHEELHOUSE", str(tmp_path / "wheels"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return str(path)


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_each_installer_puts_it_there_whole(
    lock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    if installer == "pip":
        monkeypatch.setattr("launcher.installers.shutil.which", lambda _: None)
    extra.build(lock, str(tmp_path / "data" / "semantic-1"), Leash())
    assert (tmp_path / "data" / "semantic-1" / f"{MODULE}.py").is_file()
    assert sorted(os.listdir(tmp_path / "data")) == ["install.lock", "semantic-1"]


def test_another_versions_folder_and_what_a_killed_one_left_go(lock: str, tmp_path: Path) -> None:
    for name in ("semantic-0", "semantic-1.staging-7", "venv-1"):
        (tmp_path / "data" / name).mkdir()
    extra.build(lock, str(tmp_path / "data" / "semantic-1"), Leash())
    assert sorted(os.listdir(tmp_path / "data")) == ["install.lock", "semantic-1", "venv-1"]


def test_what_cannot_be_imported_is_not_put_there_and_the_one_before_stays(
    lock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extra, "PROOF", "raise SystemExit('torn')")
    (tmp_path / "data" / "semantic-0").mkdir()
    with pytest.raises(InstallFailed, match="torn"):
        extra.build(lock, str(tmp_path / "data" / "semantic-1"), Leash())
    assert sorted(os.listdir(tmp_path / "data")) == ["install.lock", "semantic-0"]


def test_a_failure_is_one_sentence(lock: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(lock).write_text(f"{MODULE}==1.0 --hash=sha256:{'0' * 64}\n")
    assert extra.main([lock, str(tmp_path / "data" / "semantic-1")]) == 1
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert "hash" in out.lower()
