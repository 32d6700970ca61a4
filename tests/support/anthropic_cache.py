"""Anthropic's prompt cache as its documentation tells it: what a request reads and what it writes, block by block.

An entry is written at each breakpoint, and read when it ends at a breakpoint or at most 20 blocks before one. It lives
for its lifetime after it was last written or read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from live_memory.clock import Clock, ManualClock
from live_memory.llm.breakpoints import LOOKBACK_BLOCKS, MAX_BREAKPOINTS

Json: TypeAlias = dict[str, Any]
CHARS_PER_TOKEN = 4
LIFETIME_S = {"5m": 300.0, "1h": 3600.0}
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

    clock: Clock = field(default_factory=ManualClock)
    _entries: dict[str, tuple[str, float]] = field(default_factory=dict)  # by digest: lifetime and end
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
        now_s = self.clock.monotonic_s()
        self._entries = {digest: entry for digest, entry in self._entries.items() if entry[1] > now_s}
        reach = [index for mark in marks for index in range(max(0, mark - LOOKBACK_BLOCKS), mark + 1)]
        read = max((index + 1 for index in reach if digests[index] in self._entries), default=0)
        written = max(read, max(marks, default=-1) + 1)
        lasting = max(
            (mark + 1 for mark, lifetime in zip(marks, lifetimes, strict=True) if lifetime == "1h"), default=0
        )
        for digest in digests[:read]:
            if digest in self._entries:
                self._keep(digest, self._entries[digest][0])
        for mark, lifetime in zip(marks, lifetimes, strict=True):
            if mark >= read:
                self._keep(digests[mark], lifetime)
        usage = {
            "cache_read_input_tokens": sum(sizes[:read]),
            "cache_creation_input_tokens": sum(sizes[read:written]),
            "cache_creation": {"ephemeral_1h_input_tokens": sum(sizes[read:lasting])},
            "input_tokens": sum(sizes[written:]),
        }
        self.seen.append(Seen(len(blocks), read, lifetimes, usage))
        return self.seen[-1]

    def _keep(self, digest: str, lifetime: str) -> None:
        self._entries[digest] = (lifetime, self.clock.monotonic_s() + LIFETIME_S[lifetime])


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
