"""`live-memory ask` against a server that answers as the contract says."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.command_line import COMMAND, ROOT, environment, interrupt, run
from cli.stand_in import ANSWER, Asked, Reply, StandIn, always, refusal

WAIT_S = 10
MAIN = ROOT / "bin" / "launcher" / "__main__.py"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "data").running() as stand_in:
        stand_in.routes["POST /ask"] = always(ANSWER)
        yield stand_in


def test_the_answer_goes_to_stdout_and_its_account_to_stderr(env: dict[str, str]) -> None:
    done = run(env, "ask", "Who", "is the server?")
    assert (done.returncode, done.stdout) == (0, str(ANSWER["answer"]) + "\n")
    assert done.stderr == "passages · 0.4 s · citations: 1 fresh\n"


def test_the_question_its_folder_and_its_length_reach_the_server(
    env: dict[str, str], server: StandIn, tmp_path: Path
) -> None:
    run(env, "ask", "Perché?", "--max-answer-tokens", "512", cwd=tmp_path)
    run(env, "ask", "--cwd=/somewhere/else", "--", "--why?")
    assert server.bodies("/ask") == [
        {"question": "Perché?", "cwd": str(tmp_path), "max_answer_tokens": 512},
        {"question": "--why?", "cwd": "/somewhere/else"},
    ]


def test_json_is_the_servers_answer_and_nothing_else(env: dict[str, str]) -> None:
    done = run(env, "ask", "Who?", "--json")
    assert json.loads(done.stdout) == ANSWER
    assert done.stderr == ""


def test_an_answer_cannot_command_the_terminal(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /ask"] = always({**ANSWER, "answer": "a\tb\x1b]0;owned\x07 \x9b2J\r\nמה é 日本"})
    assert run(env, "ask", "Who?").stdout == "a\tb\\x1b]0;owned\\x07 \\x9b2J\\x0d\nמה é 日本\n"


def test_an_answer_that_the_encoding_cannot_hold_is_spelled_out(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /ask"] = always({**ANSWER, "answer": "é 日本"})
    script = (
        "import io, runpy, sys; sys.stdout = io.TextIOWrapper(sys.stdout.buffer, 'cp1252'); "
        "sys.argv[:] = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    command = [sys.executable, "-ESs", "-c", script, str(MAIN), "ask", "Who?"]
    for more, shown in (([], b"\xe9 \\u65e5\\u672c\n"), (["--json"], b'"\\u00e9 \\u65e5\\u672c"')):
        done = subprocess.run([*command, *more], env=env, capture_output=True, timeout=WAIT_S, check=False)
        assert (done.returncode, shown in done.stdout) == (0, True), done


def test_a_folder_that_is_gone_is_a_sentence(env: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    script = f"rmdir '{folder}'; exec '{COMMAND}' ask why"
    done = subprocess.run(["sh", "-c", script], env=env, cwd=folder, capture_output=True, timeout=WAIT_S, check=False)
    assert (done.returncode, b"The folder you are in is gone" in done.stderr) == (1, True)


def test_a_refusal_is_one_sentence_and_exit_1(env: dict[str, str], server: StandIn) -> None:
    server.routes["POST /ask"] = lambda asked: refusal(400, "bad-cwd", "/ is the whole file system.")
    done = run(env, "ask", "Who?", "--cwd", "/")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "live-memory: / is the whole file system.\n")


@pytest.mark.parametrize(
    "arguments", [[], ["   "], ["Who?", "--max-answer-tokens", "many"], ["Who?", "--cwd"], ["Who?", "--loud"]]
)
def test_a_wrong_call_says_how_it_goes_and_exits_2(env: dict[str, str], arguments: list[str]) -> None:
    done = run(env, "ask", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("live-memory: ")
    assert done.stderr.count("\n") == 1


def test_help_shows_the_usage(env: dict[str, str]) -> None:
    done = run(env, "ask", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: live-memory ask QUESTION")


def test_an_answer_given_while_installing_is_out_at_once_and_the_command_ends_with_the_installation(
    env: dict[str, str], server: StandIn
) -> None:
    server.health = {"status": "installing", "step": "installing the packages"}
    process = subprocess.Popen([COMMAND, "ask", "Who?", "--json"], env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline()) == ANSWER
    assert process.poll() is None
    server.health = {"status": "ok"}
    assert process.wait(WAIT_S) == 0
    process.stdout.close()


def test_a_degraded_server_answers_and_one_line_says_what_is_missing(env: dict[str, str], server: StandIn) -> None:
    server.health = {"status": "degraded", "reason": "the index refuses all"}
    done = run(env, "ask", "Who?")
    assert (done.returncode, done.stdout) == (0, str(ANSWER["answer"]) + "\n")
    assert "the server runs without its packages: the index refuses all\n" in done.stderr


def test_a_question_that_needs_packages_waits_until_they_are_installed(env: dict[str, str], server: StandIn) -> None:
    server.health = {"status": "installing", "step": "installing the packages"}

    def become_whole(asked: Asked) -> Reply:
        server.health = {"status": "ok"}
        server.routes["POST /ask"] = always(ANSWER)
        return refusal(503, "installing", "Live Memory is being set up; ask again in a moment.")

    server.routes["POST /ask"] = become_whole
    done = run(env, "ask", "Who?")
    assert (done.returncode, done.stdout) == (0, str(ANSWER["answer"]) + "\n")
    assert "\x1b" not in done.stderr


def test_a_port_held_by_another_program_is_one_sentence(tmp_path: Path, server: StandIn) -> None:
    server.health = {"name": "something-else", "proof": "of something else"}
    done = run(environment(server.data_dir, server.port), "ask", "Who?")
    assert done.returncode == 1
    assert f"Port {server.port} is held by" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_interrupted_question_hangs_up_and_exits_130(env: dict[str, str], server: StandIn) -> None:
    arrived, released = threading.Event(), threading.Event()

    def hold(asked: Asked) -> Reply:
        arrived.set()
        released.wait(WAIT_S)
        return Reply(ANSWER)

    server.routes["POST /ask"] = hold
    process = subprocess.Popen([COMMAND, "ask", "Who?"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert arrived.wait(WAIT_S)
    code = interrupt(process)
    released.set()
    output, errors = process.communicate()
    assert (code, output, errors) == (130, b"", b"")
