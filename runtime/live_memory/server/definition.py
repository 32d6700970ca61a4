"""What an MCP client is told of a tool. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """`annotations` are MCP's hints without the title; `meta` is what single clients read."""

    name: str
    title: str
    description: str
    schema: Mapping[str, object]
    annotations: Mapping[str, object]
    meta: Mapping[str, object] = field(default_factory=dict)

    def to_json(self) -> Mapping[str, object]:
        """As it stands in the reply to `tools/list`."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema,
            "annotations": {"title": self.title, **self.annotations},
            **({"_meta": self.meta} if self.meta else {}),
        }
