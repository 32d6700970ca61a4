"""Claude Code's interactive screen: a terminal of our own that types, reads and waits."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pyte
from e2e.claude_code import DUMMY_KEY, ClaudeCode

COLUMNS, ROWS = 140, 150  # tall enough for whatever a test shows
LIMIT_S = 30.0
STEP_S = 0.1
READ_BYTES = 65536
KEY_TAIL_CHARS = 20  # how Claude Code remembers an approved key


class Screen:
    """What a session shows, and a keyboard."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)

    def text(self) -> str:
        """The lines that are not blank."""
        return "\n".join(line.rstrip() for line in self._screen.display if line.strip())

    def wait_for(self, words: str) -> None:
        """AssertionError when `words` do not appear in time."""
        deadline_s = time.monotonic() + LIMIT_S
        while words not in self.text():
            assert time.monotonic() < deadline_s, f"{words!r} does not appear:\n{self.text()}"
            self._look()

    def type(self, words: str) -> None:
        """Type `words`, see them, and press Enter."""
        os.write(self._terminal, words.encode())
        self.wait_for(words)
        self._look()
        os.write(self._terminal, b"\r")

    def _look(self) -> None:
        if select.select([self._terminal], [], [], STEP_S)[0]:
            self._stream.feed(os.read(self._terminal, READ_BYTES))


@contextmanager
def screen_of(user: ClaudeCode, *arguments: str) -> Iterator[Screen]:
    """An interactive session of `user`, who has been through the first steps; it is ended with the block."""
    _skip_the_first_steps(user)
    terminal, inside = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [str(user.program), *arguments],
        cwd=user.project,
        env={**user.environment, "TERM": "xterm-256color"},
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    try:
        yield Screen(terminal)
    finally:
        process.terminate()
        process.wait(LIMIT_S)
        os.close(terminal)


def _skip_the_first_steps(user: ClaudeCode) -> None:
    """No onboarding, no question about trusting the folder or using the key."""
    path = user.config_dir / ".claude.json"
    settings = json.loads(path.read_text()) if path.exists() else {}
    settings |= {"hasCompletedOnboarding": True, "theme": "dark", "numStartups": 5, "lastOnboardingVersion": "9.9.9"}
    settings["customApiKeyResponses"] = {"approved": [DUMMY_KEY[-KEY_TAIL_CHARS:]], "rejected": []}
    known = settings.setdefault("projects", {})
    known[str(user.project)] = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    path.write_text(json.dumps(settings))
