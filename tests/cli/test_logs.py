"""`live-memory logs`: the end of the log, and what is added to it."""

from __future__ import annotations

import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest
from cli.command_line import COMMAND, environment, interrupt, run

from launcher.commands.logs import added

WAIT_S = 10


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    (tmp_path / "data" / "logs").mkdir(parents=True)
    return tmp_path / "data"


@pytest.fixture
def log(data_dir: Path) -> Path:
    return data_dir / "logs" / "server.log"


@pytest.fixture
def env(data_dir: Path, unused_port: int) -> dict[str, str]:
    return environment(data_dir, unused_port)


def append(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


def test_the_last_lines_are_shown(env: dict[str, str], log: Path) -> None:
    log.write_text("".join(f"line {number}\n" for number in range(1000)))
    lines = run(env, "logs").stdout.splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("line 800", "line 999", 200)


def test_no_log_is_a_sentence_and_exit_1(env: dict[str, str]) -> None:
    done = run(env, "logs")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("live-memory: There is no log yet")


def test_following_goes_on_over_a_rotation(log: Path) -> None:
    log.write_text("old\n")
    with closing(added(str(log), 0)) as news:
        seen = [next(news)]
        append(log, "more\n")
        seen.append(next(news))
        append(log, "last of it\n")
        log.rename(log.with_suffix(".1"))
        log.write_text("new\n")
        seen += [next(news), next(news)]
    assert seen == ["old\n", "more\n", "last of it\n", "new\n"]


def test_following_ends_with_an_interrupt(env: dict[str, str], log: Path) -> None:
    log.write_text("first\n")
    process = subprocess.Popen([COMMAND, "logs", "-f"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    watchdog = threading.Timer(WAIT_S, process.kill)
    watchdog.start()
    assert process.stdout.readline() == b"first\n"
    append(log, "second\n")
    assert process.stdout.readline() == b"second\n"
    assert interrupt(process) == 130
    watchdog.cancel()
    assert process.communicate() == (b"", b"")
