"""An MCP client at its smallest: lines to `live-memory mcp` and lines from it, every wait bounded."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cli.command_line import COMMAND

WAIT_S = 20


class StdioClient:
    """`process` is the bridge."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, *messages: object) -> None:
        """Each message on a line of its own; text goes as it is."""
        assert self.process.stdin is not None
        for message in messages:
            text = message if isinstance(message, str) else json.dumps(message)
            self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        """The next message; it must be there in time, and be one line of JSON."""
        line = self._lines.get(timeout=WAIT_S)
        assert line, "the bridge ended"
        return json.loads(line)

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait_for_end(self) -> None:
        self._reader.join(WAIT_S)

    def rest(self) -> list[Any]:
        """All that still comes until the bridge ends."""
        self.wait_for_end()
        assert not self._reader.is_alive(), "the bridge goes on"
        return [json.loads(line) for line in iter(self._lines.get, b"")]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")


@contextmanager
def bridge(env: dict[str, str], *arguments: str, cwd: Path | None = None) -> Iterator[StdioClient]:
    """A running `live-memory mcp`; what it wrote to stderr must be nothing when the test is over."""
    process = subprocess.Popen(
        [COMMAND, "mcp", *arguments],
        env=env,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    client = StdioClient(process)
    try:
        yield client
    finally:
        process.terminate()
        process.wait(WAIT_S)
        client.wait_for_end()
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.close()
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
    assert errors == b""


def request(identifier: object, method: str, **params: Any) -> dict[str, Any]:
    """A request of the old era."""
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def modern_request(identifier: object, method: str, **params: Any) -> dict[str, Any]:
    """A request that carries its version itself."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        **params.pop("_meta", {}),
    }
    return request(identifier, method, **params, _meta=meta)


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}
