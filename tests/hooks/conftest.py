"""A session's surroundings: a data folder that has been used, a server on record, a plugin that only tells what it starts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.stand_in import StandIn, always
from hooks.launchers import RecordingLauncher


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """The folder of an installation that has run before."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "python").write_text(f"{sys.executable}\n")
    return folder


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[RecordingLauncher]:
    recording = RecordingLauncher(tmp_path / "plugin")
    yield recording
    recording.close()


@pytest.fixture
def server(data_dir: Path) -> Iterator[StandIn]:
    """A server that takes what it is told."""
    with StandIn(data_dir).running() as stand_in:
        for path in ("/notify", "/session"):
            stand_in.routes[f"POST {path}"] = always({"status": "noted"})
        stand_in.put_on_record()
        yield stand_in
