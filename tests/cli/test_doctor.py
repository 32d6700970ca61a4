"""`live-memory doctor`: a line for each part, and exit 1 when something is broken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.command_line import environment, run
from cli.stand_in import StandIn, always

PARTS = [
    "python",
    "data folder",
    "settings",
    "redaction",
    "packages",
    "server",
    "model",
    "meaning",
    "git",
    "ripgrep",
    "disk",
    "log",
]
KEY = "sk-dummy-0123456789"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def env(data_dir: Path, unused_port: int) -> dict[str, str]:
    return environment(data_dir, unused_port)


@pytest.fixture
def server(data_dir: Path) -> Iterator[StandIn]:
    with StandIn(data_dir).running() as stand_in:
        yield stand_in


def diagnosis(env: dict[str, str]) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and each check by its name."""
    done = run(env, "doctor", "--json")
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def test_a_fresh_machine_is_well(env: dict[str, str], data_dir: Path) -> None:
    code, checks = diagnosis(env)
    assert list(checks) == PARTS
    assert (code, {check["status"] for check in checks.values()} - {"ok", "warning"}) == (0, set())
    assert checks["server"]["advice"] == "nothing: the next question starts it"
    assert [path.name for path in data_dir.iterdir()] == ["python"], "the doctor only looks"


def test_every_part_is_a_line_and_what_to_do_is_below_it(env: dict[str, str]) -> None:
    done = run(env, "doctor")
    lines = done.stdout.splitlines()
    assert [line[9:21].strip() for line in lines if not line.lstrip().startswith("→")] == PARTS
    assert any(line.lstrip().startswith("→") for line in lines)
    assert "\x1b" not in done.stdout


def test_a_running_server_is_named_with_version_port_and_age(server: StandIn) -> None:
    _, checks = diagnosis(environment(server.data_dir, server.port))
    assert checks["server"]["status"] == "ok"
    assert f"is ok on 127.0.0.1:{server.port}, pid 1, up 1 min 2 s" in checks["server"]["text"]


def test_a_degraded_server_is_a_problem_with_its_reason(server: StandIn) -> None:
    server.health = {"status": "degraded", "reason": "no network"}
    code, checks = diagnosis(environment(server.data_dir, server.port))
    assert (code, checks["server"]["status"]) == (1, "problem")
    assert checks["server"]["text"].endswith(": no network")


def test_an_older_server_is_a_warning(server: StandIn) -> None:
    server.health = {"version": "0.0.1"}
    _, checks = diagnosis(environment(server.data_dir, server.port))
    assert (checks["server"]["status"], checks["server"]["advice"]) == ("warning", "run `live-memory restart`")


def test_a_foreign_program_on_the_port_is_a_problem(server: StandIn) -> None:
    server.health = {"name": "something else", "proof": ""}
    code, checks = diagnosis(environment(server.data_dir, server.port))
    assert (code, checks["server"]["status"]) == (1, "problem")
    assert "is held by" in checks["server"]["text"]


def test_a_setting_that_cannot_be_used_is_a_problem(env: dict[str, str], data_dir: Path) -> None:
    (data_dir / "config.json").write_text('{"max_tool_rounds": -1}')
    code, checks = diagnosis(env)
    assert (code, checks["settings"]["status"]) == (1, "problem")
    assert "max_tool_rounds" in checks["settings"]["text"]


def test_a_workspace_whose_secrets_are_left_in_is_a_warning(env: dict[str, str]) -> None:
    done = run({**env, "LIVE_MEMORY_REDACTION_OFF_ROOTS": "/src/open, /src/more"}, "doctor")
    assert done.returncode == 0
    assert "OFF in /src/open, /src/more: secrets in files there are kept and sent" in done.stdout
    assert "secrets are taken out of whatever is kept or sent" in run(env, "doctor").stdout


