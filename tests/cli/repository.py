"""A small repository with something to be asked about."""

from __future__ import annotations

import subprocess
from pathlib import Path

HARBOUR = '''"""The harbour: ships are let in when the tide is high."""

OPENING_TIDE_M = 2.5


def open_harbour(tide_m: float) -> bool:
    """Whether the harbour is opened at this tide."""
    return tide_m >= OPENING_TIDE_M
'''
LIGHTHOUSE = '''"""The lighthouse: one flash every ten seconds."""


def flash(second: int) -> bool:
    return second % 10 == 0
'''


def small_repository(folder: Path) -> Path:
    """`folder` as a git repository with two modules."""
    folder.mkdir(parents=True)
    (folder / "harbour.py").write_text(HARBOUR)
    (folder / "lighthouse.py").write_text(LIGHTHOUSE)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder
