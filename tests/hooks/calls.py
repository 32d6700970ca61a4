"""One hook as Claude Code runs it: hooks.json's own command, the event on stdin, an environment of its own."""

from __future__ import annotations

import fcntl
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EVENTS = tuple(json.loads((ROOT / "hooks" / "hooks.json").read_text())["hooks"])
LIMIT_S = 20
FIRST_FREE = 10  # a shell may use the descriptors below for itself


@dataclass(frozen=True)
class Spoken:
    """What a hook said: its JSON (None where it printed nothing), its exit code, its complaints."""

    answer: dict[str, object] | None
    exit_code: int
    stderr: str

    @property
    def line(self) -> object:
        """The line for the user; empty without one."""
        return (self.answer or {}).get("systemMessage", "")


def environment(data_dir: Path, **more: str) -> dict[str, str]:
    """A home of its own. Where no server answers, the hooks start one: give them a stand-in's plugin folder."""
    home = data_dir.parent / "home"
    home.mkdir(parents=True, exist_ok=True)
    own = {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
        "CLAUDE_PLUGIN_ROOT": str(ROOT),
        "CLAUDE_PLUGIN_DATA": str(data_dir),
    }
    return {**own, **more}


def command(event: str) -> str:
    """The shell command that hooks.json gives for an event."""
    listed = json.loads((ROOT / "hooks" / "hooks.json").read_text())["hooks"][event]
    return str(listed[0]["hooks"][0]["command"])


def call(event: str, told: object, env: dict[str, str], cwd: Path | None = None) -> Spoken:
    """Run the hook of `event`, told `told` (bytes go as they are), to the end of whatever it leaves in the background."""
    content = told if isinstance(told, bytes) else json.dumps(told).encode()
    with everything_ended() as held:
        done = subprocess.run(
            ["sh", "-c", command(event)],
            input=content,
            env=env,
            cwd=cwd,
            capture_output=True,
            pass_fds=(held,),
            timeout=LIMIT_S,
            check=False,
        )
    return Spoken(json.loads(done.stdout) if done.stdout else None, done.returncode, done.stderr.decode())


@contextmanager
def everything_ended() -> Iterator[int]:
    """A descriptor to hand to a process: the block ends when nobody holds it any more."""
    reading, writing = os.pipe()
    held = fcntl.fcntl(writing, fcntl.F_DUPFD, FIRST_FREE)
    os.close(writing)
    try:
        yield held
    finally:
        os.close(held)
        select.select([reading], [], [], LIMIT_S)
        os.close(reading)
