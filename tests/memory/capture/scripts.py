"""Transcripts as Claude Code writes them, made line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Block = Mapping[str, Any]


@dataclass(slots=True)
class Script:
    """A transcript that grows at `path`."""

    path: Path
    count: int = 0
    calls: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    def user(self, text: str | Sequence[Block], **fields: Any) -> Script:
        return self.line("user", {"role": "user", "content": text}, **fields)

    def claude(self, *blocks: str | Block, **fields: Any) -> Script:
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        return self.line("assistant", {"role": "assistant", "content": content}, **fields)

    def tool(self, name: str, result: str, **arguments: Any) -> Script:
        """A call and its result."""
        self.calls += 1
        call_id = f"toolu_{self.calls}"
        self.claude({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
        return self.user([{"type": "tool_result", "tool_use_id": call_id, "content": result}])

    def line(self, kind: str, message: Mapping[str, Any], **fields: Any) -> Script:
        self.count += 1
        value = {"type": kind, "message": message, "uuid": f"uuid-{self.count}", "isSidechain": False}
        return self.raw(json.dumps({**value, **self.extra, **fields}, ensure_ascii=False))

    def raw(self, text: str, end: str = "\n") -> Script:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text + end)
        return self

    @property
    def size_bytes(self) -> int:
        return self.path.stat().st_size
