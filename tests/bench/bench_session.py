"""What the plugin costs a session of many tool calls: the real Claude Code, a scripted model, with the plugin and without."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.table import Row, median
from e2e.claude_code import VERSIONS, ClaudeCode, NotServed, free_port, installed_cli, plugin_copy, tools_folder
from support.two_models import Call, TwoModels

CALLS = 200
ROUNDS = 3


def run() -> list[Row]:
    """Wall time of a whole session of CALLS reads, in turns with and without."""
    try:
        program = installed_cli(VERSIONS[0])
    except NotServed as error:
        return [Row(f"a session of {CALLS} tool calls", str(error))]
    models = TwoModels()
    with tempfile.TemporaryDirectory() as name:
        plain, equipped = (_user(Path(name) / kind, program, models) for kind in ("without", "with"))
        equipped.install()
        done = equipped.live_memory("ensure")
        assert done.returncode == 0, done.stderr
        try:
            pairs = [(_session_s(plain, models), _session_s(equipped, models)) for _ in range(ROUNDS)]
        finally:
            equipped.live_memory("stop")
            models.close()
    without_s, with_s = median([pair[0] for pair in pairs]), median([pair[1] for pair in pairs])
    more_ms = (with_s - without_s) * 1000
    return [
        Row(
            f"a session of {CALLS} Read calls with the plugin, wall time",
            f"{with_s:.2f} s (+{more_ms:.0f} ms, {more_ms / CALLS:.1f} ms a call)",
            f"without it {without_s:.2f} s",
        )
    ]


def _user(folder: Path, program: Path, models: TwoModels) -> ClaudeCode:
    project = folder / "project"
    (project / "shop").mkdir(parents=True)
    for number in range(CALLS):
        (project / "shop" / f"part_{number}.py").write_text(f"PRICE_{number} = {number}\n" * 40)
    (folder / "home").mkdir()
    plugin, tools = plugin_copy(folder / "plugin"), tools_folder(folder / "tools", "uv")
    return ClaudeCode(program, folder / "home", plugin, project, free_port(), tools, models.address)


def _session_s(user: ClaudeCode, models: TwoModels) -> float:
    parts = (user.project / "shop" / f"part_{number}.py" for number in range(CALLS))
    models.script("claude", [*(Call("Read", {"file_path": str(part)}) for part in parts), "Done."])
    started_s = time.perf_counter()
    outcome = user.ask("Read it all.", "--allowedTools", "Read")
    assert outcome.result["result"] == "Done."
    return time.perf_counter() - started_s
