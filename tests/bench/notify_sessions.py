"""Sessions that edit files and tell a server of them, as hooks do: a process of its own, so that a benchmark's own work
does not slow them. Standard library alone."""

from __future__ import annotations

import json
import select
import socket
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE_S = 30.0
EDIT_EVERY = 5  # notices; the others are the echo of an edit, and reads of what is known already
LINES = 60
MAX_OPEN = 64
OK = b"HTTP/1.1 200"


@dataclass(slots=True)
class Session:
    """One session with files of its own; it tells `notices` times within `length_s`, each by a connection of its own, and
    waits for none of them: Claude Code's hooks run in the background."""

    port: int
    token: str
    root: Path
    number: int
    notices: int
    length_s: float
    texts: dict[str, str] = field(default_factory=dict)
    refused: int = 0
    taken_s: list[float] = field(default_factory=list)
    open: deque[tuple[float, socket.socket]] = field(default_factory=deque)

    def run(self, files: int) -> None:
        begin_s = time.monotonic()
        for turn in range(self.notices):
            self._hear_until(begin_s + turn * self.length_s / self.notices)
            path = f"src/session_{self.number}_{turn // (EDIT_EVERY * EDIT_EVERY) % files}.py"
            if turn % EDIT_EVERY == 0:
                self._edit(path, turn)
            self._tell(("edit", "change", "read", "read", "read")[turn % EDIT_EVERY], path)
        while self.open:
            self._hear()

    def _edit(self, path: str, turn: int) -> None:
        lines = [f"VALUE_{line} = {line}" for line in range(LINES)]
        lines[turn % LINES] = f"EDITED = 'session {self.number}, turn {turn}'"
        self.texts[path] = "\n".join(lines) + "\n"
        (self.root / path).write_text(self.texts[path])

    def _tell(self, event: str, path: str) -> None:
        body = json.dumps({"cwd": str(self.root), "event": event, "paths": [str(self.root / path)]}).encode()
        head = f"POST /notify HTTP/1.0\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
        connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.open.append((time.perf_counter(), connection))

    def _hear_until(self, until_s: float) -> None:
        """Hear the answers as they come, oldest first, until the next notice is due and not too many are on their way."""
        while (left_s := until_s - time.monotonic()) > 0 or len(self.open) >= MAX_OPEN:
            if not self.open:
                time.sleep(left_s)
            else:
                poll = select.poll()
                poll.register(self.open[0][1], select.POLLIN)
                if poll.poll(max(1.0, left_s * 1000)):
                    self._hear()

    def _hear(self) -> None:
        told_s, connection = self.open.popleft()
        with connection:
            try:
                self.refused += not connection.recv(1 << 16).startswith(OK)
            except OSError:
                self.refused += 1
        self.taken_s.append(time.perf_counter() - told_s)


def main(port: str, token: str, root: str, *counts: str) -> None:
    """Run the sessions (`counts`: how many, notices of each, seconds, files of each) and print what came of them as JSON."""
    sessions, notices, length_s, files = (int(count) for count in counts)
    every = [Session(int(port), token, Path(root), number, notices, length_s) for number in range(sessions)]
    threads = [threading.Thread(target=each.run, args=(files,)) for each in every]
    begin_s = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = {
        "length_s": time.monotonic() - begin_s,
        "refused": sum(each.refused for each in every),
        "taken_s": [taken for each in every for taken in each.taken_s],
        "texts": {path: text for each in every for path, text in each.texts.items()},
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
