"""Names as the disk spells them, where a file system takes any case for the same name. Blocking."""

from __future__ import annotations

import os
import unicodedata
from functools import lru_cache
from pathlib import Path

MAX_ROOTS = 64


@lru_cache(MAX_ROOTS)
def ignores_case(root: Path) -> bool:
    """Whether the file system at `root` opens what lies there under its name in another case; not so where nothing tells."""
    try:
        with os.scandir(root) as entries:
            name = next((entry.name for entry in entries if entry.name.swapcase() != entry.name), "")
        return bool(name) and os.path.samefile(root / name, root / name.swapcase())
    except OSError:
        return False


def true_name(root: Path, name: str) -> str:
    """`name`, relative to `root`, with each part as its folder lists it; parts that are not there stay as they are."""
    place, parts = os.fspath(root), []
    for part in name.split("/"):
        parts.append(_listed(place, part))
        place = f"{place}/{parts[-1]}"
    return "/".join(parts)


def _listed(folder: str, part: str) -> str:
    try:
        names = os.listdir(folder)
    except OSError:
        return part
    if part in names:
        return part
    folded = fold(part)
    return next((name for name in names if fold(name) == folded), part)


def fold(name: str) -> str:
    """What all spellings of a name have in common: case, and how accents are composed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
