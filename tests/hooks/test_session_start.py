"""The SessionStart hook: the backstop that starts a server, hands options over, and speaks up only when something is amiss."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.stand_in import StandIn, always
from hooks.calls import Spoken, call, environment
from hooks.launchers import RecordingLauncher

EVENT = {"cwd": "/src/my shop & ü", "session_id": "s-1", "hook_event_name": "SessionStart", "source": "resume"}

Start = Callable[..., Spoken]


@pytest.fixture
def start(data_dir: Path, launcher: RecordingLauncher) -> Start:
    """Start a session of a Claude Code whose plugin options are the keywords."""

    def started(**options: object) -> Spoken:
        named = {f"CLAUDE_PLUGIN_OPTION_{name.upper()}": str(value) for name, value in options.items()}
        spoken = call("SessionStart", EVENT, environment(data_dir, CLAUDE_PLUGIN_ROOT=str(launcher.root), **named))
        assert (spoken.exit_code, spoken.stderr) == (0, "")
        return spoken

    return started


def remember_options(data_dir: Path, **options: object) -> None:
    """As an earlier session left them."""
    text = json.dumps({name: str(value) for name, value in options.items()}) + "\n"
    (data_dir / "user-config.json").write_text(text)


def test_a_whole_server_is_left_alone_in_silence(
    start: Start, server: StandIn, data_dir: Path, launcher: RecordingLauncher
) -> None:
    remember_options(data_dir, port=server.port)
    assert start(port=server.port).answer is None
    assert [asked.path for asked in server.asked] == ["/health", "/toc", "/watch", "/session"]
    assert not launcher.has_been_called()


def test_whoever_answers_at_the_port_is_shown_no_token_without_being_the_server_on_record(
    start: Start, server: StandIn, data_dir: Path
) -> None:
    (data_dir / "server.json").unlink()
    start(port=server.port, model="another-model")
    assert [(asked.path, asked.headers.get("authorization")) for asked in server.asked] == [("/health", None)]


def test_the_table_of_contents_is_handed_to_claude_and_the_held_files_are_watched(
    start: Start, server: StandIn
) -> None:
    server.routes["GET /toc"] = always({"context": "Open: #cart-total", "notes": 1})
    server.routes["GET /watch"] = always({"paths": ["/src/shop/a.py", "/src/shop/ü.py"]})
    remember_options(server.data_dir, port=server.port)
    assert start(port=server.port).answer == {
        "hookSpecificOutput": {
            "hookEventName": "SessionStart",
            "additionalContext": "Open: #cart-total",
            "watchPaths": ["/src/shop/a.py", "/src/shop/ü.py"],
        }
    }
    toc, watch = server.asked[1:3]
    assert toc.query == {"cwd": "/src/my shop & ü", "source": "resume", "session_id": "s-1"}
    assert watch.query == {"cwd": "/src/my shop & ü"}


def test_five_hundred_files_are_watched_at_most_and_only_absolute_paths(start: Start, server: StandIn) -> None:
    held = ["a.py", 7, *(f"/src/{number}.py" for number in range(600))]
    server.routes["GET /watch"] = always({"paths": held})
    answer = start(port=server.port).answer
    assert answer is not None
    assert answer["hookSpecificOutput"] == {"hookEventName": "SessionStart", "watchPaths": held[2:502]}


def test_a_workspace_whose_secrets_are_left_in_is_told_of_at_each_start(start: Start, server: StandIn) -> None:
    server.routes["GET /watch"] = always({"paths": [], "concern": "Redaction is OFF in /src."})
    assert start(port=server.port).answer == {"systemMessage": "Redaction is OFF in /src."}


@pytest.mark.parametrize("context", ["", "  ", None, 7, ["x"]])
def test_without_notes_and_held_files_nothing_is_added(start: Start, server: StandIn, context: object) -> None:
    server.routes["GET /toc"] = always({"context": context, "notes": 0})
    server.routes["GET /watch"] = always({"paths": []})
    assert start(port=server.port).answer is None


def test_the_server_is_told_that_a_session_begins_and_why(start: Start, server: StandIn) -> None:
    start(port=server.port)
    (told,) = server.bodies("/session")
    assert (told["event"], told["source"], told["session_id"]) == ("session-start", "resume", "s-1")
    assert told["client_pid"] == os.getpid(), "no shell in between is taken for Claude Code"


def test_what_the_user_should_know_is_said_beside_what_claude_is_given(start: Start, server: StandIn) -> None:
    server.health = {"status": "degraded", "reason": "No packages."}
    server.routes["GET /toc"] = always({"context": "Open: #cart-total", "notes": 1})
    answer = start(port=server.port).answer
    assert answer is not None
    assert set(answer) == {"systemMessage", "hookSpecificOutput"}


@pytest.mark.parametrize(
    ("health", "line"),
    [
        (
            {"status": "installing", "step": "downloading the packages"},
            "Live Memory is being set up (downloading the packages); ask_live_memory answers when that is done.",
        ),
        (
            {"status": "degraded", "reason": "The package index cannot be reached."},
            "Live Memory answers without a model for now: The package index cannot be reached.",
        ),
        ({"status": "draining"}, ""),
    ],
)
def test_a_server_that_is_not_whole_is_told_of_in_one_line(
    start: Start, server: StandIn, health: dict[str, object], line: str
) -> None:
    server.health = health
    assert start(port=server.port).line == line


def test_a_reason_of_many_lines_is_told_in_one_that_is_bounded(start: Start, server: StandIn) -> None:
    server.health = {"status": "degraded", "reason": "no route\n" * 1000}
    line = start(port=server.port).line
    assert isinstance(line, str)
    assert "\n" not in line
    assert len(line) == 300


def test_another_program_on_the_port_is_named_with_the_way_out(start: Start, server: StandIn) -> None:
    server.health = {"name": "something-else"}
    assert start(port=server.port).line == (
        f"Live Memory cannot start: another program holds port {server.port}. Give the plugin another `port`."
    )


@pytest.mark.parametrize("port_of", ["unused_port", "hung_port"])
def test_where_no_server_answers_one_is_started_on_the_session_s_port(
    start: Start, data_dir: Path, launcher: RecordingLauncher, request: pytest.FixtureRequest, port_of: str
) -> None:
    port = request.getfixturevalue(port_of)
    remember_options(data_dir, port=port)
    assert start(port=port).answer is None
    assert launcher.next_call() == f"ensure --wait 10 port={port} data={data_dir}"


def test_the_port_of_the_options_wins_over_the_one_an_earlier_session_recorded(
    start: Start, data_dir: Path, launcher: RecordingLauncher, unused_port: int
) -> None:
    (data_dir / "port").write_text("9\n")
    start(port=unused_port)
    assert f"port={unused_port} " in launcher.next_call()


def test_without_options_the_recorded_port_is_asked(start: Start, data_dir: Path, server: StandIn) -> None:
    (data_dir / "port").write_text(f"{server.port}\n")
    assert start().answer is None
    assert server.asked[0].path == "/health"


def test_options_are_kept_for_the_owner_only_and_the_empty_ones_left_out(
    start: Start, data_dir: Path, server: StandIn
) -> None:
    server.routes["GET /toc"] = always({"context": "", "notes": 0})
    start(port=server.port, provider="anthropic", model="", api_key="sk-dummy-1")
    kept = data_dir / "user-config.json"
    assert json.loads(kept.read_text()) == {"port": str(server.port), "provider": "anthropic", "api_key": "sk-dummy-1"}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert sorted(path.name for path in data_dir.iterdir()) == [
        "logs",
        "python",
        "server.json",
        "token",
        "user-config.json",
    ]


def test_a_changed_option_is_handed_to_the_running_server_and_a_removed_one_is_forgotten(
    start: Start, data_dir: Path, server: StandIn, launcher: RecordingLauncher
) -> None:
    remember_options(data_dir, port=server.port, model="a-model")
    assert start(port=server.port).answer is None
    assert launcher.next_call() == f"config reload port={server.port} data={data_dir}"
    assert json.loads((data_dir / "user-config.json").read_text()) == {"port": str(server.port)}


def test_a_server_started_for_changed_options_is_told_to_read_them(
    start: Start, data_dir: Path, launcher: RecordingLauncher, unused_port: int
) -> None:
    # Another process may be starting one at this very moment, with the old options read.
    start(port=unused_port, model="b-model")
    assert launcher.next_call() == f"config reload port={unused_port} data={data_dir}"


def test_a_first_start_that_fails_is_told_of(tmp_path: Path, unused_port: int) -> None:
    launcher = RecordingLauncher(tmp_path / "plugin", then='echo "live-memory: Python 3.9 is too old." >&2; exit 1')
    try:
        env = environment(tmp_path / "data", CLAUDE_PLUGIN_ROOT=str(launcher.root), LIVE_MEMORY_PORT=str(unused_port))
        assert call("SessionStart", EVENT, env).line == "Live Memory cannot start: Python 3.9 is too old."
    finally:
        launcher.close()


def test_the_live_memory_of_another_folder_on_the_port_is_left_to_the_launcher_and_told_of(
    tmp_path: Path, server: StandIn
) -> None:
    launcher = RecordingLauncher(tmp_path / "plugin", then='echo "live-memory: Port 1 is held by another." >&2; exit 1')
    try:
        named = {"CLAUDE_PLUGIN_ROOT": str(launcher.root), "LIVE_MEMORY_PORT": str(server.port)}
        spoken = call("SessionStart", EVENT, environment(tmp_path / "of-the-plugin", **named))
        assert spoken.line == "Live Memory cannot start: Port 1 is held by another."
    finally:
        launcher.close()


def test_a_start_that_failed_is_watched_the_next_time(
    start: Start, data_dir: Path, launcher: RecordingLauncher, unused_port: int
) -> None:
    (data_dir / "logs").mkdir()
    (data_dir / "logs" / "hook-start.log").write_text("live-memory: the disk is full.\n")
    remember_options(data_dir, port=unused_port)
    assert start(port=unused_port).answer is None  # it went well this time
    assert (data_dir / "logs" / "hook-start.log").read_text() == ""


def test_a_data_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    line = call("SessionStart", EVENT, environment(tmp_path / "data")).line
    assert line == f"Live Memory cannot write to its data folder {tmp_path / 'data'}: Not a directory."


def test_without_a_data_folder_it_does_nothing(tmp_path: Path, launcher: RecordingLauncher) -> None:
    env = environment(tmp_path / "data", CLAUDE_PLUGIN_ROOT=str(launcher.root), CLAUDE_PLUGIN_DATA="")
    assert call("SessionStart", EVENT, env) == Spoken(None, 0, "")
    assert not launcher.has_been_called()
