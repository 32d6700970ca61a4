"""An `.agd` document cut into blocks, line by line, in one pass: whatever the text is, it ends and nothing is raised. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

FENCE = "~~~"
_START = re.compile(r"@(!|[A-Za-z_][\w-]*)(.*)", re.ASCII | re.DOTALL)
_ID = re.compile(r"(?:^|\s)\[#([^\]\s:]+)(?::[0-9A-Fa-f]+)?\]\s*$")
_ATTRIBUTE = re.compile(r'\s+([A-Za-z_][\w-]*)=(?:"((?:[^"\\]|\\.)*)"|(\S+))', re.ASCII)
_QUOTED = re.compile(r"\\(.)")
_FENCED = ("code", "raw", "table")
_JSON = "-json"


@dataclass(frozen=True, slots=True)
class Block:
    """`body` is the fenced text, else what stands on the start line and below it up to a blank line. A block is whole
    unless its fence is never closed."""

    tag: str
    id: str
    attributes: Mapping[str, str]
    body: str
    line: int
    has_body: bool = True
    is_whole: bool = True

    @property
    def where(self) -> str:
        return f"#{self.id}" if self.id else f"line {self.line}"


def split(text: str) -> tuple[Block, ...]:
    """The blocks of `text` in their order. CR LF ends a line as well: no document of ours holds one otherwise."""
    return tuple(_blocks(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")))


def _blocks(lines: list[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        match = _START.match(lines[at])
        if match is None:
            at += 1
            continue
        block, at = _block(match[1], match[2], lines, at)
        yield block


def _block(tag: str, rest: str, lines: list[str], at: int) -> tuple[Block, int]:
    """The block that begins on line `at`, and the line after it."""
    if tag == "!":
        return Block(tag, "", {}, rest.strip(), at + 1), at + 1
    found = _ID.search(rest)
    name = found[1] if found else ""
    head = rest[: found.start()] if found else rest
    attributes, spoken = _attributes(head)
    is_custom = tag.startswith("x-") or tag in _FENCED
    if is_custom and lines[at + 1 : at + 2] == [FENCE]:
        try:
            end = lines.index(FENCE, at + 2)
        except ValueError:
            # Its text may hold blocks that the missing line has swallowed: they are read, and only this one is lost.
            return Block(tag, name, attributes, "", at + 1, is_whole=False), at + 2
        return Block(tag, name, attributes, "\n".join(lines[at + 2 : end]), at + 1), end + 1
    end = at + 1
    while end < len(lines) and lines[end].strip() and not _START.match(lines[end]):
        end += 1
    below = [spoken, *lines[at + 1 : end]] if spoken else lines[at + 1 : end]
    is_heading = re.fullmatch(r"h\d|meta|ref|include", tag) is not None
    return Block(tag, name, attributes, "\n".join(below), at + 1, has_body=bool(below) and not is_heading), end


def _attributes(head: str) -> tuple[dict[str, str], str]:
    """The attributes at the beginning of `head`, the first of each name, and the words after them."""
    found: dict[str, str] = {}
    at = 0
    while match := _ATTRIBUTE.match(head, at):
        name, quoted, bare = match.groups()
        value = bare if quoted is None else _QUOTED.sub(r"\1", quoted)
        if name.endswith(_JSON):
            name, value = name.removesuffix(_JSON), _text(value)
        found.setdefault(name, value)
        at = match.end()
    return found, head[at:].strip()


def _text(value: str) -> str:
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return read if isinstance(read, str) else value