def test_the_model_is_named_with_the_reason_and_never_the_key(env: dict[str, str]) -> None:
    done = run({**env, "ANTHROPIC_API_KEY": KEY}, "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["model"]["status"] == "ok"
    assert "ANTHROPIC_API_KEY" in checks["model"]["text"]
    assert KEY not in done.stdout + done.stderr


def test_a_running_server_with_another_model_than_this_terminal_would_choose_is_a_warning(server: StandIn) -> None:
    server.routes["GET /stats"] = always({"model": "a-model", "why": "a key was in its environment"})
    own = environment(server.data_dir, server.port, LIVE_MEMORY_PROVIDER="passages")
    _, checks = diagnosis(own)
    assert checks["model"]["status"] == "warning"
    assert checks["model"]["text"].startswith("a-model, because a key was in its environment; ")
    assert "live-memory restart" in checks["model"]["advice"]


@pytest.mark.parametrize(
    ("figures", "status", "words"),
    [
        ({"state": "off"}, "ok", "`live-memory config set semantic=local` adds meaning"),
        ({"state": "on", "model": "m", "embedded": 3, "notes": 4}, "ok", "is on · 3 of 4 notes have vectors of m"),
        ({"state": "offline", "model": "m", "reason": "no index"}, "warning", "is offline: no index · 0 of 0"),
    ],
)
def test_search_by_meaning_is_a_line_and_a_warning_where_it_fails(
    server: StandIn, figures: dict[str, object], status: str, words: str
) -> None:
    server.routes["GET /stats"] = always({"semantic": figures})
    _, checks = diagnosis(environment(server.data_dir, server.port))
    assert checks["meaning"]["status"] == status
    assert words in checks["meaning"]["text"]


@pytest.mark.parametrize("why", ["the settings do not allow it: …", "no provider's key is set"])
def test_a_provider_without_its_key_is_a_problem_also_where_a_server_answers_with_passages(
    server: StandIn, why: str
) -> None:
    server.routes["GET /stats"] = always({"model": "passages", "why": why})
    own = environment(server.data_dir, server.port, LIVE_MEMORY_PROVIDER="anthropic", LIVE_MEMORY_OAUTH="off")
    code, checks = diagnosis(own)
    assert (code, checks["model"]["status"]) == (1, "problem")
    assert "needs a key" in checks["model"]["text"]


def test_passages_are_fine_where_they_were_chosen(env: dict[str, str]) -> None:
    _, checks = diagnosis({**env, "LIVE_MEMORY_PROVIDER": "passages"})
    assert (checks["model"]["status"], checks["model"]["advice"]) == ("ok", "")


def test_a_token_that_others_can_read_is_a_problem(env: dict[str, str], data_dir: Path) -> None:
    (data_dir / "token").write_text("dummy")
    (data_dir / "token").chmod(0o644)
    code, checks = diagnosis(env)
    assert (code, checks["data folder"]["status"]) == (1, "problem")
    assert checks["data folder"]["advice"].startswith("run `chmod 600 ")


def test_errors_in_the_log_are_counted_and_the_last_is_shown(env: dict[str, str], data_dir: Path) -> None:
    (data_dir / "logs").mkdir()
    (data_dir / "logs" / "server.log").write_text("t INFO started\nt ERROR one\nt ERROR two\nt INFO on\n")
    _, checks = diagnosis(env)
    assert (checks["log"]["status"], checks["log"]["text"]) == ("warning", "2 errors, the last: t ERROR two")


def test_an_interpreter_that_is_gone_is_a_warning(env: dict[str, str], data_dir: Path) -> None:
    (data_dir / "python").write_text("/no/such/python\n")
    _, checks = diagnosis(env)
    assert checks["python"]["status"] == "warning"


def traced(folder: Path, number: int, system: str, question: str) -> None:
    """A request as the server writes it."""
    folder.mkdir(exist_ok=True)
    body = {"system": [system], "messages": [{"role": "user", "content": [question]}]}
    prefix_chars = len(f"\x1esystem 1\x1f{system}")
    sent = {"model": "m", "purpose": "question", "workspace": "w", "prefix_chars": prefix_chars, "request": body}
    (folder / f"{number:06}.json").write_text(json.dumps(sent))


def test_traced_requests_whose_prefix_held_are_well(env: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    traced(folder, 1, "You answer.", "Where?")
    traced(folder, 2, "You answer.", "Why?")
    done = run(env, "doctor", "prompts", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert "held    000001 → 000002" in done.stdout
    assert done.stdout.endswith("2 requests, 1 pairs, 0 broken\n")


def test_a_prefix_that_broke_is_shown_at_its_first_other_byte(env: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    traced(folder, 1, "The port is 7711.", "Where?")
    traced(folder, 2, "The port is 8811.", "Why?")
    done = run(env, "doctor", "prompts", str(folder))
    assert done.returncode == 1
    assert "then in system 1" in done.stdout
    assert "The port is 7711." in done.stdout
    assert "The port is 8811." in done.stdout
    found = json.loads(run(env, "doctor", "prompts", str(folder), "--json").stdout)
    assert (found["requests"], found["broken"], found["pairs"][0]["held"]) == (2, 1, False)


def test_a_folder_without_requests_is_a_sentence(env: dict[str, str], tmp_path: Path) -> None:
    done = run(env, "doctor", "prompts", str(tmp_path))
    assert done.returncode == 1
    assert "holds no traced requests" in done.stderr
    (tmp_path / "000001.json").write_text("{}")
    assert "holds no traced request" in run(env, "doctor", "prompts", str(tmp_path)).stderr
    assert run(env, "doctor", "prompts").returncode == 2
