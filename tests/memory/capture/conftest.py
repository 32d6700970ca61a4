"""Days that are closed when their test is over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memory.capture.day import Day, Made


@pytest.fixture
def day(tmp_path: Path) -> Iterator[Made]:
    made: list[Day] = []

    def make(*script: Any, **more: Any) -> Day:
        made.append(Day(tmp_path, script, **more))
        return made[-1]

    yield make
    for each in made:
        each.close()
