"""A copy of the plugin's hooks and commands beside a launcher that only tells what it was called with."""

from __future__ import annotations

import os
import select
import shutil
from pathlib import Path

from hooks.calls import ROOT

LIMIT_S = 20
RECEIVE_BYTES = 65536


class RecordingLauncher:
    """`root` is the plugin; `last_call()` waits for the next call of its bin/live-memory."""

    def __init__(self, root: Path, then: str = "exit 0") -> None:
        for folder in ("hooks", "commands"):
            shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        (root / "bin").mkdir()
        self.root = root
        self._pipe = root / "calls"
        os.mkfifo(self._pipe)
        self._reader = os.open(self._pipe, os.O_RDWR)  # held open at both ends: a writer never waits
        launcher = root / "bin" / "live-memory"
        launcher.write_text(
            f'#!/bin/sh\necho "$* port=$LIVE_MEMORY_PORT data=$LIVE_MEMORY_DATA_DIR" > "{self._pipe}"\n{then}\n'
        )

    def close(self) -> None:
        os.close(self._reader)

    def has_been_called(self) -> bool:
        return bool(select.select([self._reader], [], [], 0)[0])

    def next_call(self) -> str:
        """The words and the place of the next call; TimeoutError when none comes."""
        if not select.select([self._reader], [], [], LIMIT_S)[0]:
            raise TimeoutError("the launcher was not called")
        return os.read(self._reader, RECEIVE_BYTES).decode().strip()
