"""Telling a desk of files that others worked with, and what of it stands in a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent.scene import GROUNDED, Scene, make_scene

from live_memory.agent.ingest import Event, FileNotice
from live_memory.llm.base import CompletionRequest
from live_memory.window.messages import Text


def talkative(tmp_path: Path, **more: Any) -> Scene:
    return make_scene(tmp_path, [GROUNDED] * 60, **{"force_explore_when_cold": False, **more})


async def tee(scene: Scene, *paths: str, event: Event = "touched", cwd: Path | None = None, **contents: str) -> int:
    texts = {f"{stem}.py": text for stem, text in contents.items()}
    return await scene.desk.observe(FileNotice(str(cwd or scene.root), event, (*paths, *texts), texts))


def prefix(request: CompletionRequest) -> list[str]:
    """The texts before the trailing turn, after the system text with the tree."""
    turns = request.prompt.turns[: request.prompt.prefix_turns]
    blocks = [block.text for turn in turns for block in turn.blocks if isinstance(block, Text)]
    return [*request.prompt.system[1:], *blocks]


def notes_of(request: CompletionRequest) -> list[str]:
    return [text for text in prefix(request) if text.startswith("[Observation]")]
