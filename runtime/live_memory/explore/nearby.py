"""What to say about a path that does not exist: the files that the caller may have meant."""

from __future__ import annotations

from difflib import SequenceMatcher, get_close_matches
from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore import ripgrep
from live_memory.explore.jail import relative, resolve, shown
from live_memory.explore.search import Search

MAX_SUGGESTIONS = 5
LEAST_LIKENESS = 0.75
LOOKING_S = 2.0
MAX_COMPARED = 10_000


def existing(root: Path, path: str) -> Path:
    """`path` resolved. ToolRefusal, naming files of that name elsewhere, when there is nothing there."""
    real = resolve(root, path)
    if not real.exists():
        raise ToolRefusal(f"There is no {shown(relative(root, real))} in the workspace.{_suggestion(root, real)}")
    return real


def _suggestion(root: Path, real: Path) -> str:
    listing = ripgrep.list_files(root, Search("", timeout_s=LOOKING_S))
    wanted = real.name.lower()
    names = {_name(path) for path in listing.paths}
    close = {wanted} & names or set(
        get_close_matches(wanted, sorted(names)[:MAX_COMPARED], MAX_SUGGESTIONS, LEAST_LIKENESS)
    )
    alike = [path for path in listing.paths if _name(path) in close][:MAX_COMPARED]
    target = relative(root, real)
    best = sorted(alike, key=lambda path: (-SequenceMatcher(None, path, target, autojunk=False).ratio(), path))
    shown_paths = ", ".join(shown(path) for path in best[:MAX_SUGGESTIONS])
    return f" Did you mean {shown_paths}?" if best else " Look for it with Glob or find_paths."


def _name(path: str) -> str:
    return path.rpartition("/")[2].lower()
