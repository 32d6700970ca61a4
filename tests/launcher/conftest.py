"""Fixtures of the launcher's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lifecycle.command import Machine, machine, unused_port

from launcher import paths


@pytest.fixture
def place(tmp_path: Path) -> paths.Place:
    """An empty data folder and a port that nobody listens on."""
    folder = tmp_path / "data"
    paths.make_data_dir(str(folder))
    return paths.Place(str(folder), unused_port())


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose packages are installed."""
    with machine(tmp_path) as made:
        made.borrow_packages()
        yield made
