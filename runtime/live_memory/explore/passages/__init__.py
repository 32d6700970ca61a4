"""The best places in a tree for a question, without a model: `find_passages` and how they read."""

from live_memory.explore.passages.finder import find_passages
from live_memory.explore.passages.passage import Passage, render_passages

__all__ = ["Passage", "find_passages", "render_passages"]
