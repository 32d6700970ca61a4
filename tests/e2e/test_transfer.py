"""Notes from elsewhere, for real: a database that am-memory 0.1.0 itself has made, an agd file of forty blocks, and a server
that has its packages or none of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.repository import small_repository
from lifecycle.command import Machine, machine

FORTY_BLOCKS = Path(__file__).parents[1] / "notes" / "codecs" / "forty_blocks.agd"
INSTALL_TIMEOUT_S = 300
# am-memory 0.1.0 imports httpx and does not say so.
PACKAGES = ("am-memory==0.1.0", "httpx")
MAKE = """
import os, sys
from agent_memory.store import MemoryStore
store = MemoryStore(sys.argv[1])
store.save("Ports are the lock", "# Ports\\n\\nWhoever binds port 7711 is the server.\\n\\n- **Port**: 7711\\nDecision: bind first\\n",
    source="architectural_decision", project="harbour")
store.save("YARN ignores the soft limit", "The soft limit is not enforced.\\nFix: executor_memory_hard.", source="debug_solution")
store.save("Kafka \u518d\u5e73\u8861", "\u6d88\u8d39\u8005\u8d85\u65f6 800s \u4e4b\u540e\u91cd\u65b0\u5e73\u8861\u3002", source="technical_insight", project="harbour")
store.save("Daily stand-up", "Talked about the release.", source="session_note", project="harbour")
store.save("Edited serve.py", "class Server: pass", source="hook", file_path="/src/serve.py", project="harbour")
store.save("Plain", "An explicit note.", priority="P0")
store.save("Plain", "Another thing altogether: blue whales.", priority="P2", force_new=True)
store.state.set("active_work", {"ticket": "LM-12"})
session = store.session.start(project="harbour", topic="Import day", source="cli:harbour")
store.state.set("current_session_id", session)
store.session.end(session, summary="Moved the notes over and measured what it costs.", key_facts=["a took 3s", "b took 4s", "c is new"],
    decisions=["copies, not links"])
if len(sys.argv) > 2:
    os._exit(0)  # as if killed: what it wrote last stays in the log beside the file
store.close()
"""
EXPECTED = {
    "ports-are-the-lock": ("global", "decision", "P0"),
    "yarn-ignores-the-soft-limit": ("global", "root-cause", "P1"),
    "kafka-7f9b29c9": ("repo", "reference", "P1"),
    "daily-stand-up": ("repo", "session", "P2"),
    "edited-serve-py": ("repo", "reference", "P2"),
    "plain-6": ("global", "project", "P0"),
    "plain-7": ("global", "project", "P2"),
    "import-day": ("repo", "session", "P1"),
    "state-active-work": ("repo", "state", "P0"),
}


@pytest.fixture(scope="session")
def am_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds am-memory as PyPI has it."""
    folder = tmp_path_factory.mktemp("am-memory")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
    subprocess.run(install, check=True, timeout=INSTALL_TIMEOUT_S)
    return python


def database(python: Path, folder: Path, *how: str) -> Path:
    """A database that am-memory made."""
    path = folder / "memory.db"
    subprocess.run(
        [str(python), "-c", MAKE, str(path), *how], check=True, env={**os.environ, "HOME": str(folder)}, timeout=60
    )
    return path


@pytest.fixture(params=["whole", "degraded"])
def user(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    nowhere = (
        {}
        if request.param == "whole"
        else {"PIP_INDEX_URL": "http://127.0.0.1:1", "UV_DEFAULT_INDEX": "http://127.0.0.1:1", "PIP_RETRIES": "0"}
    )
    with machine(tmp_path / "machine", **nowhere) as made:
        if request.param == "whole":
            made.borrow_packages()
        else:
            made.data_dir.mkdir(parents=True)
            (made.data_dir / "python").write_text(os.path.realpath(sys.executable) + "\n")
        yield made


def done(user: Machine, *words: str, cwd: Path) -> str:
    result = user.run(*words, "--cwd", str(cwd))
    assert result.returncode == 0, result.stderr
    return result.stdout


def exported(user: Machine, cwd: Path) -> dict[str, dict[str, object]]:
    notes = json.loads(done(user, "export", cwd=cwd))["notes"]
    return {note["id"]: note for note in notes}


@pytest.mark.parametrize("how", [[], ["killed"]], ids=["closed", "killed"])
def test_a_database_of_am_memory_itself_comes_over_whole(
    am_memory: Path, user: Machine, tmp_path: Path, how: list[str]
) -> None:
    repository = small_repository(tmp_path / "harbour")
    file = database(am_memory, tmp_path, *how)
    before = file.read_bytes()
    answer = json.loads(done(user, "import", str(file), "--json", cwd=repository))
    assert (answer["created"], {each["reason"] for each in answer["omissions"]}) == (
        len(EXPECTED),
        {"am-memory's own bookkeeping"},
    )
    notes = exported(user, repository)
    assert {name: (note["scope"], note["kind"], note["priority"]) for name, note in notes.items()} == EXPECTED
    assert "executor_memory_hard" in str(notes["yarn-ignores-the-soft-limit"]["body"])
    assert file.read_bytes() == before
    found = json.loads(done(user, "search", "\u5e73\u8861", "--json", cwd=repository))["results"]
    assert [each["id"] for each in found] == ["kafka-7f9b29c9"]
    again = json.loads(done(user, "import", str(file), "--json", cwd=repository))
    assert (again["created"], again["updated"], again["unchanged"]) == (0, 0, len(EXPECTED))


def test_forty_blocks_of_agd_go_round_between_two_repositories_and_back(user: Machine, tmp_path: Path) -> None:
    one, two = small_repository(tmp_path / "one"), small_repository(tmp_path / "two")
    assert done(user, "import", str(FORTY_BLOCKS), cwd=one).startswith("Imported: 40 new")
    out = {form: str(tmp_path / name) for form, name in {"json": "a.json", "agd": "a.agd"}.items()}
    for path in out.values():
        done(user, "export", path, cwd=one)
    done(user, "export", "--to", str(one / "notes"), cwd=one)
    done(user, "import", out["json"], cwd=two)
    done(user, "export", str(tmp_path / "b.json"), cwd=two)
    assert (tmp_path / "b.json").read_bytes() == Path(out["json"]).read_bytes()
    for source in (out["agd"], str(one / "notes")):
        batch = json.loads(done(user, "import", source, "--json", cwd=two))
        assert (batch["unchanged"], batch["omissions"]) == (40, [])
    assert exported(user, two) == exported(user, one)
    found = json.loads(done(user, "search", "catalogue of the dedup", "--json", cwd=two))["results"]
    assert "catalogo-unico" in {each["id"] for each in found}
