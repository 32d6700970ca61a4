"""The hooks that only report how a session stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.stand_in import StandIn
from hooks.calls import Spoken, call, environment


@pytest.mark.parametrize(
    ("hook", "event", "why"),
    [
        ("Stop", "stop", {}),
        ("SessionEnd", "session-end", {"reason": "prompt_input_exit"}),
        ("PreCompact", "pre-compact", {"trigger": "auto"}),
    ],
)
def test_the_server_is_told_where_the_transcript_is_and_how_far_it_has_grown(
    server: StandIn, tmp_path: Path, hook: str, event: str, why: dict[str, str]
) -> None:
    transcript = tmp_path / "s-1.jsonl"
    transcript.write_text("{}\n" * 100)
    told = {
        "cwd": "/src/shop",
        "session_id": "s-1",
        "transcript_path": str(transcript),
        "last_assistant_message": "Hi.",
    }
    assert call(hook, {**told, **why}, environment(server.data_dir)) == Spoken(None, 0, "")
    report = {"cwd": "/src/shop", "session_id": "s-1", "event": event, "transcript_path": str(transcript)}
    assert server.bodies("/session") == [{**report, "size_bytes": 300, **why}]


@pytest.mark.parametrize("path", ["/nowhere/s-1.jsonl", "", "a\0b", 7, None])
def test_a_session_without_a_transcript_is_reported_too(server: StandIn, path: object) -> None:
    call("Stop", {"cwd": "/src/shop", "session_id": "s-1", "transcript_path": path}, environment(server.data_dir))
    (told,) = server.bodies("/session")
    assert (told["size_bytes"], told["transcript_path"]) == (0, path if isinstance(path, str) else "")
