"""What a person sees: progress and colours on a terminal, and never anywhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.command_line import COMMAND, TIMEOUT_S, environment
from cli.stand_in import ANSWER, Asked, Reply, StandIn, always, refusal

CLEAR_LINE = "\r\x1b[2K"
DIM, GREEN = "\x1b[2m", "\x1b[32m"
READ_BYTES = 4096


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "data").running() as stand_in:
        stand_in.routes["POST /ask"] = always(ANSWER)
        yield stand_in


def shown_on_a_terminal(server: StandIn, *words: str, **more: str) -> str:
    """All that `live-memory WORDS` writes to a terminal, which is its stdout and its stderr."""
    env = environment(server.data_dir, server.port, **{"TERM": "xterm", **more})
    ours, theirs = pty.openpty()
    process = subprocess.Popen([COMMAND, *words], env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    watchdog = threading.Timer(TIMEOUT_S, process.kill)
    watchdog.start()
    written = b""
    try:
        while chunk := os.read(ours, READ_BYTES):
            written += chunk
    except OSError:
        pass  # how Linux tells that the other end is closed
    finally:
        os.close(ours)
    assert process.wait(TIMEOUT_S) == 0
    watchdog.cancel()
    return written.decode().replace("\r\n", "\n")


def install(server: StandIn) -> None:
    """Let the server install until it has been asked for its health a few times."""
    looks: list[Asked] = []
    server.health = {"status": "installing", "step": "installing the packages with uv"}

    def refuse(asked: Asked) -> Reply:
        server.routes["POST /ask"] = always(ANSWER)
        return refusal(503, "installing", "Live Memory is being set up; ask again in a moment.")

    def look(asked: Asked) -> None:
        looks.append(asked)
        if len(looks) > 4:
            server.health = {"status": "ok"}

    server.routes["POST /ask"] = refuse
    server.on_health = look


def test_the_step_and_the_seconds_are_shown_while_it_installs_and_wiped_away(server: StandIn) -> None:
    install(server)
    shown = shown_on_a_terminal(server, "ask", "Who?")
    assert f"{CLEAR_LINE}Live Memory: installing the packages with uv … 0 s" in shown
    assert shown.rpartition(CLEAR_LINE)[2].startswith(str(ANSWER["answer"]))


def test_the_account_is_dimmed_on_a_terminal(server: StandIn) -> None:
    shown = shown_on_a_terminal(server, "ask", "Who?")
    assert f"{ANSWER['answer']}\n{DIM}passages · 0.4 s" in shown


def test_the_doctors_verdicts_are_coloured(server: StandIn) -> None:
    assert f"{GREEN}ok      \x1b[0m python" in shown_on_a_terminal(server, "doctor")


@pytest.mark.parametrize("words", [("ask", "Who?"), ("doctor",), ("config",)])
def test_no_color_is_honoured(server: StandIn, words: tuple[str, ...]) -> None:
    assert "\x1b[" not in shown_on_a_terminal(server, *words, NO_COLOR="1")


def test_a_dumb_terminal_gets_plain_text(server: StandIn) -> None:
    install(server)
    assert "\x1b[" not in shown_on_a_terminal(server, "ask", "Who?", TERM="dumb")
