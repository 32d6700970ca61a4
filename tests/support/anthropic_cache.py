"""Anthropic's prompt cache as its documentation tells it: what a request reads and what it writes, block by block.

An entry is written at each breakpoint, and read when it ends at a breakpoint or at most 20 blocks before one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from live_memory.llm.breakpoints import LOOKBACK_BLOCKS, MAX_BREAKPOINTS

Json: TypeAlias = dict[str, Any]
CHARS_PER_TOKEN = 4
UNMARKABLE = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Seen:
    """One request: how many blocks it had, how many of them were read, and the lifetimes it marked, in order."""

    blocks: int
    read_blocks: int
    lifetimes: tuple[str, ...]
    usage: Json


@dataclass(slots=True)
class AnthropicCache:
    """Takes request bodies in; AssertionError for one that the API would refuse."""

    _entries: set[str] = field(default_factory=set)
    seen: list[Seen] = field(default_factory=list)

    def take(self, body: Json) -> Seen:
        """What this request reads and writes, as the reply's usage would say it; its breakpoints are entries from now on."""
        blocks = list(_blocks(body))
        marks = [index for index, (_, block) in enumerate(blocks) if "cache_control" in block]
        lifetimes = tuple(blocks[mark][1]["cache_control"].get("ttl", "5m") for mark in marks)
        assert len(marks) <= MAX_BREAKPOINTS, f"{len(marks)} breakpoints"
        assert list(lifetimes) == sorted(lifetimes), (
            f"a longer lifetime after a shorter one: {lifetimes}"
        )  # "1h" < "5m"
        assert not any(blocks[mark][1].get("type") in UNMARKABLE for mark in marks), "a thought is marked"
        assert all(block.get("text") != "" for _, block in blocks), "an empty text"
        digests, sizes = _digested(blocks)
        reach = [index for mark in marks for index in range(max(0, mark - LOOKBACK_BLOCKS), mark + 1)]
        read = max((index + 1 for index in reach if digests[index] in self._entries), default=0)
        written = max(marks, default=-1) + 1
        self._entries |= {digests[mark] for mark in marks}
        usage = {
            "cache_read_input_tokens": sum(sizes[:read]),
            "cache_creation_input_tokens": sum(sizes[read:written]),
            "input_tokens": sum(sizes[max(read, written) :]),
        }
        self.seen.append(Seen(len(blocks), read, lifetimes, usage))
        return self.seen[-1]


def _blocks(body: Json) -> Iterator[tuple[str, Json]]:
    """Every block in the order in which the cache reads them, with what it stands under."""
    yield from (("tools", tool) for tool in body.get("tools", ()))
    yield from (("system", part) for part in body.get("system", ()))
    for message in body["messages"]:
        yield from ((message["role"], block) for block in message["content"])


def _digested(blocks: list[tuple[str, Json]]) -> tuple[list[str], list[int]]:
    """For each block the digest of everything up to its end, and its own size in tokens."""
    chain, digests, sizes = hashlib.sha256(), [], []
    for role, block in blocks:
        text = role + json.dumps({name: value for name, value in block.items() if name != "cache_control"})
        chain.update(text.encode())
        digests.append(chain.hexdigest())
        sizes.append(-(-len(text) // CHARS_PER_TOKEN))
    return digests, sizes
