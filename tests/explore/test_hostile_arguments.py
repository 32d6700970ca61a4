"""Arguments that no honest model sends: each ends in a refusal that it can read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from live_memory.errors import ToolRefusal
from live_memory.explore.toolbox import TOOL_SPECS, run_tool


@pytest.mark.parametrize("tool", [spec.name for spec in TOOL_SPECS if spec.input_schema.get("required")])
@pytest.mark.parametrize("word", ["\ud800", "a\udcff", "\0", "a\0b"])
def test_what_is_no_character_of_any_file_is_refused(tmp_path: Path, tool: str, word: str) -> None:
    spec = next(spec for spec in TOOL_SPECS if spec.name == tool)
    needed = spec.input_schema["required"]
    assert isinstance(needed, list)
    with pytest.raises(ToolRefusal):
        run_tool(tmp_path.resolve(), tool, json.dumps(dict.fromkeys(needed, word)))
