"""The collector of reference cycles, kept from halting the loop while a dream holds a great many small objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Let no cycles be looked for meanwhile. Ten thousand notes taken apart are a million objects, none of them in a cycle, and
    looking through all of them takes up to 0.4 s in one go; counted references are freed all the same."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
