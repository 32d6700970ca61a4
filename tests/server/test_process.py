"""The server as a process of its own: how it starts, how it ends, and what survives."""

from __future__ import annotations

import json
import logging
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, closing, suppress
from pathlib import Path

import pytest
from server.live import PATIENCE_S, exchange
from server.mcp_clients import ERAS, mcp_client, text_of
from server.processes import AUTHORIZATION, RUNTIME, listening, made_data_dir, port_of, serving, start

from live_memory.__main__ import CleanFormatter
from live_memory.server.tool import TOOL_NAME


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return made_data_dir(tmp_path)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with listening() as sock:
        yield sock


def test_it_serves_on_the_socket_it_inherits_and_ends_with_0_on_a_signal(
    data_dir: Path, listener: socket.socket
) -> None:
    with serving(data_dir, listener) as process:
        health = exchange(port_of(listener), "GET", "/health", b"", {})
        assert health.json()["pid"] == process.pid
        assert health.json()["data_dir"] == str(data_dir)
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (0, b"", b"")
    assert "draining signal=15" in (data_dir / "logs" / "server.log").read_text()


def test_shutdown_ends_it_with_0_and_the_log_is_for_its_owner_only(data_dir: Path, listener: socket.socket) -> None:
    with serving(data_dir, listener) as process:
        assert exchange(port_of(listener), "POST", "/shutdown", b"", AUTHORIZATION).status == 200
        assert process.communicate(timeout=PATIENCE_S) == (b"", b"")
    assert process.returncode == 0
    assert (data_dir / "logs" / "server.log").stat().st_mode & 0o077 == 0


def test_it_ends_by_itself_when_nobody_asks(data_dir: Path, listener: socket.socket) -> None:
    with serving(data_dir, listener, idle_exit_s="1") as process:
        assert process.wait(timeout=PATIENCE_S) == 0
    assert "draining idle_s=1" in (data_dir / "logs" / "server.log").read_text()


def test_it_listens_by_itself_where_no_socket_can_be_inherited(data_dir: Path, listener: socket.socket) -> None:
    port = port_of(listener)
    listener.close()
    with start(data_dir, "--port", str(port)) as process:
        try:
            deadline_s = time.monotonic() + PATIENCE_S
            while not _is_listening(port) and time.monotonic() < deadline_s:
                with suppress(subprocess.TimeoutExpired):
                    pytest.fail(f"it ended with {process.wait(timeout=0.02)}")
            assert exchange(port, "GET", "/health", b"", {}).json()["pid"] == process.pid
        finally:
            process.terminate()
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: (data / "token").unlink(), "token"),
        (lambda data: (data / "token").write_text("\n"), "is empty"),
        (lambda data: (data / "config.json").write_text("{"), "config.json cannot be read as JSON"),
        (lambda data: (data / "config.json").write_text('{"idle_exit_s": -1}'), "The setting idle_exit_s cannot be -1"),
        (lambda data: (data / "logs").write_text(""), "cannot be written"),
    ],
)
def test_what_keeps_it_from_starting_is_one_sentence(
    data_dir: Path, listener: socket.socket, spoil: object, words: str
) -> None:
    assert callable(spoil)
    spoil(data_dir)
    with serving(data_dir, listener) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (1, b"")
    assert err.startswith(b"live-memory: ")
    assert words in err.decode()
    assert err.count(b"\n") == 1


def test_a_port_that_is_taken_is_one_sentence(data_dir: Path, listener: socket.socket) -> None:
    with start(data_dir, "--port", str(port_of(listener))) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (1, b"")
    assert err == f"live-memory: Port {port_of(listener)} cannot be taken (Address already in use).\n".encode()


def test_a_wrong_descriptor_is_one_sentence(data_dir: Path) -> None:
    with start(data_dir, "--socket-fd", "77") as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (1, b"")
    assert err == b"live-memory: There is no socket at descriptor 77 (Bad file descriptor).\n"


def test_health_is_answered_without_the_sdks_being_imported(data_dir: Path) -> None:
    """What the first answer waits for: everything but the background import of MCP."""
    script = """if True:
        import sys
        import live_memory.__main__, live_memory.clock, live_memory.server.app, live_memory.server.state
        import live_memory.wiring
        print(*sorted({name.partition(".")[0] for name in sys.modules} & {"mcp", "pydantic", "anthropic", "openai"}))
    """
    environment = {"PYTHONPATH": str(RUNTIME.parent), "HOME": str(data_dir)}
    done = subprocess.run([sys.executable, "-sc", script], env=environment, capture_output=True, check=True)
    assert done.stdout == b"\n"


async def test_clients_of_both_eras_go_on_through_kill_and_restart_of_the_server(
    data_dir: Path, listener: socket.socket
) -> None:
    arguments = {"question": "Where does main start?", "cwd": str(data_dir.parent / "repo")}
    port = port_of(listener)
    with ExitStack() as processes:
        first = processes.enter_context(serving(data_dir, listener))
        async with AsyncExitStack() as clients:
            eras = [await clients.enter_async_context(mcp_client(port, era)) for era in ERAS]
            for client in eras:
                assert "[live-memory] model=" in text_of(await client.call_tool(TOOL_NAME, arguments))
            first.send_signal(signal.SIGKILL)
            first.wait(timeout=PATIENCE_S)
            second = processes.enter_context(serving(data_dir, listener))
            for client in eras:
                assert "[live-memory] model=" in text_of(await client.call_tool(TOOL_NAME, arguments))
            assert exchange(port, "GET", "/health", b"", {}).json()["pid"] == second.pid
        second.terminate()
        assert second.wait(timeout=PATIENCE_S) == 0
    log = (data_dir / "logs" / "server.log").read_text()
    assert not [line for line in log.splitlines() if " WARNING " in line or " ERROR " in line or "Traceback" in line]


def test_the_scripted_model_answers_without_any_key(data_dir: Path, listener: socket.socket) -> None:
    question = json.dumps({"question": "Where is main?", "cwd": str(data_dir.parent / "repo")}).encode()
    with serving(data_dir, listener):
        reply = exchange(port_of(listener), "POST", "/ask", question, AUTHORIZATION)
    assert reply.status == 200
    assert reply.json()["model"] == "scripted-1"


def _is_listening(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_it_may_open_more_files_than_a_mac_allows_at_first(data_dir: Path, listener: socket.socket) -> None:
    descriptor = listener.fileno()
    command = f"ulimit -Sn 256; exec {shlex.join([sys.executable, '-Es', str(RUNTIME), '--data-dir', str(data_dir)])}"
    words = ["sh", "-c", f"{command} --socket-fd {descriptor}"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(data_dir), "LIVE_MEMORY_PROVIDER": "passages"}
    with subprocess.Popen(words, env=environment, pass_fds=(descriptor,)) as process:
        try:
            assert exchange(port_of(listener), "GET", "/health", b"", {}).status == 200
            limits = Path(f"/proc/{process.pid}/limits").read_text()
            assert int(limits.partition("Max open files")[2].split()[0]) > 256
        finally:
            process.terminate()


def test_a_log_line_holds_no_secret_whoever_wrote_it() -> None:
    password = "hunter" + "2Pass9"
    record = logging.LogRecord(
        "httpx", logging.WARNING, "", 0, "no route to https://user:%s@host/v1", (password,), None
    )
    line = CleanFormatter("%(levelname)s %(message)s").format(record)
    assert line == "WARNING no route to https://user:[redacted: password]@host/v1"
