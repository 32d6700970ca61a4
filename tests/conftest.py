"""What holds for every test: a property is judged by its outcome, never by its time; ports that nobody answers at."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import settings
from lifecycle.command import unused_port as find_unused_port

settings.register_profile("quick", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=1000)  # pytest --hypothesis-profile thorough
settings.load_profile("quick")


@pytest.fixture
def unused_port() -> int:
    """A port that nobody listens on."""
    return find_unused_port()


@pytest.fixture
def hung_port() -> Iterator[int]:
    """A port whose holder accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        yield int(holder.getsockname()[1])
