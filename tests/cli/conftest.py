"""A server that stands in for ours, and a shell that reaches it. A file whose server answers something has its own `server`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.command_line import environment
from cli.stand_in import StandIn


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "data").running() as stand_in:
        yield stand_in


@pytest.fixture
def env(server: StandIn) -> dict[str, str]:
    return environment(server.data_dir, server.port)
