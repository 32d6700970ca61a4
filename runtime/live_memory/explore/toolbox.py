"""The tools as a model sees them, in one fixed order, and the one way to call them: every answer leaves here redacted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from live_memory.errors import ToolRefusal
from live_memory.explore import changed_files, find_paths, git_search, glob, grep, read
from live_memory.explore.arguments import Arguments, parsed
from live_memory.explore.base import ToolOutput
from live_memory.text.redaction import Redaction
from live_memory.window.messages import ToolSpec

# Those that cut what they show see to its secrets first, in the light of what they leave out.
_SHOWING = (read, grep, git_search)
_NAMING = (glob, find_paths, changed_files)
TOOL_SPECS: tuple[ToolSpec, ...] = tuple(t.SPEC for t in (read, grep, glob, find_paths, changed_files, git_search))
_SHOW: Mapping[str, Callable[[Path, Arguments, Redaction], ToolOutput]] = MappingProxyType(
    {tool.SPEC.name: tool.run for tool in _SHOWING}
)
_NAME: Mapping[str, Callable[[Path, Arguments], ToolOutput]] = MappingProxyType(
    {tool.SPEC.name: tool.run for tool in _NAMING}
)


def run_tool(root: Path, name: str, arguments_json: str, redaction: Redaction | None = None) -> ToolOutput:
    """What the tool brought back from the canonical `root`, without secrets unless `redaction` says otherwise. Blocking, but bounded. ToolRefusal, with
    a sentence for the model, for an unknown tool, bad arguments, and whatever cannot be shown."""
    redaction = redaction or Redaction()
    try:
        answer = _answer(root, name, arguments_json, redaction)
    except ToolRefusal as refusal:
        raise ToolRefusal(redaction.clean(str(refusal))) from refusal
    except OSError as error:
        raise ToolRefusal(f"{name} could not be done: {error.strerror or type(error).__name__}.") from error
    return ToolOutput(redaction.clean(answer.text), answer.files)


def _answer(root: Path, name: str, arguments_json: str, redaction: Redaction) -> ToolOutput:
    if name in _SHOW:
        return _SHOW[name](root, parsed(name, arguments_json), redaction)
    if name in _NAME:
        return _NAME[name](root, parsed(name, arguments_json))
    names = ", ".join(spec.name for spec in TOOL_SPECS)
    raise ToolRefusal(f"There is no tool {name[:100]!r}; the tools are {names}.")
