"""Whether other processes of this machine still run."""

from __future__ import annotations

import os


def is_alive(pid: int) -> bool:
    """Whether a process of that number runs here; so where nobody can tell."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
