"""What was seen of a file, as the observation that a window takes. Pure."""

from __future__ import annotations

from live_memory.explore.base import FileStamp, SeenText
from live_memory.window.files import FileContext, FileState, Observation, Origin


def observed(seen: SeenText, at_s: float, origin: Origin) -> Observation:
    """A file with its text."""
    stamp = seen.stamp
    return Observation(stamp.path, stamp.sha256, stamp.size_bytes, stamp.mtime_ns, at_s, origin, text=seen.text)


def gone(path: str, at_s: float) -> Observation:
    """A file that is no longer there."""
    return Observation(path, "", 0, 0, at_s, state="deleted")


def outgrown(path: str, at_s: float) -> Observation:
    """A file that changed into something whose text is not taken over."""
    return Observation(path, "", 0, 0, at_s, state="stale")


def known_only(file: FileContext, stamp: FileStamp, at_s: float) -> Observation:
    """A file that prompts only name, in the version of `stamp`: stale unless it is the one that was known."""
    state: FileState = "fresh" if stamp.sha256 == file.sha256 else "stale"
    return Observation(stamp.path, stamp.sha256, stamp.size_bytes, stamp.mtime_ns, at_s, file.origin, state)
