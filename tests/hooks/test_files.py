"""The hooks that tell of files: what Claude works with, and what changed behind its back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli.stand_in import StandIn
from hooks.calls import Spoken, call, environment

SILENCE = Spoken(None, 0, "")


def use_tool(server: StandIn, name: str, arguments: object, **more: object) -> list[Any]:
    """What /notify is told when Claude has used a tool."""
    event = {"cwd": "/src/shop", "tool_name": name, "tool_input": arguments, "tool_response": {"type": "text"}, **more}
    assert call("PostToolUse", event, environment(server.data_dir)) == SILENCE
    return server.bodies("/notify")


@pytest.mark.parametrize(
    ("tool", "event"), [("Read", "read"), ("Write", "write"), ("Edit", "edit"), ("MultiEdit", "edit")]
)
def test_a_file_that_claude_works_with_is_named_to_the_server(server: StandIn, tool: str, event: str) -> None:
    told = use_tool(server, tool, {"file_path": "/src/shop/ü a.py", "offset": 3, "limit": 2})
    assert told == [{"cwd": "/src/shop", "event": event, "paths": ["/src/shop/ü a.py"]}]


def test_a_notebook_has_a_field_of_its_own(server: StandIn) -> None:
    told = use_tool(server, "NotebookEdit", {"notebook_path": "/src/shop/a.ipynb", "new_source": "1 + 1"})
    assert told[0]["paths"] == ["/src/shop/a.ipynb"]


def test_a_relative_path_is_the_session_s(server: StandIn) -> None:
    assert use_tool(server, "Read", {"file_path": "cart/a.py"})[0]["paths"] == ["/src/shop/cart/a.py"]


def test_subagents_work_for_the_same_window(server: StandIn) -> None:
    assert use_tool(server, "Read", {"file_path": "/src/shop/a.py"}, agent_id="a-1", agent_type="Explore")


def test_no_content_goes_over_the_wire_however_large_it_is(server: StandIn) -> None:
    content = "SECRET=1\n" * 500_000
    (told,) = use_tool(server, "Write", {"file_path": "/src/shop/a.py", "content": content}, tool_response=content)
    assert set(told) == {"cwd", "event", "paths"}


@pytest.mark.parametrize("tool", ["Bash", "Glob", "", 7, None, ["Read"]])
def test_other_tools_are_no_news(server: StandIn, tool: Any) -> None:
    assert use_tool(server, tool, {"file_path": "/src/shop/a.py"}) == []


@pytest.mark.parametrize("what", ["change", "add", "unlink"])
def test_a_watched_file_that_changed_is_named_with_what_happened(server: StandIn, what: str) -> None:
    event = {"cwd": "/src/shop", "hook_event_name": "FileChanged", "file_path": "/src/shop/a.py", "event": what}
    assert call("FileChanged", event, environment(server.data_dir)) == SILENCE
    assert server.bodies("/notify") == [{"cwd": "/src/shop", "event": what, "paths": ["/src/shop/a.py"]}]


def test_a_data_folder_of_the_repository_s_own_is_not_believed(server: StandIn, tmp_path: Path) -> None:
    env = environment(server.data_dir, CLAUDE_PLUGIN_DATA="", PWD=str(server.data_dir))
    event = {"cwd": "/src/shop", "tool_name": "Read", "tool_input": {"file_path": "/src/shop/a.py"}}
    assert call("PostToolUse", event, env, cwd=server.data_dir) == SILENCE
    assert server.asked == []
