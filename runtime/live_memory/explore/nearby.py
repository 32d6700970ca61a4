"""What to say about a path that does not exist: the files that the caller may have meant."""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path

from live_memory.errors import ToolRefusal
from live_memory.explore import ripgrep
from live_memory.explore.jail import relative, resolve, shown
from live_memory.explore.search import Search

MAX_SUGGESTIONS = 5
LEAST_LIKENESS = 0.75
LOOKING_S = 2.0


def existing(root: Path, path: str) -> Path:
    """`path` resolved. ToolRefusal, naming files of that name elsewhere, when there is nothing there."""
    real = resolve(root, path)
    if not real.exists():
        raise ToolRefusal(f"There is no {shown(relative(root, real))} in the workspace.{_suggestion(root, real)}")
    return real


def _suggestion(root: Path, real: Path) -> str:
    listing = ripgrep.list_files(root, Search("", timeout_s=LOOKING_S))
    name = real.name.lower()
    same = [path for path in listing.paths if _name(path) == name]
    alike = same or [path for path in listing.paths if _likeness(_name(path), name) >= LEAST_LIKENESS]
    wanted = relative(root, real)
    best = sorted(alike, key=lambda path: (-_likeness(path, wanted), path))[:MAX_SUGGESTIONS]
    return (
        f" Did you mean {', '.join(shown(path) for path in best)}?" if best else " Look for it with Glob or find_paths."
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2].lower()


def _likeness(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return (
        matcher.ratio()
        if matcher.real_quick_ratio() >= LEAST_LIKENESS and matcher.quick_ratio() >= LEAST_LIKENESS
        else 0.0
    )
