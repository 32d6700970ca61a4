"""The tools as a model sees them, in one fixed order, and the one way to call them: every answer leaves here redacted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from live_memory.errors import ToolRefusal
from live_memory.explore import changed_files, find_paths, git_search, glob, grep, read
from live_memory.explore.arguments import Arguments, parsed
from live_memory.explore.base import ToolOutput
from live_memory.text.secrets import redact
from live_memory.window.messages import ToolSpec

_TOOLS = (read, grep, glob, find_paths, changed_files, git_search)
TOOL_SPECS: tuple[ToolSpec, ...] = tuple(tool.SPEC for tool in _TOOLS)
_RUN: Mapping[str, Callable[[Path, Arguments], ToolOutput]] = MappingProxyType({t.SPEC.name: t.run for t in _TOOLS})


def run_tool(root: Path, name: str, arguments_json: str) -> ToolOutput:
    """What the tool brought back from the canonical `root`. Blocking, but bounded. ToolRefusal, with a sentence for the
    model, for an unknown tool, bad arguments, and whatever cannot be shown."""
    run = _RUN.get(name)
    if run is None:
        raise ToolRefusal(f"There is no tool {name[:100]!r}; the tools are {', '.join(_RUN)}.")
    try:
        answer = run(root, parsed(name, arguments_json))
    except OSError as error:
        raise ToolRefusal(f"{name} could not be done: {error.strerror or type(error).__name__}.") from error
    return ToolOutput(redact(answer.text), answer.files)
