"""`live-memory doctor prompts DIR`: for each traced request, whether it continued the one before it, byte for byte."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from launcher.commands import runtime_package
from launcher.errors import LaunchError
from launcher.terminal import coloured

if TYPE_CHECKING:
    from live_memory.llm.trace import Pair


def report(folder: str, form: Literal["json", "text"]) -> int:
    """0, or 1 when a prefix did not hold. LaunchError when `folder` holds no traced requests."""
    runtime_package.reachable()
    from live_memory.llm.trace import Sent, numbered, pairs

    files = numbered(Path(folder).expanduser())
    if not files:
        raise LaunchError(
            f"{folder} holds no traced requests: start the server with LIVE_MEMORY_TRACE_PROMPTS={folder}, and ask."
        )
    try:
        found = list(pairs(Sent.read(path) for path in files))
    except ValueError as error:
        raise LaunchError(f"{error}: remove it, and try again.") from error
    broken = sum(not pair.held for pair in found)
    if form == "json":
        shown = [{**asdict(pair), "held": pair.held} for pair in found]
        sys.stdout.write(json.dumps({"requests": len(files), "broken": broken, "pairs": shown}) + "\n")
    else:
        sys.stdout.writelines(_lines(pair) for pair in found)
        sys.stdout.write(f"{len(files)} requests, {len(found)} pairs, {broken} broken\n")
    return 1 if broken else 0


def _lines(pair: Pair) -> str:
    numbers = f"{pair.earlier} → {pair.later}"
    if pair.held:
        return f"{coloured('held', 'green')}    {numbers}  {pair.shared_chars:,} characters shared\n"
    kept = f"{pair.shared_chars:,} of {pair.prefix_chars:,} characters"
    return (
        f"{coloured('broken', 'red')}  {numbers}  {kept}, then in {pair.place}\n"
        f"          was  {pair.was!r}\n          is   {pair.is_now!r}\n"
    )
